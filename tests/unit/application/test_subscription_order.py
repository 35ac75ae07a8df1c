"""News of subscriptions comes in any order, also of one that nobody has heard of (ADR 0008)."""

import itertools
from typing import Any

import pytest

from tests.support.build import at, invoice, payment_failed, subscription_told
from tests.support.given import given

NEWS = [
    subscription_told(ended=False, invoices=("inv_1",), when="2026-12-01T00:00:00Z"),
    subscription_told(ended=True, invoices=("inv_1",), when="2026-12-02T00:00:00Z"),
    subscription_told(ended=False, invoices=("inv_1",), when="2026-12-03T00:00:00Z"),
    subscription_told(ended=True, invoices=("inv_1",), when="2026-12-04T00:00:00Z"),
]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_latest_word_stands_in_any_order(count: int) -> None:
    for order in itertools.permutations(NEWS[:count]):
        scenario = given(at("2026-12-05T10:00Z"), invoice(), *order, payment_failed("evt_1"))
        assert scenario.answer.status == (201 if count == 3 else 409), order


def test_an_end_that_comes_late_leaves_a_subscription_alive() -> None:
    story: list[Any] = [at("2026-12-05T10:00Z"), invoice(), NEWS[2]]
    scenario = given(*story).then(result="applied", alerts=[])
    scenario.when(NEWS[1]).then(result="stale", events=[])
    scenario.when(payment_failed("evt_1")).granted_now()
    assert scenario.aggregate("customer", "cus_1").subscriptions.known["sub_1"].ended is False
