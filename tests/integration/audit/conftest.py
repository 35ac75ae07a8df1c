"""A ledger with a history of real decisions, and the command line on it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from ledger.application.caller import SYSTEM
from ledger.application.commands import ReportOutcome
from tests.integration.store.engines import ask, engine_on, invoice

Command = Callable[..., Result]


async def make_history(database: str, prefix: str = "inv", invoices: int = 12) -> None:
    """Invoices are told, reminders granted, some sent, some denied."""
    names = [f"{prefix}-{number}" for number in range(invoices)]
    async with engine_on(database) as engine:
        await engine.submit_all([invoice(name) for name in names])
        answers = await engine.submit_all([ask(name) for name in names])
        assert {answer.status for answer in answers} == {201}
        sent = [ReportOutcome(a.permit_id or "", "sent", SYSTEM) for a in answers[::2]]
        await engine.submit_all(sent)
        denied = await engine.submit_all([ask(name) for name in names])
        assert {answer.status for answer in denied} == {409}


@pytest.fixture
def history(database: str) -> str:
    """The database of a ledger with a history."""
    asyncio.run(make_history(database))
    return database


@pytest.fixture
def command(history: str, tmp_path: Path) -> Command:
    """`command("audit", "verify")`: send-ledger on that ledger, its data folder the test's own."""

    def run(*arguments: str, **env: str) -> Result:
        given = {
            "LEDGER_DATABASE_URL": history,
            "LEDGER_DATA_DIR": str(tmp_path / "data"),
            "LEDGER_SECRET": "0123456789abcdef0123456789abcdef",
            "LEDGER_CONFIG": "",
        }
        return CliRunner().invoke(main, arguments, env=given | env)

    return run
