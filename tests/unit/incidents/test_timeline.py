"""The timeline of an incident: what is told, in which order, and what belongs to another one."""

from datetime import timedelta
from typing import Any

from api.incidents.timeline import timeline_of
from ledger.domain.incident import Apology, Incident
from ledger.store.looking_back.incident_acts import Closed, Switched
from projections.affected import AlertsOfKind, Summary
from tests.support.build import at

START = at("2026-07-14T00:00:00Z")
NOBODY = Summary(0, 0, 0, None, None, None, None, None, None)


def hour(number: float) -> Any:
    """An hour of the day of the flood."""
    return START + timedelta(hours=number)


def incident(*, closed: float | None = None, apologies: tuple[float, ...] = ()) -> Incident:
    """An incident that ann declared at ten o'clock."""
    made: Any = Incident.Created
    found: Incident = made(
        originator_id=Incident.create_id(),
        originator_version=1,
        timestamp=hour(10),
        originator_topic=Incident.TOPIC,
        incident_id="F1",
        title="t",
        cause="c",
        window_from=START,
        window_to=hour(9),
        declared_by="ann",
    ).mutate(None)
    for number, made_at in enumerate(apologies):
        found.apologies[f"cus_{number}"] = Apology("p", "sent", "worker", hour(made_at))
    if closed is not None:
        found.closed_at, found.closed_by = hour(closed), "bob"
    return found


def switch(name: str, when: float, **fields: Any) -> Switched:
    """A switch that somebody moved."""
    return Switched(1, name, {"by": "ann", "reason": "r", "scope": "all"} | fields, hour(when))


def alerts(
    kind: str, when: float, count: int = 1, delivered: float | None = None, **acked: Any
) -> AlertsOfKind:
    """Alerts of a kind."""
    first = None if delivered is None else hour(delivered)
    by = acked.get("by")
    seen = None if by is None else hour(acked["at"])
    return AlertsOfKind(kind, count, hour(when), "cus_1", 0, first, seen, by)


def told(*args: Any) -> list[str]:
    """The timeline, each entry as `what@hour`."""
    return [f"{e.what}@{(e.at - START).total_seconds() / 3600:g}" for e in timeline_of(*args)]


def test_the_story_in_its_order() -> None:
    summary = Summary(2, 50, 50, 30, 30, hour(1), hour(8), hour(2), "cus_1")
    found = [
        alerts("breaker_opened", 2.5, 2, delivered=2.75, by="eve", at=3),
        alerts("permit_unknown", 7, delivered=7.5),
    ]
    switches = [
        switch("Paused", 9.5),
        switch("GuardChecked", 12, passed=False, failed=["clock_sane"]),
        switch("GuardChecked", 13, passed=True, failed=[]),
        switch("Resumed", 14, guard_check_id="g"),
    ]
    entries = timeline_of(incident(closed=15, apologies=(11, 11.5)), summary, found, switches)
    assert [(e.what, (e.at - START).total_seconds() / 3600) for e in entries] == [
        ("first_bad_send", 2),
        ("breaker_opened", 2.5),
        ("page", 2.75),
        ("acknowledged", 3),
        ("permit_unknown", 7),
        ("last_mail", 8),
        ("paused", 9.5),
        ("declared", 10),
        ("first_apology", 11),
        ("last_apology", 11.5),
        ("guard_check", 12),
        ("guard_check", 13),
        ("resumed", 14),
        ("closed", 15),
    ]
    texts = {e.what: e.text for e in entries}
    assert texts["first_bad_send"] == "The first mail too many went out, to customer cus_1"
    assert texts["breaker_opened"] == "A breaker opened (customer cus_1); 2 times in all"
    assert texts["acknowledged"] == "eve acknowledged the page"
    assert [e.text for e in entries if e.what == "guard_check"] == [
        "A guard check failed: clock_sane",
        "A guard check passed",
    ]
    assert texts["resumed"] == "ann resumed all: r"
    assert texts["last_apology"] == "The last of 2 apologies was made"


def test_where_nothing_happened_only_the_declaration_is_told() -> None:
    assert told(incident(), NOBODY, [], []) == ["declared@10"]


def test_an_alert_that_reached_nobody_is_no_page() -> None:
    assert told(incident(), NOBODY, [alerts("breaker_opened", 2)], []) == [
        "breaker_opened@2",
        "declared@10",
    ]


def test_after_the_close_only_the_resume_of_its_own_pauses_is_told() -> None:
    switches = [
        switch("Paused", 9, scope="outreach"),
        switch("Resumed", 9.5, scope="kind:digest"),
        switch("Paused", 12, scope="kind:reply"),
        switch("GuardChecked", 13, passed=True, failed=[]),
        switch("Resumed", 14, scope="outreach"),
        switch("GuardChecked", 15, passed=True, failed=[]),
        switch("Resumed", 16, scope="kind:reply"),
        switch("RecoveryEntered", 17, cause="x"),
        switch("RecoveryEnded", 18),
    ]
    assert told(incident(closed=11), NOBODY, [], switches) == [
        "paused@9",
        "declared@10",
        "closed@11",
        "guard_check@13",
        "resumed@14",
    ]


def test_recovery_mode_within_the_incident_is_told() -> None:
    switches = [switch("RecoveryEntered", 12, cause="an older copy"), switch("RecoveryEnded", 13)]
    assert told(incident(), NOBODY, [], switches)[1:] == [
        "recovery_entered@12",
        "recovery_ended@13",
    ]


def test_who_closed_breakers_is_told_in_one_line_for_each_reason() -> None:
    closed = [Closed("ann", "fixed", 400, hour(12)), Closed("bob", "checked", 1, hour(13))]
    entries = timeline_of(incident(), NOBODY, [], [], closed)
    assert [(e.at, e.text) for e in entries if e.what == "breakers_reset"] == [
        (hour(12), "ann closed the breakers of 400 customers: fixed"),
        (hour(13), "bob closed a breaker: checked"),
    ]
