"""A dry run says what the answer would be, and leaves no trace (design D5)."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from ledger.application.answers import Rehearsed
from ledger.application.caller import Caller, Riding
from ledger.application.commands import DryRun, RequestPermit
from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    OPERATOR,
    POLLER,
    at,
    intent,
    invoice,
    minutes,
    notification,
    paid,
    payment_failed,
    redeem,
    reminder,
    report,
)
from tests.support.given import Scenario, given

NOW = at("2026-12-10")
AGENT_ALONE = Caller(POLLER.key_id, "agent", frozenset({"send"}))
"""A key whose facts that ride along are kept with a grant only."""


def dry(*requests: RequestPermit) -> DryRun:
    """A dry run; of one request the answer is the request's."""
    return DryRun(requests, requests[0].caller, alone=len(requests) == 1)


def everything(scenario: Scenario) -> Any:
    """All that is stored."""
    store = deepcopy(scenario.store)
    return {name: getattr(store, name) for name in store.__slots__ if name != "keys"}


def known() -> Scenario:
    """An invoice of cus_1, nine days past due, with an address."""
    return given(at("2026-12-01"), invoice(email="pat@example.com"), NOW)


def sent_before() -> Scenario:
    """The reminder went out."""
    return known().when(reminder(), redeem(), report())


def full() -> Scenario:
    """The window for outreach is full, the breaker is closed."""
    return known().when(notification("1", by=AGENT), notification("2", by=AGENT))


def lapsed() -> Scenario:
    """A permit for the reminder was granted, and its time is up without the log saying so."""
    return known().when(reminder(), minutes(11))


CASES: dict[str, tuple[Callable[[], Scenario], RequestPermit, int, str | None]] = {
    "a yes": (known, reminder(), 201, None),
    "a yes that frees a lapsed permit": (lapsed, reminder(), 201, None),
    "already sent": (sent_before, reminder(), 409, "already_sent"),
    "a full window": (full, notification("3", by=AGENT), 429, "cap_reached"),
    "facts that ride along": (known, reminder(facts=(invoice(owes=0),)), 409, "nothing_owed"),
    "a new invoice": (known, reminder("inv_9", facts=(invoice("inv_9", "cus_9"),)), 201, None),
    "own facts": (known, reminder(by=AGENT_ALONE, facts=(invoice(owes=40_000),)), 201, None),
    "harmful facts": (
        known,
        reminder(by=AGENT_ALONE, facts=(invoice(owes=1),)),
        403,
        "riding_facts_refused",
    ),
    "another address": (
        known,
        notification("1", customer="cus_1", to="new@example.com"),
        201,
        None,
    ),
    "redeemed at once": (known, reminder(redeem=True), 201, None),
    "unknown": (known, reminder("inv_7"), 404, "unknown_invoice"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_answer_is_foretold_and_nothing_is_written(case: Any) -> None:
    start, request, status, code = case
    scenario = start()
    before = everything(scenario)
    for _ in range(3):
        (heard,) = scenario.submit(dry(request))
        assert everything(scenario) == before
        body = json.loads(heard.body)
        assert (body["dry_run"], body.get("code")) == (True, code)
        assert heard.status == (200 if status == 201 else status)
    scenario.when(request).then(status=status, code=code)
    if status == 201:
        real = {name: scenario.body.get(name) for name in body["would_grant"]}
        assert real == body["would_grant"]
    else:
        assert {n: v for n, v in body.items() if n != "dry_run"} == {
            n: v for n, v in scenario.body.items() if n != "decision_id"
        }


def test_a_yes_has_nothing_by_which_a_mail_could_go_out() -> None:
    (heard,) = known().submit(dry(reminder(redeem=True)))
    assert set(json.loads(heard.body)) == {"dry_run", "would_grant"}
    assert set(json.loads(heard.body)["would_grant"]) == {
        "kind", "customer_id", "items", "withheld", "send_by", "windows",
    }  # fmt: skip
    assert heard.permit_id is None
    assert b"pat@example.com" not in heard.body


def test_each_request_of_several_is_judged_after_those_before_it() -> None:
    scenario = known()
    before = everything(scenario)
    requests = [reminder(), reminder(), *(notification(event) for event in "123")]
    (heard,) = scenario.submit(dry(*requests))
    assert isinstance(heard, Rehearsed)
    bodies = [json.loads(item.body) for item in heard.items]
    codes = [body.get("code", "yes") for body in bodies]
    assert codes == ["yes", "permit_held", "yes", "cap_reached", "breaker_open"]
    assert "permit_id" not in bodies[1]
    assert bodies[1]["detail"].startswith("poller holds the live permit of an earlier request")
    assert everything(scenario) == before
    scenario.when(notification("2")).granted_now()


def test_a_dry_run_between_grants_of_one_transaction_changes_neither() -> None:
    scenario = known()
    one, dried, two = scenario.submit(reminder(), dry(notification("1")), notification("1"))
    assert (one.status, dried.status, two.status) == (201, 200, 201)
    assert json.loads(dried.body)["would_grant"]["windows"] == {
        "outreach_24h": {"used": 2, "limit": 2}
    }
    assert json.loads(two.body)["windows"] == {"outreach_24h": {"used": 2, "limit": 2}}


def test_trust_in_facts_is_what_it_is_for_a_request() -> None:
    nothing = Caller(POLLER.key_id, "none", frozenset({"send"}), rides=Riding.NONE)
    request = reminder(by=nothing, facts=(invoice(owes=40_000),))
    (heard,) = known().submit(dry(request))
    assert json.loads(heard.body)["code"] == "riding_facts_refused"


def test_requests_of_a_dry_run_within_trials_see_what_would_be_kept() -> None:
    scenario = known()
    before = everything(scenario)
    mine = reminder(by=AGENT_ALONE, facts=(invoice(owes=40_000),))
    harmful = reminder("inv_1", by=AGENT_ALONE, facts=(invoice(owes=1),))
    other = payment_failed(by=AGENT_ALONE)
    (heard,) = scenario.submit(dry(harmful, mine, other))
    assert isinstance(heard, Rehearsed)
    bodies = [json.loads(item.body) for item in heard.items]
    assert bodies[0]["code"] == "riding_facts_refused"
    assert bodies[1]["would_grant"]["items"][0]["amount_remaining"] == 40_000
    assert bodies[2]["would_grant"]["amount_remaining"] == 40_000
    assert everything(scenario) == before


def test_an_override_is_foretold_and_its_action_stays_free() -> None:
    scenario = sent_before()
    again = reminder(by=OPERATOR, override="act_1")
    (heard,) = scenario.submit(dry(again))
    assert heard.status == 200
    scenario.when(again).granted_now()


def test_facts_that_came_before_in_the_transaction_count() -> None:
    scenario = known()
    scenario.when(paid(30_000))
    (heard,) = scenario.submit(dry(intent(customer="cus_1")))
    assert heard.status == 200
    (heard,) = scenario.submit(dry(reminder()))
    assert json.loads(heard.body)["code"] == "nothing_owed"


def test_the_first_thing_that_a_ledger_hears_is_no_exception() -> None:
    scenario = Scenario(Policy())
    (heard,) = scenario.submit(dry(notification("1")))
    assert (heard.status, scenario.store.rows) == (200, [])
    dried, real = scenario.submit(dry(notification("1")), notification("1"))
    assert (dried.status, real.status) == (200, 201)
    assert scenario.store.rows[0].topic == "ledger:Control.Created"
