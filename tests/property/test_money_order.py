"""Facts about an invoice's money, late, early and repeated, in any order: one balance (D10)."""

from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_credit import Credited
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.domain.balance import Status
from ledger.domain.payments import PaymentState
from tests.support.build import at
from tests.support.given import given as history

NOW = at("2026-12-20T12:00:00Z")
# Few instants, so that facts fall on the same one.
MOMENTS = st.integers(0, 5).map(lambda hours: NOW - timedelta(hours=hours))
AMOUNTS = st.sampled_from([1, 4000, 10000, 30000])


def _snapshot(owes: int, status: Status, moment: Any, version: int | None) -> Fact:
    said = InvoiceObserved(
        "inv_1", "cus_1", "EUR", 30000, owes, status, observed_at=moment, version=version
    )
    return Fact(said, "billing")


def _payment(name: str, amount: int, state: PaymentState, moment: Any) -> Fact:
    return Fact(PaymentMoved("inv_1", name, amount, state), "bank", None, moment)


def _credit(name: str, amount: int, moment: Any) -> Fact:
    return Fact(Credited("inv_1", name, amount), "billing", None, moment)


STATUS = st.sampled_from([Status.OPEN, Status.OPEN, Status.PAID, Status.UNCOLLECTIBLE, Status.VOID])
NAMES = st.sampled_from(["a", "b"])
MONEY = st.one_of(
    st.builds(_payment, NAMES, AMOUNTS, st.sampled_from(list(PaymentState)), MOMENTS),
    st.builds(_credit, NAMES, st.sampled_from([500, 29000, -500]), MOMENTS),
)


def facts_of(versions: st.SearchStrategy[int | None]) -> st.SearchStrategy[list[Fact]]:
    """One to three snapshots and a few movements of money."""
    snapshots = st.builds(_snapshot, AMOUNTS, STATUS, MOMENTS, versions)
    some = st.lists(snapshots, min_size=1, max_size=3)
    return st.tuples(some, st.lists(MONEY, max_size=5)).map(lambda both: [*both[0], *both[1]])


def standing_after(facts: list[Fact]) -> tuple[int, str, Any]:
    """Balance, status, and until when a payment is in flight."""
    scenario = history(NOW, *facts)
    invoice = scenario.aggregate("invoice", "inv_1")
    flight = invoice.in_flight_until(timedelta(days=7))
    return invoice.standing.balance, str(invoice.standing.status), flight


@settings(max_examples=60)
@given(facts=facts_of(st.none()), data=st.data())
def test_one_balance_in_any_order(facts: list[Fact], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(facts))
    assert standing_after(facts) == standing_after(shuffled)


@settings(max_examples=30)
@given(facts=facts_of(st.integers(1, 3)), data=st.data())
def test_a_providers_version_orders_its_snapshots(facts: list[Fact], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(facts))
    assert standing_after(facts) == standing_after(shuffled)


@settings(max_examples=40)
@given(facts=facts_of(st.none()), data=st.data())
def test_facts_that_are_told_again_change_nothing(facts: list[Fact], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(facts), max_size=4))
    assert standing_after(facts) == standing_after([*facts, *again])


@settings(max_examples=40)
@given(facts=st.lists(MONEY, max_size=5), data=st.data())
def test_money_before_and_after_its_snapshot(facts: list[Fact], data: st.DataObject) -> None:
    """Payments may be told before anybody spoke of the invoice."""
    first = _snapshot(30000, Status.OPEN, NOW - timedelta(hours=9), None)
    place = data.draw(st.integers(0, len(facts)))
    assert standing_after([first, *facts]) == standing_after(
        [*facts[:place], first, *facts[place:]]
    )
