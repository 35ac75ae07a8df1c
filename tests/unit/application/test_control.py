"""Pauses, recovery, leases, incidents and apologies (D13, D14)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from ledger.application.commands import (
    CallPause,
    CallResume,
    CloseIncident,
    DeclareIncident,
    EnterRecovery,
    GiveUpLease,
    NoteGuardCheck,
    RequestPermit,
    TakeLease,
)
from tests.support.build import (
    AGENT,
    OPERATOR,
    POLLER,
    RECEIPTS,
    apology,
    at,
    customer,
    customer_hold,
    days,
    intent,
    invoice,
    message,
    minutes,
    notification,
    paid,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given


def pause(scope: str = "all") -> CallPause:
    return CallPause(scope, "flood", "ann", OPERATOR)


def resume(scope: str = "all", check: str | None = None) -> CallResume:
    return CallResume(scope, "all is well", "ann", check, OPERATOR)


def incident(id: str = "F1") -> DeclareIncident:
    begin, end = at("2026-01-01"), at("2026-01-02")
    return DeclareIncident(id, "flood", "a loop", begin, end, "ann", OPERATOR)


def checked(scenario: Scenario, id: str, failed: tuple[str, ...] = ()) -> NoteGuardCheck:
    """A guard check that starts and ends now."""
    version = scenario.aggregate("control", "ledger").version
    return NoteGuardCheck(id, scenario.store.now, version, failed, OPERATOR)


ASKS: dict[str, Callable[[], RequestPermit]] = {
    "reminder": lambda: reminder(),
    "receipt": lambda: notification(by=RECEIPTS),
    "notice": lambda: notification("n", by=AGENT),
    "reply": lambda: reply(),
    "message": lambda: intent(),
}


@pytest.mark.parametrize(
    ("scope", "stopped"),
    [
        ("all", {"reminder", "receipt", "notice", "reply", "message"}),
        ("outreach", {"reminder", "notice", "message"}),
        ("kind:reminder", {"reminder"}),
        ("kind:reply", {"reply"}),
        ("sender:agent", {"notice"}),
        ("sender:poller", {"reminder", "reply", "message"}),
        ("sender:nobody", set()),
    ],
)
def test_a_pause_binds_its_scope(scope: str, stopped: set[str]) -> None:
    for name, ask in ASKS.items():
        scenario = given(at("2026-12-04"), invoice(), message(), pause(scope), ask())
        assert (name, scenario.body.get("code")) == (name, "paused" if name in stopped else None)


def test_a_pause_since_the_grant_revokes_even_if_it_was_lifted() -> None:
    scenario = given(notification(), pause())
    scenario.when(redeem()).then(status=409, code="revoked")
    scenario = given(notification(), pause())
    scenario.when(checked(scenario, "g1"), resume(check="g1")).then(result="applied")
    scenario.when(redeem()).then(status=409, code="revoked")
    scenario.when(notification(), redeem()).then(status=200)


def test_a_pause_of_another_scope_revokes_nothing() -> None:
    given(notification(), pause("kind:reminder"), redeem()).then(status=200)


def test_a_resume_needs_a_passed_guard_check_started_since_the_pause() -> None:
    scenario = given(at("2026-01-01T10:00Z"))
    early = checked(scenario, "early")
    scenario.when(minutes(1), pause())
    scenario.when(resume()).then(status=409, code="guard_not_proven", events=[])
    scenario.when(early, resume(check="early")).then(status=409, code="guard_not_proven")
    scenario.when(checked(scenario, "bad", ("probe-2",))).then(
        result="applied", events=["Control.GuardChecked"], alerts=["guard_failed"]
    )
    scenario.when(resume(check="bad")).then(status=409, code="guard_not_proven")
    scenario.when(resume(check="nobody's")).then(status=409, code="guard_not_proven")
    scenario.when(checked(scenario, "good"), resume(check="good")).then(
        result="applied", events=["Control.GuardChecked", "Control.Resumed"]
    )
    scenario.when(resume(check="good")).then(result="ignored", events=[])
    scenario.when(notification()).granted_now()


def test_pauses_are_lifted_one_by_one_and_called_again_start_over() -> None:
    scenario = given(pause("all"), pause("outreach"))
    scenario.when(checked(scenario, "g"), resume("all", "g"), notification())
    scenario.then(status=409, code="paused")
    scenario.when(reply(facts=(message(),))).granted_now()
    scenario.when(minutes(1), pause("outreach"), resume("outreach", "g"))
    scenario.then(status=409, code="guard_not_proven")


def test_recovery_denies_everything_until_a_human_resumes() -> None:
    scenario = given(at("2026-12-04"), invoice(), incident(), message(), pause("sender:x"))
    entered = EnterRecovery("an older copy", at("2026-12-01"))
    scenario.when(entered).then(result="applied", alerts=["recovery_mode"])
    scenario.when(entered).then(result="ignored", alerts=[])
    for ask in (reminder(), notification(by=RECEIPTS), reply(), apology()):
        scenario.when(ask).then(status=409, code="recovery_mode", events=[])
    scenario.when(resume("recovery")).then(status=409, code="guard_not_proven")
    scenario.when(checked(scenario, "g"), resume("recovery", "g")).then(result="applied")
    scenario.when(reminder()).granted_now()


def lease(holder: str = "w1", ttl: int = 60) -> TakeLease:
    return TakeLease("dunning", holder, ttl, POLLER)


def given_up(holder: str = "w1", token: int = 1) -> GiveUpLease:
    return GiveUpLease("dunning", holder, token, POLLER)


def test_a_job_has_one_owner_at_a_time() -> None:
    scenario = given(lease()).then(status=200, body={"token": 1, "expires_at": _in(60)})
    scenario.when(lease("w2")).then(status=409, code="not_owner", body={"available_at": _in(60)})
    scenario.when(minutes(0.5), lease()).then(
        status=200, events=["Job.LeaseRenewed"], body={"token": 1, "expires_at": _in(90)}
    )
    scenario.when(at("2026-01-01T00:01:29Z"), lease("w2")).then(status=409, code="not_owner")
    scenario.when(at("2026-01-01T00:01:30Z"), lease("w2")).then(
        status=200, events=["Job.LeaseTaken"], body={"token": 2}
    )
    scenario.when(minutes(5), lease("w2")).then(
        status=200, events=["Job.LeaseTaken"], body={"token": 3}
    )


def _in(seconds: int) -> str:
    moment = datetime.fromtimestamp(at("2026-01-01").timestamp() + seconds, at("2026-01-01").tzinfo)
    return moment.isoformat().replace("+00:00", "Z")


def test_a_lease_given_up_is_free_and_its_token_is_worth_nothing() -> None:
    scenario = given(at("2026-12-04"), invoice(), lease())
    scenario.when(given_up("w2")).then(status=409, code="not_owner")
    scenario.when(given_up()).then(status=204)
    scenario.when(given_up()).then(status=204, events=[])
    scenario.when(reminder(token=1)).then(status=409, code="not_owner", events=[])
    scenario.when(lease("w2")).then(status=200, body={"token": 2})


def test_a_request_under_a_lease_needs_the_current_token() -> None:
    scenario = given(at("2026-12-04"), invoice())
    scenario.when(reminder(token=1)).then(status=409, code="not_owner")
    scenario.when(lease()).when(reminder(token=2)).then(status=409, code="not_owner")
    scenario.when(reminder(token=1)).granted_now()
    scenario.when(report(), minutes(2), invoice("b"), reminder("b", token=1)).then(
        status=409, code="not_owner"
    )
    scenario.when(lease("w2"), reminder("b", token=1)).then(status=409, code="not_owner")
    scenario.when(reminder("b", token=2)).granted_now()


def flooded() -> Scenario:
    """Two open invoices, a full window, an open breaker, an incident, a pause."""
    return given(
        at("2026-07-15T08:00Z"),
        invoice("31a", due="2026-07-01", owes=12000),
        invoice("31b", due="2026-07-01", owes=30000),
        paid(25000, "31b"),
        notification("1"),
        report(),
        notification("2"),
        report(),
        notification("3"),
        incident(),
        pause("kind:reminder"),
    )


def test_an_apology_passes_pause_and_breaker_once_with_the_right_balance() -> None:
    scenario = flooded().when(pause("all"), apology()).granted_now()
    statement = scenario.event("Incident.ApologyPermitted").statement
    assert statement.owed == {"USD": 17000}
    assert [(line.invoice_id, line.amount_remaining) for line in statement.open_invoices] == [
        ("31a", 12000),
        ("31b", 5000),
    ]
    scenario.when(apology(by=AGENT)).then(status=409, code="permit_held")
    scenario.when(redeem()).then(status=200)
    scenario.when(report(), days(1), apology()).then(status=409, code="apology_already_sent")
    scenario.when(reminder("31a")).then(status=409, code="paused")


def test_an_apology_counts_in_the_window_of_outreach() -> None:
    scenario = given(customer(), incident(), pause("sender:x"), apology(), report())
    scenario.when(notification("1"), notification("2")).then(status=429, code="cap_reached")


@pytest.mark.parametrize(
    ("steps", "code", "status"),
    [
        ([apology("nobody")], "unknown_customer", 404),
        ([apology(incident="F9")], "unknown_incident", 404),
        ([CloseIncident("F1", "ann", OPERATOR), apology()], "unknown_incident", 404),
        ([customer_hold(), apology()], "on_hold", 409),
    ],
)
def test_why_an_apology_is_refused(steps: list[Any], code: str, status: int) -> None:
    flooded().when(*steps).then(status=status, code=code)


def test_an_apology_needs_a_pause_in_force() -> None:
    scenario = given(customer(), incident())
    scenario.when(apology()).then(status=409, code="not_paused", events=[])
    scenario.when(pause("sender:x"), apology()).granted_now()


def test_one_apology_in_thirty_days_over_all_incidents() -> None:
    scenario = flooded().when(apology(), report(), incident("F2"))
    scenario.when(apology(incident="F2")).then(status=409, code="apology_already_sent")
    scenario.when(days(30), apology(incident="F2")).granted_now()
    scenario.when(apology()).then(status=409, code="apology_already_sent")


def test_an_apology_of_unknown_outcome_is_never_made_again_by_a_machine() -> None:
    scenario = flooded().when(apology(), redeem(), minutes(10), apology())
    scenario.then(status=409, code="outcome_unknown")
    scenario.when(days(31), apology()).then(status=409, code="outcome_unknown")


def test_an_apology_that_was_refused_may_be_made_again() -> None:
    scenario = flooded().when(apology(), redeem(), report("rejected"), apology())
    scenario.granted_now()


def test_an_apology_refused_three_times_is_held() -> None:
    scenario = flooded()
    for _ in range(3):
        scenario.when(apology(), report("rejected")).then(status=200)
    scenario.when(apology()).then(status=409, code="on_hold")


def test_incidents_are_closed_once() -> None:
    scenario = given(incident()).then(status=201, events=["Incident.Created"])
    close = CloseIncident("F1", "ann", OPERATOR)
    scenario.when(close).then(result="applied", events=["Incident.Closed"])
    scenario.when(close).then(result="ignored", events=[])
    scenario.when(CloseIncident("F9", "ann", OPERATOR)).then(status=404, code="unknown_incident")


def test_ids_of_the_guard_checks_customers_are_refused_in_public() -> None:
    for ask in (notification(customer="ledger-probe-1"), intent(customer="ledger-probe-1")):
        given(ask).then(status=422, code="invalid_request", events=[])


def test_thirty_days_count_from_when_the_apology_went_out_however_late_it_is_told() -> None:
    scenario = given(customer(), incident(), incident("F2"), pause("sender:x"), apology())
    scenario.when(minutes(10), apology(incident="F9"))
    for day in range(2, 30):
        scenario.when(at(f"2026-01-{day:02d}"), notification(str(day)), report())
    scenario.when(report(permit="$1")).then(status=200, alerts=["sent_after_expiry"])
    scenario.when(apology(incident="F2")).then(status=409, code="apology_already_sent")
    scenario.when(at("2026-01-31T00:09:59Z"), apology(incident="F2"))
    scenario.then(status=409, code="apology_already_sent")
    scenario.when(at("2026-01-31T00:10Z"), apology(incident="F2")).granted_now()
