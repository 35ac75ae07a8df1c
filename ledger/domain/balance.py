"""What is owed on an invoice: the latest snapshot, and the payments and credits later than it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from ledger.domain.money import LARGEST_AMOUNT


class Status(StrEnum):
    """What the billing system says of an invoice, and what the money facts make of it."""

    DRAFT = "draft"
    OPEN = "open"
    PAID = "paid"
    VOID = "void"
    UNCOLLECTIBLE = "uncollectible"


_ADVANCEMENT = {s: i for i, s in enumerate(("draft", "open", "uncollectible", "void", "paid"))}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the billing system said at one moment; amounts in minor units, times UTC.

    `version` is the provider's own counter where it has one and then orders before the time.
    `includes` names the money facts of the same instant or later that were taken in before it and
    are in its amounts: only a snapshot that is dated by its arrival can tell. `address` is the
    fingerprint of the address on the invoice, `source` who told it last.
    """

    customer_id: str
    currency: str
    total: int
    amount_remaining: int
    status: Status
    observed_at: datetime
    issued_on: date | None = None
    due_on: date | None = None
    time_zone: str | None = None
    version: int | None = None
    includes: tuple[str, ...] = ()
    address: str | None = None
    source: str = field(default="", compare=False)

    @property
    def owed(self) -> int:
        """What it says is owed: nothing where it says paid."""
        return 0 if self.status is Status.PAID else self.amount_remaining

    def replaced_by(self, other: "Snapshot") -> bool:
        """Does `other` take this one's place? An older one never does (design D10).

        At the same instant the smaller balance wins, then the more advanced status, so that two
        snapshots of one second give the same state in either order.
        """
        if self.version is not None and other.version is not None and self.version != other.version:
            return other.version > self.version
        if other.observed_at != self.observed_at:
            return other.observed_at > self.observed_at
        mine = (-self.owed, _ADVANCEMENT[self.status])
        theirs = (-other.owed, _ADVANCEMENT[other.status])
        return theirs >= mine


class PaymentState(StrEnum):
    """How far a payment has come; `reversed` is a returned payment or a lost dispute."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REVERSED = "reversed"


CREDIT = "credit"
CREDIT_TAKEN_BACK = "credit_taken_back"


@dataclass(frozen=True, slots=True)
class MoneyFact:
    """One payment's state, or one credit: `amount` in minor units, `at` UTC.

    The amount of a credit that is taken back is negative.
    """

    name: str
    state: str
    amount: int
    at: datetime

    @property
    def key(self) -> str:
        """What tells it from every other fact about the invoice's money."""
        return f"{self.state}:{self.name}"

    @property
    def effect(self) -> int:
        """How it changes the balance: payments and credits lower it, a reversal raises it."""
        if self.state in (PaymentState.SUCCEEDED, CREDIT, CREDIT_TAKEN_BACK):
            return -self.amount
        return self.amount if self.state == PaymentState.REVERSED else 0


def balance(snapshot: Snapshot, facts: Iterable[MoneyFact]) -> int:
    """What is owed, in minor units, never below zero.

    A fact dated before the snapshot is already in it; one at the same instant or later changes
    the balance (design D10 and the contract's section on money). No balance is above the largest
    amount that one fact may name: sums of absurd ones must not leave the read models behind.
    """
    later = sum(
        fact.effect
        for fact in facts
        if fact.at >= snapshot.observed_at and fact.key not in snapshot.includes
    )
    return min(max(0, snapshot.owed + later), LARGEST_AMOUNT)


def effective_status(snapshot: Snapshot, owed: int) -> Status:
    """The status after the money facts: nothing owed is paid, a payment taken back is open."""
    if snapshot.status in (Status.DRAFT, Status.VOID):
        return snapshot.status
    if owed == 0:
        return Status.PAID
    return Status.OPEN if snapshot.status is Status.PAID else snapshot.status


def in_flight_until(facts: Iterable[MoneyFact], longest: timedelta) -> datetime | None:
    """Until when a pending payment may hold a reminder back, None if none is pending.

    Any later word about a payment ends its pending, whichever arrives first. The bound keeps one
    stuck payment from silencing an invoice for ever (design D7).
    """
    known = list(facts)
    ended = {
        fact.name
        for fact in known
        if fact.state in (PaymentState.SUCCEEDED, PaymentState.FAILED, PaymentState.REVERSED)
    }
    pending = [
        fact.at for fact in known if fact.state == PaymentState.PENDING and fact.name not in ended
    ]
    return max(pending) + longest if pending else None
