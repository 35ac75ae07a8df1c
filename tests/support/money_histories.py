"""True histories of an invoice's money, cut into a provider's events and shuffled."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from hypothesis import strategies as st

from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_credit import Credited
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.domain.balance import Status
from ledger.domain.payments import PaymentState
from tests.support.billing import TOTAL, Billing, Clock

ISSUED = date(2026, 9, 1)
"""All due dates are past at the start, so every debt is late from the beginning."""
CLOCKS = st.sampled_from(
    (
        Clock("second", "second"),
        Clock("second", "second"),
        Clock("second", "finer"),
        Clock("finer", "second"),
        Clock("finer", "finer"),
    )
)
_FORWARD = ("", "pending", "failed", "succeeded", "reversed")
_RETRY = {"pending": ("failed", "succeeded"), "failed": ("pending", "succeeded"), "": ("pending",)}


@dataclass(frozen=True)
class Truth:
    """How the invoice stood once all events so far had been told."""

    status: Status
    remaining: int
    in_flight_until: datetime | None
    flight_is_told: bool
    unbroken: bool


@dataclass(frozen=True)
class History:
    """Events in the order in which they arrive, in parts; after each part all of it was told."""

    parts: list[list[Fact]]
    truths: list[Truth]
    unbroken: bool
    returns: dict[str | None, datetime]

    def lacks_an_earlier_return(self, arrived: set[str | None]) -> bool:
        """Is some money that came back told of, and money that came back before it not yet?"""
        told = [at for id_, at in self.returns.items() if id_ in arrived]
        missing = [at for id_, at in self.returns.items() if id_ not in arrived]
        return bool(told and missing) and min(missing) <= max(told)


@st.composite
def histories(draw: st.DrawFn, start: datetime) -> History:
    """Some seconds with up to three changes each, then the events shuffled within parts."""
    clock = draw(CLOCKS)
    billing = Billing(clock, draw(st.booleans()), ISSUED + timedelta(days=10))
    snapshots_may_lack = clock == Clock("finer", "finer")
    billing.show(start - timedelta(hours=1) if draw(st.booleans()) else start)
    parts, truths, begun = [], [], 0
    second = start
    if draw(st.integers(0, 3)) == 0:
        second = _never_paid(draw, billing, start)
    for gap in draw(st.lists(st.sampled_from((1, 1, 40_000)), min_size=1, max_size=7)):
        second += timedelta(seconds=gap)
        _live(draw, billing, second, snapshots_may_lack)
        if draw(st.booleans()):
            parts.append(billing.told[begun:])
            truths.append(_truth(billing))
            begun = len(billing.told)
    parts.append(billing.told[begun:])
    truths.append(_truth(billing))
    arrived: list[Fact] = []
    shuffled = []
    for part in parts:
        again = draw(st.lists(st.sampled_from(arrived), max_size=2)) if arrived else []
        twice = draw(st.lists(st.sampled_from(part), max_size=2)) if part else []
        order = draw(st.permutations([*part, *twice, *again]))
        worst_first = draw(st.integers(0, 2)) == 0
        shuffled.append(sorted(order, key=_asks_for_more) if worst_first else order)
        arrived += part
    unbroken = billing.lowest > 0 and billing.status is not Status.VOID
    return History(shuffled, truths, unbroken, _returns(arrived))


def _returns(told: list[Fact]) -> dict[str | None, datetime]:
    """When money came back: reversals, credits taken back, and amounts that may be corrected."""
    found: dict[str | None, datetime] = {}
    succeeded: set[str] = set()
    for fact in told:
        data, back = fact.data, False
        if isinstance(data, Credited):
            back = data.amount < 0
        elif isinstance(data, PaymentMoved):
            back = data.state is PaymentState.REVERSED or data.payment_id in succeeded
            if data.state is PaymentState.SUCCEEDED:
                succeeded.add(data.payment_id)
        if back and fact.time is not None:
            found[fact.fact_id] = fact.time
    return found


def _never_paid(draw: st.DrawFn, billing: Billing, start: datetime) -> datetime:
    """Half is credited, taken back and paid: without the middle one it looks paid in full."""
    half = TOTAL // 2
    changes: list[Callable[[datetime], None]] = [
        lambda at: billing.credit("cn_1", half, at),
        lambda at: billing.credit("cn_1", -half, at),
        lambda at: billing.pay("pi_1", "succeeded", half, at),
    ]
    if draw(st.booleans()):
        changes[:2] = [
            lambda at: billing.pay("ch_3", "succeeded", half, at),
            lambda at: billing.pay("ch_3", "reversed", half - 1, at),
        ]
    billing.status = Status.OPEN
    billing.show(start + timedelta(seconds=1))
    for number, change in enumerate(changes, 2):
        change(start + timedelta(seconds=number))
        billing.show(start + timedelta(seconds=number, milliseconds=50))
    return start + timedelta(seconds=4)


def _live(draw: st.DrawFn, billing: Billing, second: datetime, may_lack: bool) -> None:
    """Up to three changes within a second, none of which takes back another of that second."""
    lowers = draw(st.booleans())
    for place in range(draw(st.integers(1, 3))):
        at = second + timedelta(milliseconds=100 + 250 * place)
        if billing.status is Status.DRAFT:
            billing.status = Status.OPEN
        elif billing.status is Status.OPEN:
            _change(draw, billing, at, lowers, may_lack)
        if not may_lack or draw(st.booleans()) or not billing.payments:
            billing.show(at + timedelta(milliseconds=50))


def _change(draw: st.DrawFn, billing: Billing, at: datetime, lowers: bool, may_lack: bool) -> None:
    what = draw(st.sampled_from(("payment", "payment", "payment", "credit", "due date", "void")))
    if what == "void" and draw(st.integers(0, 5)) == 0:
        billing.status = Status.VOID
        billing.show(at)
    elif what == "due date":
        billing.due_on = draw(st.sampled_from((ISSUED, ISSUED + timedelta(days=5))))
    elif what == "credit":
        _credit(draw, billing, at, lowers)
    elif what == "payment":
        _payment(draw, billing, at, lowers, may_lack)


def _credit(draw: st.DrawFn, billing: Billing, at: datetime, lowers: bool) -> None:
    name = draw(st.sampled_from(("cn_1", "cn_2")))
    note = billing.credits.get(name)
    if note is not None and note.moved == billing.clock.of_money(at):
        return
    if note is None or note.paid == 0:
        if lowers and billing.remaining > 0:
            billing.credit(name, draw(_part(billing.remaining)), at)
    elif not lowers:
        billing.credit(name, -draw(st.sampled_from((note.paid, max(1, note.paid // 2)))), at)


def _payment(draw: st.DrawFn, billing: Billing, at: datetime, lowers: bool, may_lack: bool) -> None:
    name = draw(st.sampled_from(("pi_1", "pi_2", "ch_3")))
    payment = billing.payments.get(name)
    state, paid = (payment.state, payment.paid) if payment else ("", 0)
    can = ["pending", "failed"] if not paid else []
    if paid:
        can = ["corrected down", "reversed", "reversed"] if not lowers else ["corrected up"]
    elif lowers and billing.remaining > 0:
        can += ["succeeded", "succeeded"]
    what = draw(st.sampled_from(can))
    goes = "succeeded" if what.startswith("corrected") else what
    same_second = (
        payment is not None
        and payment.moved is not None
        and (payment.moved.replace(microsecond=0) == at.replace(microsecond=0))
    )
    if same_second and _FORWARD.index(goes) <= _FORWARD.index(state):
        return
    if what == "corrected down":
        billing.pay(name, goes, max(1, paid // 2), at)
    elif what == "corrected up":
        if billing.remaining > 0:
            billing.pay(name, goes, paid + draw(_part(billing.remaining)), at)
    elif what == "reversed":
        billing.pay(name, goes, draw(st.sampled_from((paid, max(1, paid // 3)))), at)
    else:
        amount = draw(_part(max(1, billing.remaining)))
        billing.pay(name, goes, amount, at)


def _asks_for_more(told: Fact) -> int:
    """The first snapshot and what lowers a balance come first: sums are as wrong as they can be."""
    data = told.data
    if isinstance(data, InvoiceObserved):
        return 0 if data.amount_remaining == TOTAL else 2
    if isinstance(data, PaymentMoved):
        return 1 if data.state is PaymentState.SUCCEEDED else 2
    return 1 if isinstance(data, Credited) and data.amount > 0 else 2


def _part(remaining: int) -> st.SearchStrategy[int]:
    """All of it, parts of it, seldom more than is owed."""
    half, much = max(1, remaining // 2), max(1, remaining - 1)
    return st.sampled_from((remaining, half, half, much, 1, remaining + TOTAL // 10))


def _truth(billing: Billing) -> Truth:
    return Truth(
        billing.says,
        max(0, billing.remaining),
        billing.in_flight_until,
        not billing.was_paid,
        billing.lowest > 0,
    )
