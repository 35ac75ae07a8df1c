"""Pauses and resumes: what a pause binds, and the guard check that a resume needs (D13)."""

from dataclasses import replace
from typing import Any

import pytest

from ledger.application.caller import SYSTEM
from ledger.application.commands import (
    CallPause,
    CallResume,
    DeclareIncident,
    EnterRecovery,
    NoteGuardCheck,
)
from ledger.domain.control import CONTROL_ID
from ledger.domain.identity import RESERVED_CUSTOMER_PREFIX
from tests.support.build import (
    OPERATOR,
    POLLER,
    apology,
    at,
    customer,
    invoice,
    minutes,
    notification,
    redeem,
    reminder,
)
from tests.support.given import Scenario, given

NOON = at("2026-12-08T12:00:00Z")
PROBE = f"{RESERVED_CUSTOMER_PREFIX}1"
INCIDENT = DeclareIncident("F1", "flood", "bug", at("2026-12-07"), NOON, "ann", OPERATOR)


def pause(scope: str = "all") -> CallPause:
    """A pause of that scope."""
    return CallPause(scope, "a flood", "ann", OPERATOR)


def resume(check: str | None = "g1", scope: str = "all") -> CallResume:
    """A resume that names that guard check."""
    return CallResume(scope, "mended", "ann", check, OPERATOR)


def checked(
    scenario: Scenario, check: str = "g1", *, version: int | None = None, failed: Any = ()
) -> Scenario:
    """A guard check that started at that version of the control aggregate, by default now."""
    if version is None:
        version = scenario.store.replay()[CONTROL_ID].version
    return scenario.when(
        NoteGuardCheck(check, scenario.store.now, version, tuple(failed), OPERATOR)
    )


def paused(scope: str = "all") -> Scenario:
    """A ledger that was paused at noon."""
    return given(NOON, invoice(), pause(scope))


def test_a_resume_needs_a_check_that_passed_since_the_pause() -> None:
    scenario = paused()
    scenario.when(resume(None)).then(status=409, code="guard_not_proven", events=[])
    scenario.when(resume("nobody's")).then(status=409, code="guard_not_proven")
    checked(scenario).when(resume()).then(status=200, result="applied", events=["Control.Resumed"])
    event = scenario.event("Control.Resumed")
    assert (event.by, event.reason, event.guard_check_id) == ("ann", "mended", "g1")
    scenario.when(reminder()).granted_now()


def test_a_check_before_the_pause_proves_nothing_also_at_the_same_instant() -> None:
    scenario = checked(given(NOON, invoice())).when(pause())
    scenario.when(resume()).then(status=409, code="guard_not_proven")
    started_before = scenario.store.replay()[CONTROL_ID].version - 1
    checked(scenario, "g2", version=started_before)
    scenario.when(resume("g2")).then(status=409, code="guard_not_proven")


def test_a_second_pause_of_the_scope_asks_for_a_new_check() -> None:
    scenario = checked(paused()).when(pause())
    scenario.when(resume()).then(status=409, code="guard_not_proven")
    checked(scenario, "g2").when(resume("g2")).then(result="applied")


def test_one_check_lifts_every_pause_that_was_called_before_it() -> None:
    scenario = checked(paused().when(pause("outreach")))
    scenario.when(resume()).then(result="applied")
    scenario.when(reminder()).then(status=409, code="paused")
    scenario.when(resume(scope="outreach")).then(result="applied")
    scenario.when(reminder()).granted_now()


def test_a_check_that_failed_pages_and_lifts_nothing() -> None:
    scenario = checked(paused(), failed=["clock_sane"]).then(alerts=["guard_failed"])
    scenario.when(resume()).then(status=409, code="guard_not_proven")


def test_recovery_ends_by_a_check_that_started_since() -> None:
    scenario = checked(given(NOON, invoice()))
    scenario.when(EnterRecovery("an older copy", None, OPERATOR))
    scenario.when(resume(scope="recovery")).then(status=409, code="guard_not_proven")
    checked(scenario, "g2").when(resume("g2", "recovery")).then(result="applied")
    scenario.when(reminder()).granted_now()


def test_all_ends_recovery_where_no_pause_of_that_scope_is_in_force() -> None:
    scenario = given(NOON, invoice(), EnterRecovery("an older copy", None, OPERATOR))
    scenario.when(resume(None)).then(status=409, code="guard_not_proven", events=[])
    checked(scenario).when(resume()).then(result="applied", events=["Control.RecoveryEnded"])
    scenario.when(reminder()).granted_now()


def test_all_lifts_a_pause_and_leaves_recovery_to_another_word() -> None:
    scenario = checked(paused().when(EnterRecovery("an older copy", None, OPERATOR)))
    scenario.when(resume()).then(result="applied", events=["Control.Resumed"])
    scenario.when(reminder()).then(status=409, code="recovery_mode")
    scenario.when(resume()).then(result="applied", events=["Control.RecoveryEnded"])


def test_another_scope_never_ends_recovery() -> None:
    scenario = checked(given(NOON, invoice(), EnterRecovery("an older copy", None, OPERATOR)))
    scenario.when(resume(scope="outreach")).then(result="ignored", events=[])
    scenario.when(reminder()).then(status=409, code="recovery_mode")


@pytest.mark.parametrize("stop", [pause(), EnterRecovery("an older copy", None, OPERATOR)])
def test_probes_pass_a_pause_and_recovery_and_nobody_else_may_use_their_names(stop: Any) -> None:
    probe = replace(SYSTEM, name="guard-check")
    scenario = given(NOON, stop, notification("probe", customer=PROBE, by=probe)).granted_now()
    scenario.when(redeem(by=probe)).then(status=200)
    scenario.when(notification("mine", customer=PROBE, by=POLLER))
    scenario.then(status=422, code="invalid_request", events=[])


@pytest.mark.parametrize("scope", ["all", "outreach", "kind:notification", "sender:poller"])
def test_an_apology_passes_a_pause(scope: str) -> None:
    scenario = paused(scope).when(INCIDENT, customer(), apology()).granted_now()
    scenario.when(minutes(1), redeem()).then(status=200)


def test_a_pause_that_names_apologies_holds_them_back() -> None:
    scenario = paused("kind:apology").when(INCIDENT, customer(), apology())
    scenario.then(status=409, code="paused")


def test_live_permits_of_before_the_pause_fail_to_redeem_also_after_the_resume() -> None:
    scenario = given(NOON, invoice(), reminder()).when(pause())
    checked(scenario).when(resume()).then(result="applied")
    scenario.when(redeem()).then(status=409, code="revoked")
