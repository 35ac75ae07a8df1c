"""Threads: one reply per message and only to people, intents once, the loop guard (D8)."""

from dataclasses import replace
from typing import Any

import pytest

from ledger.application.caller import Caller
from ledger.application.commands import RequestPermit
from ledger.application.key_limits import KeyLimits
from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.message import IntentMessage
from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    IDENTITY,
    OPERATOR,
    POLLER,
    SCOPES,
    address,
    ask,
    at,
    customer,
    follow_up,
    hours,
    intent,
    merged,
    message,
    minutes,
    redeem,
    reply,
    report,
)
from tests.support.given import given


def talk(count: int, thread: str = "thr_1", customer: str = "cus_1", **how: Any) -> list[Any]:
    """Messages of a person, each answered at once."""
    steps: list[Any] = []
    for number in range(count):
        name = f"<{thread}-{number}@x>"
        steps += [message(name, thread, customer), reply(name, thread, **how), report(by=OPERATOR)]
    return steps


def test_a_message_is_replied_to_once_whoever_asks() -> None:
    scenario = given(message(), reply()).granted_now()
    scenario.when(reply(by=AGENT)).then(status=409, code="permit_held")
    scenario.when(report(), reply(by=AGENT)).then(status=409, code="already_replied")
    scenario.when(hours(9999), reply()).then(status=409, code="already_replied")


def test_its_own_thread_counts_whatever_thread_is_named() -> None:
    scenario = given(message(), message("<m2@x>", "thr_2", "cus_2"), reply(), report())
    scenario.when(reply(thread="thr_2")).then(status=409, code="already_replied")
    scenario.when(reply(thread="nobody's")).then(status=409, code="already_replied")
    fresh = given(message(), message("<m2@x>", "thr_2", "cus_2"), reply(thread="thr_2"))
    assert fresh.granted_now().body["thread_id"] == "thr_1"


def test_a_message_id_belongs_to_the_first_thread_that_named_it() -> None:
    scenario = given(message(), message(thread="thr_2", customer="cus_2"))
    scenario.then(result="duplicate")
    assert scenario.when(reply(thread="thr_2")).granted_now().body["customer_id"] == "cus_1"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"direction": "outbound"}, "outbound_message"),
        ({"automatic": "the return path is empty"}, "auto_generated"),
        ({"ours": "a permit"}, "own_message"),
        ({"ours": "a permit", "direction": "outbound"}, "own_message"),
        ({"ours": "a permit", "automatic": "bulk"}, "own_message"),
        ({"automatic": "bulk", "direction": "outbound"}, "outbound_message"),
    ],
)
def test_only_a_persons_inbound_message_earns_a_reply(fields: Any, code: str) -> None:
    given(message(**fields)).when(reply()).then(status=409, code=code, events=[])


def test_our_own_mail_coming_back_is_known_by_its_message_id() -> None:
    scenario = given(message(), intent(), report())
    ours = IDENTITY.message_id(scenario.granted[0])
    scenario.when(message(ours, ours=IDENTITY.permit_of(ours)))
    scenario.when(reply(ours)).then(status=409, code="own_message")


def test_a_message_that_is_not_known() -> None:
    given(message()).when(reply("<m2@x>")).then(status=404, code="unknown_message", events=[])
    given(reply("<m2@x>")).then(status=404, code="unknown_message")


def test_a_message_may_ride_along_with_the_reply() -> None:
    scenario = given(reply(facts=(message(),))).granted_now()
    scenario.when(reply(facts=(message(),))).then(status=409, code="permit_held", events=[])
    machine = message("<m2@x>", automatic="bulk")
    scenario.when(reply("<m2@x>", facts=(machine,))).then(
        status=409, code="auto_generated", events=["Thread.MessageSeen"]
    )


def test_five_replies_in_an_hour_and_one_page_per_episode() -> None:
    scenario = given(*talk(5))
    scenario.when(message("<six@x>")).when(reply("<six@x>")).then(
        status=429, code="loop_guard", events=["Thread.LoopGuardTripped"], alerts=["loop_guard"]
    )
    assert scenario.body["available_at"] == "2026-01-01T01:00:00Z"
    assert scenario.body["retryable"] is True
    assert scenario.answer.headers == (("Retry-After", "3600"),)
    scenario.when(minutes(30), reply("<six@x>")).then(
        status=429, code="loop_guard", events=[], alerts=[], headers={"Retry-After": "1800"}
    )
    scenario.when(at("2026-01-01T00:59:59.999999Z"), reply("<six@x>")).then(
        status=429, code="loop_guard", alerts=[]
    )
    scenario.when(at("2026-01-01T01:00Z"), reply("<six@x>")).granted_now()


def test_the_next_episode_is_paged_again() -> None:
    scenario = given(*talk(5), message("<six@x>"), reply("<six@x>"), hours(2))
    for number in range(5):
        scenario.when(message(f"<b{number}@x>"), reply(f"<b{number}@x>"), report())
    scenario.when(reply("<six@x>")).then(status=429, code="loop_guard", alerts=["loop_guard"])


def test_a_freed_reply_leaves_the_window() -> None:
    scenario = given(*talk(4), message("<e@x>"), reply("<e@x>"), report("rejected"))
    scenario.when(message("<f@x>"), reply("<f@x>")).granted_now()
    scenario.when(minutes(10), reply("<e@x>")).granted_now()


def test_a_redeemed_reply_counts_from_its_redeem() -> None:
    scenario = given(*talk(4), message("<e@x>"), reply("<e@x>"), minutes(9), redeem(), report())
    scenario.when(at("2026-01-01T01:05Z"))
    for number in range(4):
        scenario.when(message(f"<c{number}@x>"), reply(f"<c{number}@x>")).granted_now()
        scenario.when(report())
    scenario.when(message("<g@x>"), reply("<g@x>")).then(status=429, code="loop_guard")
    scenario.when(at("2026-01-01T01:09Z"), reply("<g@x>")).granted_now()


def test_replies_over_all_threads_open_the_breaker_for_all() -> None:
    scenario = given(*talk(3, "thr_a"), *talk(2, "thr_b"), message("<n@x>", "thr_c"))
    scenario.when(reply("<n@x>", "thr_c")).then(
        status=429, code="cap_reached", events=["Customer.BreakerOpened"], alerts=["breaker_opened"]
    )
    assert scenario.event("Customer.BreakerOpened").scope == "all"
    scenario.when(hours(2), reply("<n@x>", "thr_c")).then(status=409, code="breaker_open")
    scenario.when(intent(thread="thr_c")).then(status=409, code="breaker_open")


def test_the_threads_guard_is_judged_before_the_customers_cap() -> None:
    scenario = given(*talk(5), message("<n@x>")).when(reply("<n@x>"))
    scenario.then(status=429, code="loop_guard", events=["Thread.LoopGuardTripped"])


def test_thirty_replies_in_a_day() -> None:
    scenario = given()
    for hour in range(6):
        scenario.when(at(f"2026-01-01T{hour:02d}:00Z"), *talk(5, f"thr_{hour}"))
    scenario.when(hours(2), message("<n@x>", "thr_x"), reply("<n@x>", "thr_x")).then(
        status=429, code="cap_reached", alerts=["breaker_opened"]
    )


def test_replies_do_not_use_the_outreach_cap_nor_the_other_way_round() -> None:
    scenario = given(*talk(3), intent("a"), intent("b"))
    scenario.when(intent("c")).then(status=429, code="cap_reached")
    scenario.when(message("<n@x>"), reply("<n@x>")).granted_now()


def test_an_intent_is_said_once_in_its_thread_whoever_asks_and_for_ever() -> None:
    scenario = given(message(), intent(), report())
    scenario.when(intent(by=AGENT)).then(status=409, code="duplicate_intent")
    scenario.when(hours(24 * 400), intent()).then(status=409, code="duplicate_intent")
    scenario.when(intent("other")).granted_now()
    scenario.when(intent(thread="thr_2", customer="cus_1")).granted_now()


def test_tuples_are_never_glued_together() -> None:
    scenario = given(intent("c", thread="a:b", customer="39b")).granted_now()
    scenario.when(intent("b:c", thread="a", customer="39c")).granted_now()
    scenario.when(follow_up(1, thread="a")).granted_now()
    scenario.when(intent("follow-up:1", thread="a")).then(status=429, code="cap_reached")


def test_follow_ups_are_numbered() -> None:
    scenario = given(message(), follow_up(1), report())
    scenario.when(follow_up(1)).then(status=409, code="already_sent")
    scenario.when(follow_up(2)).granted_now()


def test_a_key_with_a_list_of_intents_may_use_only_those() -> None:
    limited = Caller(POLLER.key_id, "bot", SCOPES, limits=KeyLimits.of(intents=["copy"]))
    scenario = given(message(), intent("copy", by=limited)).granted_now()
    scenario.when(intent("refund", by=limited)).then(status=422, code="unknown_intent", events=[])
    scenario.when(intent("refund")).granted_now()


def test_known_threads_ignore_customer_and_address() -> None:
    scenario = given(message(), intent(customer="cus_9", to="other@x.example")).granted_now()
    assert (scenario.body["customer_id"], scenario.body["to"]) == ("cus_1", None)


SQUATTED = (message("<r@x>", "thr_r", "real", sender="real@x.example"),)
"""`real` is a customer with an address."""


@pytest.mark.parametrize("asked", ["message", "follow_up"])
@pytest.mark.parametrize("to", ["real@x.example", "nobody@x.example"])
def test_a_mail_in_a_thread_of_another_customer_does_not_go_to_them(asked: str, to: str) -> None:
    squat = intent("hi", "thr_9", "cus_t", to="evil@x.example")
    scenario = given(
        *SQUATTED, squat, report(), message("<e@x>", "thr_9", "cus_t", sender="evil@x.example")
    )
    named: dict[str, Any] = {"customer_id": "real", "to": address(to)}
    subject = {
        "message": IntentMessage("thr_9", "refund_notice", **named),
        "follow_up": FollowUp("thr_9", 1, **named),
    }[asked]
    scenario.when(ask(subject)).then(status=422, code="invalid_request", events=[], alerts=[])
    assert scenario.body["detail"] == (
        "the mail would not go to the address in `to`: thread thr_9 is with another customer"
    )


def test_the_mail_of_a_customer_without_an_address_is_led_nowhere() -> None:
    scenario = given(*SQUATTED, intent("hi", "thr_9", "cus_t"), report())
    scenario.when(intent("refund", "thr_9", "real", to="real@x.example")).granted_now()
    assert (scenario.body["customer_id"], scenario.body["to"]) == ("cus_t", None)


def test_an_address_of_the_threads_customer_may_be_named_also_after_a_merge() -> None:
    scenario = given(*SQUATTED, customer("real", "new@x.example", "real@x.example"))
    scenario.when(intent("a", "thr_r", to="real@x.example")).granted_now()
    assert scenario.body["to"] == "new@x.example"
    scenario.when(report(), merged("real", "cus_3"))
    scenario.when(intent("b", "thr_r", "real", to="real@x.example")).granted_now()
    scenario.when(intent("c", "thr_r", "real", to="other@x.example"))
    scenario.then(status=422, code="invalid_request")


@pytest.mark.parametrize("asked", [intent("a", "thr_r"), follow_up(1, "thr_r")])
def test_the_address_is_judged_before_what_has_been_sent(asked: RequestPermit) -> None:
    elsewhere = replace(asked, subject=replace(asked.subject, to=address("other@x.example")))
    scenario = given(*SQUATTED, asked).when(elsewhere)
    scenario.then(status=422, code="invalid_request", events=[])
    there = replace(asked, subject=replace(asked.subject, to=address("real@x.example")))
    scenario.when(there).then(status=409, code="permit_held", events=[])


def test_a_key_for_others_learns_no_address_of_a_threads_customer() -> None:
    few = replace(POLLER, limits=KeyLimits.of(customers=["test_*"]))
    for to in ("real@x.example", "guess@x.example"):
        scenario = given(*SQUATTED).when(intent("a", "thr_r", to=to, by=few))
        scenario.then(status=403, code="key_limit", events=[])


def test_a_lively_conversation_is_answered_until_the_guard() -> None:
    policy = Policy(replies_per_thread_hour=2)
    scenario = given(*talk(2), message("<n@x>"), policy=policy)
    scenario.when(reply("<n@x>")).then(status=429, code="loop_guard")


def test_replies_in_a_thread_of_another_customer_after_a_move_keep_the_threads_count() -> None:
    scenario = given(*talk(5), message("<n@x>", customer="cus_2"))
    scenario.when(reply("<n@x>")).then(status=429, code="loop_guard")
