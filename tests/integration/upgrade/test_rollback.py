"""An older program on a newer database changes nothing, and says which program is wanted."""

import asyncio
import subprocess
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from api.cli.main import main
from ledger.store import migrate as module
from ledger.store.migrate import MigrationError, check_migrated, migrate, migrations
from tests.integration.store.engines import ask, body, engine_on, invoice
from tests.integration.upgrade.conftest import digest_of_log
from tests.support.service import ROOT, SERVE, service_environ
from tests.support.tampering import tamper

_OLDEST_DUMP = 5
"""The last migration that the dumped ledger has."""
_TOLD = "the database has migration 9999, which this version does not know: run a newer version"


@pytest.fixture
def newer(database: str) -> str:
    """A database that a version after this one has migrated."""
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO migrations (number, name, checksum) VALUES (9999, '9999_new.sql', '')"
        )
    return database


@pytest.mark.parametrize(
    "words", ["migrate", "keys list", "audit verify", "status", "projections rebuild invoices"]
)
def test_commands_refuse_a_database_of_a_newer_version(
    newer: str, tmp_path: Path, words: str
) -> None:
    done = CliRunner().invoke(main, words.split(), env=service_environ(newer, tmp_path))
    assert (done.exit_code, done.stderr) == (1, f"Error: {_TOLD}\n")


def test_the_service_does_not_start_on_a_database_of_a_newer_version(
    newer: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        SERVE, cwd=ROOT, env=service_environ(newer, tmp_path), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr.decode()) == (1, f"Error: {_TOLD}\n")
    assert not (tmp_path / "announced.json").exists()


def test_the_older_program_refuses_what_this_version_has_migrated(
    old_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the program of the dump would: it knows no migration after its own."""
    known, before = migrations(), digest_of_log(old_database)
    assert [m.number for m in migrate(old_database)] == [m.number for m in known[_OLDEST_DUMP:]]
    monkeypatch.setattr(module, "_read", lambda: iter(known[:_OLDEST_DUMP]))
    for refused in (migrate, check_migrated):
        with pytest.raises(MigrationError, match="which this version does not know: run a newer"):
            refused(old_database)
    assert digest_of_log(old_database) == before


_OF_TOMORROW = """
UPDATE events SET state = jsonb_set(state::jsonb, '{class_version}', '99')::json
WHERE topic = 'ledger:Invoice.Observed' AND originator_id = (
    SELECT originator_id FROM events WHERE state ->> 'invoice_id' = 'of tomorrow'
    AND topic = 'ledger:Invoice.Created'
)
"""


def test_nothing_is_granted_on_an_event_of_a_newer_version(database: str) -> None:
    """The schema is the same, so the older program starts; what it does not know it refuses."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("of tomorrow"), invoice("of today")])
        tamper(database, _OF_TOMORROW)
        async with engine_on(database) as engine:
            answers = await engine.submit_all([ask("of tomorrow"), ask("of today")])
        assert [answer.status for answer in answers] == [500, 201]
        assert body(answers[0])["detail"] == "the request could not be decided (NewerEvent)"

    asyncio.run(scenario())
