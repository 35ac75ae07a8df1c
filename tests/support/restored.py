"""The scenario of a restored backup: forty reminders are missing in the restored ledger."""

from datetime import UTC, datetime
from typing import Any

from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, CallResume, NoteGuardCheck, ReportOutcome
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.application.facts.send_observed import SendObserved
from ledger.domain.control import CONTROL_ID, Control
from ledger.store.log.transcoding import read_event
from tests.integration.store.engines import ask, codes, invoice, rows

INVOICES = [f"inv-{number}" for number in range(40)]


async def tell_invoices(engine: Engine) -> None:
    """Forty invoices, each of a separate customer, four days overdue."""
    await engine.submit_all([invoice(i) for i in INVOICES])


async def grant_and_send(engine: Engine) -> None:
    """The forty day-3 reminders are granted and reported sent."""
    answers = await engine.submit_all([ask(i, stage="day-3") for i in INVOICES])
    assert codes(answers) == ["granted"] * 40
    ids = [answer.permit_id or "" for answer in answers]
    reports = await engine.submit_all([ReportOutcome(i, "sent", SYSTEM) for i in ids])
    assert {answer.status for answer in reports} == {200}


async def ask_again(engine: Engine) -> list[str]:
    """The answers to the forty requests."""
    return codes(await engine.submit_all([ask(i, stage="day-3") for i in INVOICES]))


async def import_sent_log(engine: Engine, at: datetime) -> list[str]:
    """Import the sends from the mail provider's log; returns the result of each."""
    facts = [
        Fact(SendObserved(f"customer of {i}", at, i, "day-3"), "provider", f"mail of {i}")
        for i in INVOICES
    ]
    answers = await engine.submit_all([ApplyFact(fact, SYSTEM) for fact in facts])
    return [answer.result for answer in answers]


async def resume(engine: Engine, database: str) -> None:
    """A human resumes, after a guard check that was made since and passed."""
    control = await control_of(database)
    now = datetime.now(UTC)
    note = NoteGuardCheck("check-1", now, control.version, (), SYSTEM)
    await engine.submit(note)
    answer = await engine.submit(CallResume("recovery", "log imported", "ann", "check-1", SYSTEM))
    assert answer.result == "applied", answer.body


async def control_of(database: str) -> Control:
    """The switches, replayed from the log."""
    found = await rows(
        database,
        "SELECT originator_version, topic, state FROM events WHERE originator_id = %s"
        " ORDER BY originator_version",
        CONTROL_ID,
    )
    control: Any = None
    for version, topic, state in found:
        control = read_event(CONTROL_ID, version, topic, state).mutate(control)
    assert isinstance(control, Control)
    return control


async def head_of(database: str) -> tuple[int, datetime]:
    """Position and time of the log's last event."""
    found = await rows(
        database, "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
    )
    position, at = found[0]
    return position, at
