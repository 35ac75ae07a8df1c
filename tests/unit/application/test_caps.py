"""Caps and breakers: who fills which window, what opens once, and what a human resets (D8)."""

from typing import Any

import pytest

from ledger.application.commands import ResetBreaker
from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    OPERATOR,
    POLLER,
    RECEIPTS,
    at,
    days,
    digest,
    intent,
    invoice,
    message,
    minutes,
    notification,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given

RESET = ResetBreaker("cus_1", "ann", "looked at it", OPERATOR)


def two_sent(**how: Any) -> Scenario:
    """Two mails at 23:50 and 23:55, by two senders."""
    return given(
        at("2026-08-10T23:50Z"),
        notification("1"),
        report(),
        at("2026-08-10T23:55Z"),
        notification("2", by=AGENT),
        report(by=AGENT),
        **how,
    )


@pytest.mark.parametrize(
    ("when", "code"),
    [
        ("2026-08-11T00:05:00Z", "cap_reached"),
        ("2026-08-11T23:49:59Z", "cap_reached"),
        ("2026-08-11T23:49:59.999999Z", "cap_reached"),
        ("2026-08-11T23:50:00Z", None),
    ],
)
def test_the_window_rolls_and_is_half_open(when: str, code: str | None) -> None:
    scenario = two_sent().when(at(when), notification("3"))
    assert scenario.body.get("code") == code
    if code:
        assert scenario.body["frees_at"] == "2026-08-11T23:50:00Z"


def test_the_third_request_opens_the_breaker_and_pages_once() -> None:
    scenario = two_sent().when(minutes(5)).when(notification("3"))
    scenario.then(
        status=429, code="cap_reached", events=["Customer.BreakerOpened"], alerts=["breaker_opened"]
    )
    assert scenario.body["retryable"] is False
    for number in range(4, 40):
        scenario.when(notification(str(number))).then(
            status=409, code="breaker_open", events=[], alerts=[]
        )


def test_an_open_breaker_stays_open_until_a_named_human_resets_it() -> None:
    scenario = two_sent().when(minutes(5), notification("3"), days(30))
    scenario.when(notification("3")).then(status=409, code="breaker_open")
    scenario.when(RESET).then(result="applied", events=["Customer.BreakerReset"])
    scenario.when(RESET).then(result="ignored", events=[])
    scenario.when(notification("3")).granted_now()
    reset = scenario.event("Customer.BreakerReset")
    assert (reset.by, reset.reason) == ("ann", "looked at it")


def test_the_next_opening_is_another_page() -> None:
    scenario = two_sent().when(minutes(5), notification("3"), RESET)
    scenario.when(notification("3")).then(status=429, code="cap_reached", alerts=["breaker_opened"])
    opened = [a.dedupe_key for a in scenario.store.alerts.values() if a.kind == "breaker_opened"]
    assert len(set(opened)) == 2


def test_nobody_to_reset() -> None:
    given(RESET).then(status=404, code="unknown_customer")


def test_denials_never_count() -> None:
    scenario = given(notification("1"), report())
    for _ in range(50):
        scenario.when(notification("1")).then(status=409, code="already_sent", alerts=[])
    scenario.when(notification("2")).granted_now()
    assert scenario.body["windows"] == {"outreach_24h": {"used": 2, "limit": 2}}


def test_a_claim_skips_a_full_window_and_opens_nothing() -> None:
    scenario = given(
        at("2026-12-04"), invoice(), notification("1"), notification("2"), reminder(claim=True)
    )
    scenario.then(status=429, code="cap_reached", alerts=[])
    assert scenario.aggregate("customer", "cus_1").breaker is None


def test_an_unredeemed_claim_is_granted_again_only_where_its_key_must_redeem() -> None:
    scenario = given(at("2026-12-04"), invoice(), reminder(claim=True))
    scenario.when(minutes(10), reminder()).granted_now()
    scenario = given(at("2026-12-04"), invoice(), reminder(claim=True, by=AGENT))
    scenario.when(minutes(10), reminder()).then(status=409, code="outcome_unknown")


def test_a_breaker_opened_later_does_not_revoke_what_was_granted() -> None:
    scenario = given(notification("1"), notification("2"), notification("3"))
    scenario.when(redeem("$1")).then(status=200)
    scenario.when(redeem("$2")).then(status=200)


def test_receipts_have_their_own_ceiling_and_pass_the_outreach_breaker() -> None:
    scenario = two_sent().when(minutes(5), notification("3"))
    for number in range(20):
        scenario.when(notification(f"r{number}", by=RECEIPTS)).granted_now()
        scenario.when(report(by=RECEIPTS))
    scenario.when(notification("r20", by=RECEIPTS)).then(
        status=429, code="cap_reached", alerts=["breaker_opened"]
    )
    assert scenario.aggregate("customer", "cus_1").breaker.scope == "all"
    scenario.when(notification("r21", by=RECEIPTS)).then(status=409, code="breaker_open")


def test_a_receipt_is_deduplicated_like_any_mail() -> None:
    scenario = given(notification("1", by=RECEIPTS), report(by=RECEIPTS))
    scenario.when(notification("1", by=RECEIPTS)).then(status=409, code="already_sent")
    scenario.when(notification("1")).then(status=409, code="already_sent")


def test_a_transactional_key_has_no_lane_of_its_own_for_dunning() -> None:
    scenario = given(at("2026-12-04"), invoice("a"), invoice("b"), invoice("c"))
    scenario.when(reminder("a", by=RECEIPTS), reminder("b", by=RECEIPTS)).granted_now()
    scenario.when(reminder("c", by=RECEIPTS)).then(status=429, code="cap_reached")


@pytest.mark.parametrize("ask", [notification, digest, intent])
def test_every_outreach_kind_uses_the_same_cap(ask: Any) -> None:
    scenario = given(message(), at("2026-12-04"), invoice(), notification("x"), reminder())
    scenario.when(ask()).then(status=429, code="cap_reached")


def test_an_open_outreach_breaker_lets_replies_through() -> None:
    scenario = given(message(), notification("1"), notification("2"), notification("3"))
    scenario.when(reply()).granted_now()


def test_an_unknown_mail_counts_from_its_send_by() -> None:
    scenario = given(notification("1"), redeem(), notification("2"), redeem())
    scenario.when(at("2026-01-02T00:05Z"), notification("3")).then(status=429, code="cap_reached")
    assert scenario.body["frees_at"] == "2026-01-02T00:10:00Z"
    scenario.when(RESET, at("2026-01-02T00:10Z"), notification("3")).granted_now()


def test_a_late_report_of_sent_fills_no_window_after_the_fact() -> None:
    scenario = given(notification("1"), redeem(), at("2026-01-01T12:00Z"), report())
    scenario.when(at("2026-01-02T00:10Z"), notification("2"), notification("3")).granted_now()


def test_limits_are_policy() -> None:
    scenario = given(policy=Policy(outreach_per_day=1)).when(notification("1"), notification("2"))
    scenario.then(status=429, code="cap_reached")


def test_one_customers_flood_is_nobody_elses() -> None:
    scenario = given(notification("1"), notification("2"), notification("3"))
    scenario.when(notification("1", customer="cus_2")).granted_now()
    assert POLLER.name in scenario.store.decisions[0].sender


def test_four_hundred_requests_are_two_grants_one_breaker_and_one_alert() -> None:
    scenario = given()
    answers = scenario.submit(*(notification(str(n)) for n in range(400)))
    assert [a.status for a in answers] == [201, 201, 429, *[409] * 397]
    assert [alert.kind for alert in scenario.store.alerts.values()] == ["breaker_opened"]
    assert len(scenario.store.decisions) == 400
