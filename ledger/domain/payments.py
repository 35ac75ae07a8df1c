"""The lives of payments and credits: what each has paid at any moment, in whatever order told."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby, takewhile

from ledger.domain.news import is_ahead
from ledger.domain.value import value


class PaymentState(StrEnum):
    """How far a payment has come; `reversed` is a returned payment or a lost dispute."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REVERSED = "reversed"


CREDIT = "credit"
CREDIT_TAKEN_BACK = "credit_taken_back"
_GIVES = frozenset({PaymentState.SUCCEEDED, CREDIT})
_TAKES = frozenset({PaymentState.REVERSED, CREDIT_TAKEN_BACK})
_CREDITS = frozenset({CREDIT, CREDIT_TAKEN_BACK})
_AT_ONE_INSTANT = {
    PaymentState.PENDING: 0,
    PaymentState.FAILED: 1,
    PaymentState.SUCCEEDED: 2,
    CREDIT: 2,
    PaymentState.REVERSED: 3,
    CREDIT_TAKEN_BACK: 3,
}
"""In which order a payment goes through its states where nothing but an instant is known."""


@value
class MoneyFact:
    """What was said of one payment or credit: `amount` in minor units, `at` UTC.

    The amount of a credit that is taken back is negative. A payment may succeed, come back and
    succeed again, so the fact is known by all that it says and when, not by its name (ADR 0005).
    """

    name: str
    state: str
    amount: int
    at: datetime

    def of_arrival(self, arrival: datetime) -> "MoneyFact":
        """Itself, or dated by its arrival (UTC) where the log took it in with a date ahead of it.

        News from the future was once taken as it came.
        """
        if not is_ahead(self.at, arrival):
            return self
        return replace(self, at=arrival)

    @property
    def key(self) -> str:
        """What tells it from every other fact about the invoice's money."""
        return f"{self.at.isoformat()} {self.state} {self.amount} {self.name}"

    @property
    def old_key(self) -> str:
        """What told it from others in events that were stored before ADR 0005."""
        return f"{self.state}:{self.name}"

    @property
    def of(self) -> tuple[bool, str]:
        """The payment or credit that it is about: those of one name are two."""
        return self.state in _CREDITS, self.name


Life = list[MoneyFact]
"""All that was said of one payment or credit, oldest first."""


def lives(facts: Iterable[MoneyFact]) -> list[Life]:
    """The facts by payment and credit, each in the order in which they happened.

    At one instant a payment is first pending, then failed, then succeeded, then reversed; of two
    amounts the larger counts, which asks for less.
    """

    def order(fact: MoneyFact) -> tuple[bool, str, datetime, int, int]:
        return (*fact.of, fact.at, _AT_ONE_INSTANT.get(fact.state, 0), abs(fact.amount))

    return [list(life) for _, life in groupby(sorted(facts, key=order), lambda fact: fact.of)]


def paid_after(life: Iterable[MoneyFact], before: int) -> int:
    """What the payment has paid after these facts, in minor units, if it had paid `before`.

    A success says how much, so a corrected amount takes the place of the one before. Each reversal
    takes back its own amount, at most what was paid. A failure is the end of a payment: it has
    paid nothing. A pending one changes nothing yet.
    """
    paid = before
    for fact in life:
        if fact.state in _GIVES:
            paid = fact.amount
        elif fact.state in _TAKES:
            paid = max(0, paid - abs(fact.amount))
        elif fact.state == PaymentState.FAILED:
            paid = 0
    return paid


def from_untold(life: Life) -> Life:
    """The first facts, as far as they take back what a payment paid that nobody told of."""
    return list(takewhile(lambda f: f.state in _TAKES or f.state == PaymentState.PENDING, life))


def paid_at_first(life: Life) -> int:
    """What the payment must have paid before anything was said of it."""
    return sum(abs(fact.amount) for fact in from_untold(life) if fact.state in _TAKES)


def moves(life: Life, first: int) -> Iterator[tuple[MoneyFact, int]]:
    """Each fact with what it changed in the balance: negative where it paid."""
    paid = first
    for fact in life:
        now = paid_after([fact], paid)
        yield fact, paid - now
        paid = now


def as_corrected(facts: Iterable[MoneyFact]) -> Iterator[MoneyFact]:
    """The facts as if each amount had been right from the start.

    A success told again with another amount, nothing having come back between, was the same
    success: what it said at first never was.
    """
    for life in lives(facts):
        right: MoneyFact | None = None
        for fact in reversed(life):
            if fact.state in _GIVES:
                right = right or fact
                yield replace(fact, amount=right.amount)
            else:
                if fact.state != PaymentState.PENDING:
                    right = None
                yield fact


def in_flight_until(
    facts: Iterable[MoneyFact], longest: timedelta, settled_before: datetime | None = None
) -> datetime | None:
    """Until when a pending payment may hold a reminder back, None if none is pending.

    A payment is pending if that is the latest word on it, so one that is presented again is
    pending again. `settled_before` is the moment up to which a snapshot said that nothing was on
    its way. The bound keeps one stuck payment from silencing an invoice for ever (design D7).
    """
    latest = [life[-1] for life in lives(facts)]
    pending = [
        fact.at
        for fact in latest
        if fact.state == PaymentState.PENDING
        and (settled_before is None or fact.at >= settled_before)
    ]
    return max(pending) + longest if pending else None
