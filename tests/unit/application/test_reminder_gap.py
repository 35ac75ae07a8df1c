"""Days between reminder mails to one customer, over all their invoices (policy, ADR 11)."""

from typing import Any

import pytest

from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    OPERATOR,
    at,
    days,
    invoice,
    lapse,
    merged,
    minutes,
    notification,
    observed_send,
    payment_failed,
    redeem,
    reminder,
    report,
)
from tests.support.given import Scenario, given

NOW = at("2026-12-04T10:00:00+00:00")
FREE = "2026-12-07T00:00:00Z"
THREE = Policy(days_between_reminder_mails=3)


def reminded(policy: Policy = THREE, **how: Any) -> Scenario:
    """A customer who was reminded of one of two invoices."""
    return given(NOW, invoice(), invoice("inv_2"), reminder(**how), policy=policy)


def denied(scenario: Scenario, available_at: str = FREE) -> None:
    """A reminder of the other invoice comes too soon."""
    scenario.when(reminder("inv_2"))
    scenario.then(status=409, code="reminded_recently", events=[])
    scenario.then(body={"available_at": available_at, "retryable": True})


def test_the_next_reminder_waits_for_local_midnight_so_many_days_later() -> None:
    scenario = reminded().when(report())
    denied(scenario)
    scenario.when(at("2026-12-06T23:59:59+00:00"))
    denied(scenario)
    scenario.when(at("2026-12-07"), reminder("inv_2")).granted_now()


def test_the_days_are_those_of_the_policys_zone() -> None:
    policy = Policy(days_between_reminder_mails=3, time_zone="Australia/Sydney")
    denied(reminded(policy), "2026-12-06T13:00:00Z")


def test_by_default_the_caps_are_all_there_is() -> None:
    reminded(Policy()).when(reminder("inv_2")).granted_now()


def test_no_breaker_opens_and_nobody_is_paged() -> None:
    scenario = reminded()
    for _ in range(5):
        scenario.when(reminder("inv_2")).then(code="reminded_recently", alerts=[], events=[])


def test_other_mail_and_other_customers_are_not_bound() -> None:
    scenario = reminded()
    scenario.when(notification()).granted_now()
    scenario.when(invoice("inv_3", "cus_2"), reminder("inv_3")).granted_now()
    scenario.when(days(1), payment_failed("evt_1", invoice_id="inv_2")).granted_now()


def test_other_mail_does_not_count_as_a_reminder() -> None:
    scenario = given(NOW, invoice(), notification(), payment_failed(), policy=THREE)
    scenario.when(days(1), reminder()).granted_now()


@pytest.mark.parametrize("outcome", ["rejected", "expired"])
def test_a_mail_that_did_not_go_out_reminded_nobody(outcome: str) -> None:
    scenario = reminded()
    scenario.when(report("rejected") if outcome == "rejected" else minutes(11))
    scenario.when(reminder("inv_2")).granted_now()


def test_a_mail_whose_fate_nobody_knows_counts_and_so_does_one_that_proves_sent_later() -> None:
    scenario = reminded(by=AGENT).when(minutes(11), lapse())
    denied(scenario)
    scenario = reminded().when(minutes(11), days(2))
    scenario.when(report("sent"))
    denied(scenario)


def test_a_permit_that_is_redeemed_later_counts_from_then() -> None:
    scenario = given(at("2026-12-04T23:55:00+00:00"), invoice(), invoice("inv_2"), policy=THREE)
    scenario.when(reminder(), minutes(6), redeem())
    denied(scenario, "2026-12-08T00:00:00Z")


def test_a_reminder_that_went_out_past_the_ledger_counts() -> None:
    sent = observed_send("2026-12-03T10:00:00+00:00", invoice_id="inv_1", stage="day-3")
    scenario = given(NOW, invoice(), invoice("inv_2"), sent, policy=THREE)
    denied(scenario, "2026-12-06T00:00:00Z")


def test_a_mail_past_the_ledger_that_names_no_invoice_is_no_reminder() -> None:
    sent = observed_send("2026-12-03T10:00:00+00:00")
    given(NOW, invoice(), sent, policy=THREE).when(reminder()).granted_now()


def test_it_is_known_longer_than_the_windows_know_a_mail() -> None:
    policy = Policy(days_between_reminder_mails=31)
    scenario = reminded(policy).when(report())
    for step in range(6):
        scenario.when(days(4), notification(f"ord_{step}"), report())
    denied(scenario, "2027-01-04T00:00:00Z")


def test_a_merge_carries_it_over() -> None:
    scenario = given(NOW, invoice(), invoice("inv_2", "cus_2"), reminder(), policy=THREE)
    scenario.when(report(), days(2), merged("cus_1", "cus_2"))
    denied(scenario)


def test_a_humans_override_passes() -> None:
    scenario = reminded().when(report(), days(1))
    scenario.when(reminder(stage="day-3", by=OPERATOR, override="act_1")).granted_now()


def test_it_is_judged_after_the_breaker_and_before_the_cap() -> None:
    policy = Policy(days_between_reminder_mails=3, outreach_per_day=1)
    scenario = reminded(policy)
    scenario.when(reminder("inv_2")).then(code="reminded_recently", events=[])
    scenario.when(notification()).then(status=429, code="cap_reached")
    scenario.when(reminder("inv_2")).then(status=409, code="breaker_open")
