"""Intents that an agent makes up: alerts for those nobody knows, near misses denied (policy)."""

import pytest

from ledger.application.new_intents import MOST
from ledger.domain.intents import core_of, similar_among
from ledger.domain.policy import Policy
from tests.support.build import OPERATOR, at, days, intent, redeem, report
from tests.support.given import Scenario, given

KNOWN = Policy(known_intents=("refund_notice",), outreach_per_day=100)
STRICT = Policy(deny_similar_intents=True, outreach_per_day=100)


def thread(policy: Policy) -> Scenario:
    """A thread of cus_1 in which refund_notice was sent."""
    first = intent("refund_notice", customer="cus_1")
    return given(at("2026-12-04"), first, redeem(), report(), policy=policy)


@pytest.mark.parametrize(
    "other",
    [
        "refund_notice_2",
        "refund-notice",
        "RefundNotice",
        "notice_refund",
        "refund_notices",
        "refund_notice_retry",
        "REFUND NOTICE (again)",
    ],
)
def test_a_near_miss_is_denied_where_the_policy_says_so(other: str) -> None:
    scenario = thread(STRICT).when(intent(other))
    scenario.then(status=409, code="similar_intent", events=[])
    assert scenario.body["original"]["permit_id"] == scenario.granted[0]
    assert scenario.body["retryable"] is False
    thread(Policy()).when(intent(other)).granted_now()


@pytest.mark.parametrize("other", ["refund_question", "shipping_notice", "refund", "2"])
def test_another_intent_is_granted(other: str) -> None:
    thread(STRICT).when(intent(other)).granted_now()


def test_the_same_intent_is_a_duplicate_still_and_a_human_may_repeat() -> None:
    thread(STRICT).when(intent("refund_notice")).then(status=409, code="duplicate_intent")
    scenario = thread(STRICT).when(intent("refund_notice_2", by=OPERATOR, override="a1"))
    scenario.granted_now()


def test_a_freed_intent_is_in_nobodys_way() -> None:
    scenario = given(
        at("2026-12-04"), intent("a_b", customer="cus_1"), report("rejected"), policy=STRICT
    )
    scenario.when(intent("a_b_2")).granted_now()


def test_intents_of_numbers_alone_are_like_no_other() -> None:
    assert core_of("2026-12") == ()
    assert similar_among("1", ["2", "3"]) is None
    assert similar_among("notice 1", ["x", "notice_2"]) == "notice_2"


def test_a_human_hears_once_of_an_intent_that_the_policy_does_not_know() -> None:
    scenario = thread(KNOWN)
    assert scenario.alerts == []
    scenario.when(intent("made_up")).then(status=201, alerts=["new_intent"])
    scenario.when(intent("made_up", thread="thr_2", customer="cus_2")).then(alerts=[])
    assert [a.summary for a in scenario.store.alerts.values() if a.kind == "new_intent"] == [
        "poller (key key-poller) uses an intent that the policy does not know: made_up"
    ]
    thread(Policy()).when(intent("made_up")).then(status=201, alerts=[])


def test_no_address_gets_into_the_alert_and_a_key_is_told_of_so_often_only() -> None:
    scenario = thread(KNOWN).when(intent("for pat@x.example")).then(alerts=["new_intent"])
    told = next(a for a in scenario.store.alerts.values() if a.kind == "new_intent")
    assert "@" not in told.summary + told.dedupe_key
    scenario.submit(*(intent(f"x{n}", thread=f"t{n}", customer=f"c{n}") for n in range(MOST + 5)))
    kinds = [alert.kind for alert in scenario.store.alerts.values()]
    assert kinds.count("new_intent") == MOST
    scenario.when(days(1), intent("x0", thread="t0b", customer="c0")).then(status=201, alerts=[])
