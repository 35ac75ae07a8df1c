"""What is owed: the latest snapshot and the money facts later than it, in any order (D10)."""

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.domain.balance import Snapshot, Status, balance, effective_status
from ledger.domain.payments import (
    CREDIT,
    CREDIT_TAKEN_BACK,
    MoneyFact,
    PaymentState,
    in_flight_until,
)
from ledger.domain.same_moment import kept, last_of
from tests.support.build import days, hours, minutes
from tests.unit.domain.test_holds import NOW


def snap(
    remaining: int = 1000,
    later: int = 0,
    status: Status = Status.OPEN,
    version: int | None = None,
    total: int = 1000,
) -> Snapshot:
    when = NOW + minutes(later)
    return Snapshot("cus_1", "EUR", total, remaining, status, when, version=version)


def pay(amount: int, later: int, name: str = "p1", state: str = "succeeded") -> MoneyFact:
    return MoneyFact(name, state, amount, NOW + minutes(later))


@pytest.mark.parametrize(
    ("facts", "owed"),
    [
        ([], 1000),
        ([pay(200, -1)], 1000),
        ([pay(200, 0)], 800),
        ([pay(200, 1)], 800),
        ([pay(200, 1), pay(300, 2, "p2")], 500),
        ([pay(1000, 1)], 0),
        ([pay(1500, 1)], 0),
        ([pay(1500, 1), pay(100, 2, "p1", PaymentState.REVERSED)], 0),
        ([pay(1000, 1), pay(1000, 2, "p1", PaymentState.REVERSED)], 1000),
        ([pay(200, 1, state=PaymentState.PENDING)], 1000),
        ([pay(200, 1, state=PaymentState.FAILED)], 1000),
        ([pay(300, 1, "c1", CREDIT)], 700),
        ([pay(300, 1, "c1", CREDIT), pay(-300, 2, "c1", CREDIT_TAKEN_BACK)], 1000),
        ([pay(300, -1, "c1", CREDIT), pay(-300, 2, "c1", CREDIT_TAKEN_BACK)], 1000),
    ],
)
def test_balance(facts: list[MoneyFact], owed: int) -> None:
    for order in itertools.permutations(facts):
        assert balance(snap(), order) == owed


def test_a_paid_snapshot_owes_nothing_whatever_amount_it_carries() -> None:
    assert balance(snap(500, status=Status.PAID), []) == 0
    returned = pay(1000, 1, state=PaymentState.REVERSED)
    assert balance(snap(0, status=Status.PAID), [returned]) == 1000


@pytest.mark.parametrize(
    ("status", "owed", "becomes"),
    [
        (Status.OPEN, 1, Status.OPEN),
        (Status.OPEN, 0, Status.PAID),
        (Status.PAID, 0, Status.PAID),
        (Status.PAID, 1, Status.OPEN),
        (Status.UNCOLLECTIBLE, 1, Status.UNCOLLECTIBLE),
        (Status.UNCOLLECTIBLE, 0, Status.PAID),
        (Status.VOID, 5, Status.VOID),
        (Status.VOID, 0, Status.VOID),
        (Status.DRAFT, 5, Status.DRAFT),
    ],
)
def test_status_after_the_money(status: Status, owed: int, becomes: Status) -> None:
    assert effective_status(snap(status=status), owed) is becomes


def latest(snapshots: tuple[Snapshot, ...]) -> Snapshot:
    """What stands after these arrived in this order."""
    held, *others = snapshots
    beside: tuple[Snapshot, ...] = ()
    for other in others:
        age = other.age_against(held)
        if age > 0:
            held, beside = other, ()
        elif age == 0:
            peers = kept((*beside, held), other)
            held = last_of(peers, [])
            beside = tuple(peer for peer in peers if peer is not held)
    return held


@pytest.mark.parametrize(
    "snapshots",
    [
        (snap(1000, 0), snap(400, 1), snap(700, 2)),
        (snap(1000, 0), snap(400, 0), snap(700, 0)),
        (snap(1000, 5, version=1), snap(400, 1, version=2), snap(700, 0, version=3)),
        (snap(400, 0), snap(400, 0, Status.PAID), snap(400, 0, Status.VOID)),
        (snap(100, 0, Status.PAID), snap(50, 0, Status.OPEN)),
    ],
)
def test_the_same_snapshot_stands_in_any_order(snapshots: tuple[Snapshot, ...]) -> None:
    standing = {latest(order) for order in itertools.permutations(snapshots)}
    assert len(standing) == 1


def test_which_snapshot_stands() -> None:
    assert latest((snap(1000, 1), snap(400, 0))) == snap(1000, 1)
    assert latest((snap(400, 0), snap(1000, 0))) == snap(400, 0)
    assert latest((snap(1, 9, version=1), snap(2, 0, version=2))) == snap(2, 0, version=2)
    assert latest((snap(0, 0, Status.PAID), snap(50, 0))) == snap(0, 0, Status.PAID)


def test_on_a_tie_the_snapshot_that_asks_for_less_stands() -> None:
    paid, part = snap(100, 0, Status.PAID), snap(50, 0)
    assert balance(latest((paid, part)), []) == 0
    assert balance(latest((part, paid)), []) == 0


_MONEY = st.builds(
    MoneyFact,
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from([*PaymentState, CREDIT]),
    st.integers(0, 500),
    st.integers(-3, 3).map(lambda n: NOW + minutes(n)),
)


@given(st.lists(_MONEY, max_size=6), st.randoms(use_true_random=False))
def test_balance_and_flight_do_not_depend_on_the_order_of_facts(
    facts: list[MoneyFact], random: object
) -> None:
    shuffled = list(facts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert balance(snap(), facts) == balance(snap(), shuffled) >= 0
    assert in_flight_until(facts, days(7)) == in_flight_until(shuffled, days(7))


def test_a_pending_payment_holds_for_seven_days_and_no_longer() -> None:
    pending = pay(200, 0, state=PaymentState.PENDING)
    assert in_flight_until([pending], days(7)) == NOW + days(7)
    assert in_flight_until([], days(7)) is None


@pytest.mark.parametrize("ended", ["succeeded", "failed", "reversed"])
def test_a_later_word_on_a_payment_ends_its_flight(ended: str) -> None:
    facts = [pay(200, 5, state=ended), pay(200, 0, state=PaymentState.PENDING)]
    assert in_flight_until(facts, days(7)) is None
    again = pay(200, 9, state=PaymentState.PENDING)
    assert in_flight_until([again, *facts], days(7)) == again.at + days(7)
    other = MoneyFact("p2", PaymentState.PENDING, 5, NOW + hours(1))
    assert in_flight_until([*facts, other], days(7)) == NOW + hours(1) + timedelta(days=7)
