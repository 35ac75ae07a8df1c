"""With `breaker_opens = "on_flood"` one request too many is refused, and no breaker opens (D8)."""

from ledger.application.commands import ResetBreaker
from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    OPERATOR,
    RECEIPTS,
    at,
    hours,
    message,
    notification,
    report,
)
from tests.support.given import Scenario, given

FLOOD = Policy(breaker_opens="on_flood")
SENT = (
    *(notification("1", by=AGENT), report(by=AGENT)),
    *(notification("2", by=AGENT), report(by=AGENT)),
)
RESET = ResetBreaker("cus_1", "ann", "looked at it", OPERATOR)


def full() -> Scenario:
    """The customer has had both mails of the day."""
    return given(*SENT, policy=FLOOD)


def test_one_request_too_many_is_refused_and_the_sender_may_wait() -> None:
    scenario = full().when(notification("3"))
    scenario.then(status=429, code="cap_reached", events=["Customer.CapRefused"], alerts=[])
    scenario.then(
        code="cap_reached",
        body={
            "retryable": True,
            "available_at": "2026-01-02T00:00:00Z",
            "next_action": "retry_at",
            "frees_at": None,
        },
    )
    scenario.when(at("2026-01-02"), notification("3")).granted_now()


def test_the_third_refusal_within_the_window_is_a_flood_and_pages_once() -> None:
    scenario = full().when(notification("3"), hours(1), notification("4"))
    scenario.then(status=429, code="cap_reached", alerts=[])
    scenario.when(notification("5")).then(
        status=429, code="cap_reached", events=["Customer.BreakerOpened"], alerts=["breaker_opened"]
    )
    scenario.then(
        code="cap_reached",
        body={"retryable": False, "available_at": None, "next_action": "ask_human"},
    )
    scenario.when(notification("6")).then(status=409, code="breaker_open", events=[], alerts=[])


def test_refusals_of_another_day_count_no_more() -> None:
    scenario = full().when(notification("3"), notification("4"))
    scenario.when(at("2026-01-02"), notification("5"), notification("6"))
    scenario.when(notification("7")).then(status=429, code="cap_reached", alerts=[])


def test_a_reset_begins_again() -> None:
    scenario = full().when(notification("3"), notification("4"), notification("5"))
    scenario.when(RESET, notification("6")).then(code="cap_reached", alerts=[])


def test_each_window_counts_its_own_refusals() -> None:
    scenario = full().when(message(), notification("3"), notification("4"))
    receipts = [notification(f"r{n}", by=RECEIPTS) for n in range(21)]
    scenario.when(*receipts).then(code="cap_reached", alerts=[], status=429)
    assert scenario.aggregate("customer", "cus_1").breaker is None


def test_the_number_of_refusals_is_a_setting() -> None:
    policy = Policy(breaker_opens="on_flood", breaker_refusals=2)
    scenario = given(*SENT, notification("3"), policy=policy)
    assert scenario.alerts == []
    scenario.when(notification("4")).then(code="cap_reached", alerts=["breaker_opened"])
