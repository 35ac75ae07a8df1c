"""Idempotency-Keys name the retry: replayed, in conflict, released, or judged afresh (contract)."""

from typing import Any

import pytest

from ledger.application.kinds.reminder import Expected
from tests.support.build import (
    AGENT,
    POLLER,
    at,
    days,
    fact,
    intent,
    invoice,
    lapse,
    message,
    minutes,
    paid,
    redeem,
    reminder,
    report,
)
from tests.support.given import Scenario, given


def asked(key: str | None = "K", **how: Any) -> Scenario:
    return given(at("2026-12-04"), invoice(), reminder(stage="day-3", key=key, **how))


def test_the_same_request_hears_its_grant_again_as_200() -> None:
    scenario = asked()
    first = scenario.answer.body
    scenario.when(minutes(5), reminder(stage="day-3", key="K")).then(
        status=200, events=[], headers={"Idempotent-Replayed": "true"}
    )
    assert scenario.answer.body == first
    assert [row.replayed for row in scenario.store.decisions] == [False, True]
    assert [row.status for row in scenario.store.decisions] == [201, 200]


def test_what_is_expected_and_facts_that_ride_along_are_not_compared() -> None:
    asked().when(
        reminder(stage="day-3", key="K", expected={"inv_1": Expected(1, 5)}, facts=(invoice(),))
    ).then(status=200, headers={"Idempotent-Replayed": "true"})


def test_the_twin_in_the_same_transaction_is_a_replay_too() -> None:
    scenario = given(at("2026-12-04"), invoice())
    twin = reminder(stage="day-3", key="K")
    first, second = scenario.submit(twin, twin)
    assert (first.status, second.status) == (201, 200)
    assert first.body == second.body


def test_only_a_key_that_must_redeem_hears_a_replay() -> None:
    asked(by=AGENT).when(reminder(stage="day-3", key="K", by=AGENT)).then(
        status=409, code="permit_held", events=[]
    )


@pytest.mark.parametrize(
    ("since", "code"),
    [
        (redeem(), "permit_held"),
        (report(), "already_sent"),
        (report("unknown"), "outcome_unknown"),
    ],
)
def test_a_permit_that_is_no_longer_waiting_is_judged_afresh(since: Any, code: str) -> None:
    asked().when(since, reminder(stage="day-3", key="K")).then(status=409, code=code)


@pytest.mark.parametrize("freed", [report("rejected"), minutes(10)])
def test_a_freed_permit_releases_its_key(freed: Any) -> None:
    scenario = asked().when(freed, reminder(stage="day-3", key="K")).granted_now()
    scenario.when(reminder(stage="day-3", key="K")).then(
        status=200, headers={"Idempotent-Replayed": "true"}
    )
    assert scenario.body["permit_id"] == scenario.granted[1]


@pytest.mark.parametrize("freed", [report("rejected"), minutes(10)])
def test_a_released_key_may_name_another_request(freed: Any) -> None:
    scenario = given(message(), intent("a", key="K"), freed)
    scenario.when(message(thread="thr_2", message_id="<m2@x>", customer="cus_2"))
    scenario.when(intent("b", thread="thr_2", key="K")).granted_now()


def test_the_same_key_for_another_request_is_a_conflict_that_tells_nothing() -> None:
    scenario = asked().when(invoice("inv_2"), reminder("inv_2", key="K"))
    scenario.then(status=422, code="key_conflict", events=["Invoice.Created", "Invoice.Observed"])
    assert scenario.granted[0] not in str(scenario.body)
    assert "permit_id" not in scenario.body
    scenario.when(report(), reminder("inv_2", key="K")).then(status=422, code="key_conflict")


def test_keys_belong_to_their_api_key() -> None:
    scenario = asked().when(invoice("inv_2"), reminder("inv_2", key="K", by=AGENT))
    scenario.granted_now()


def test_a_denial_binds_no_key() -> None:
    scenario = given(at("2026-12-03"), invoice(), reminder(key="K"))
    scenario.then(status=409, code="not_reached")
    scenario.when(invoice("inv_2", due="2026-11-25"), reminder("inv_2", key="K")).granted_now()
    scenario = given(at("2026-12-03"), invoice(), reminder(key="K"))
    scenario.when(days(1), reminder(key="K")).granted_now()


def test_a_key_is_forgotten_after_thirty_days() -> None:
    scenario = given(message(), intent("a", key="K"), report(), days(30))
    scenario.when(intent("b", key="K")).granted_now()
    scenario = given(message(), intent("a", key="K"), report(), days(29.9))
    scenario.when(intent("b", key="K")).then(status=422, code="key_conflict")


def test_one_send_under_several_keys_is_warned_of() -> None:
    warning = {"Ledger-Warning": "idempotency-key-changes"}
    asked().when(reminder(stage="day-3", key="L")).then(
        status=409, code="permit_held", headers=warning
    )
    asked().when(report(), reminder(stage="day-3", key="L")).then(
        status=409, code="already_sent", headers=warning
    )
    for first, then in (("K", None), (None, "L")):
        scenario = asked(first).when(reminder(stage="day-3", key=then))
        assert scenario.answer.headers == ()
    same = asked(by=AGENT).when(reminder(stage="day-3", key="K", by=AGENT))
    assert same.answer.headers == ()


def test_a_replay_after_it_was_paid_still_names_the_permit_and_the_redeem_refuses() -> None:
    scenario = asked().when(paid(30000), reminder(stage="day-3", key="K"))
    scenario.then(status=200, headers={"Idempotent-Replayed": "true"})
    scenario.when(redeem()).then(status=409, code="revoked")
    scenario.when(reminder(stage="day-3", key="K")).then(status=409, code="nothing_owed")


def test_every_request_has_one_row_in_the_decision_log() -> None:
    scenario = asked().when(
        reminder(stage="day-3", key="K"),
        reminder(stage="day-3", key="L"),
        reminder("inv_9"),
        redeem(),
        redeem(),
        redeem("00000000-0000-0000-0000-0000000000ff"),
        redeem(by=AGENT),
    )
    rows = [(row.operation, row.status, row.code) for row in scenario.store.decisions]
    assert rows == [
        ("permit", 201, None),
        ("permit", 200, None),
        ("permit", 409, "permit_held"),
        ("permit", 404, "unknown_invoice"),
        ("redeem", 200, None),
        ("redeem", 409, "already_redeemed"),
        ("redeem", 404, "unknown_permit"),
        ("redeem", 403, None),
    ]
    assert len({row.decision_id for row in scenario.store.decisions}) == 8
    assert {row.sender for row in scenario.store.decisions} == {"poller", "agent"}


def test_facts_are_taken_once_per_source_and_id() -> None:
    event = fact(paid(100), id="evt_1", source="stripe")
    scenario = given(invoice(), event)
    scenario.when(event).then(result="duplicate", events=[])
    scenario.when(fact(paid(100, id="pay_2"), id="evt_1", source="other")).then(result="applied")
    scenario.when(fact(paid(100, id="pay_3"), id="1evt_1", source="stripe")).then(result="applied")
    assert scenario.aggregate("invoice", "inv_1").standing.balance == 29700


def test_a_fact_that_was_rejected_may_come_again() -> None:
    event = fact(message(customer=None), id="evt_1", source="mail")
    scenario = given(event).then(result="rejected", events=[])
    scenario.when(message("<m0@x>"), event).then(result="applied")


def test_a_permit_lapsed_for_its_own_key_is_released_when_nobody_noticed() -> None:
    scenario = given(message(), intent("a", key="K"), minutes(10))
    scenario.when(message("<m2@x>", thread="thr_2", customer="cus_2"))
    scenario.when(intent("b", thread="thr_2", key="K")).granted_now()
    scenario = given(message(), intent("a", key="K", by=AGENT), minutes(10))
    scenario.when(message("<m2@x>", thread="thr_2", customer="cus_2"))
    scenario.when(intent("b", thread="thr_2", key="K", by=AGENT)).then(
        status=422, code="key_conflict"
    )
    scenario.when(lapse("$1")).then(result="applied")


def test_the_poller_asks_as_itself() -> None:
    assert asked().store.decisions[0].key_id == POLLER.key_id
