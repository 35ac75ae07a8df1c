"""A mail sent on a permit that had to be redeemed first: a fact, and a human hears of it (D6)."""

import pytest

from tests.support.build import (
    AGENT,
    POLLER,
    at,
    delivery,
    invoice,
    minutes,
    notification,
    redeem,
    reminder,
    report,
)
from tests.support.given import Scenario, given

WARNED = {"Ledger-Warning": "redeem-skipped"}
PAGED = [f"redeem_skipped:{POLLER.key_id}"]


def granted() -> Scenario:
    """A reminder of day-7, granted to a key that must redeem."""
    return given(at("2026-12-08T08:00Z"), invoice(), reminder())


def test_sent_without_a_redeem_is_a_fact_and_says_so() -> None:
    scenario = granted().when(report(id="pm_1"))
    scenario.then(status=200, body={"state": "sent"}, headers=WARNED)
    assert scenario.skipped_redeems == PAGED
    assert scenario.permit().provider_message_id == "pm_1"
    scenario.when(reminder()).then(status=409, code="already_sent")


def test_it_pages_once_for_a_key_and_warns_each_time() -> None:
    scenario = granted().when(report(), report()).then(status=200, headers=WARNED)
    other = notification("o1", customer="cus_2", to="kim@example.com")
    scenario.when(other, report()).then(status=200, headers=WARNED)
    assert scenario.skipped_redeems == PAGED


def test_after_it_expired_it_is_the_same() -> None:
    scenario = granted().when(minutes(11), report())
    scenario.then(status=200, alerts=["sent_after_expiry"], headers=WARNED)
    assert scenario.skipped_redeems == PAGED


def test_a_delivery_of_a_mail_that_nobody_redeemed_pages_too() -> None:
    scenario = granted()
    scenario.when(delivery("delivered", permit=scenario.granted[-1]))
    assert scenario.skipped_redeems == PAGED
    scenario.when(report()).then(status=200, headers=WARNED)


@pytest.mark.parametrize("outcome", ["rejected", "unknown"])
def test_what_was_not_sent_needed_no_redeem(outcome: str) -> None:
    scenario = granted().when(report(outcome)).then(status=200, headers={"Ledger-Warning": None})
    assert scenario.skipped_redeems == []


def test_no_word_of_it_after_a_redeem_or_of_a_key_that_need_not() -> None:
    redeemed = granted().when(redeem(), report()).then(headers={"Ledger-Warning": None})
    assert redeemed.skipped_redeems == []
    at_once = given(at("2026-12-08T08:00Z"), invoice(), reminder(redeem=True), report())
    assert at_once.skipped_redeems == []
    optional = given(at("2026-12-08T08:00Z"), invoice(), reminder(by=AGENT), report(by=AGENT))
    optional.then(status=200, headers={"Ledger-Warning": None})
    assert optional.skipped_redeems == []
