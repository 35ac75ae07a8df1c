"""A witness of another ledger, a database that is new, and several processes with one witness."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from ledger.application.commands import Lapse
from ledger.store.migrate import migrate
from ledger.store.witness.witness_file import WitnessError, WitnessFile, check_witness
from tests.integration.store.engines import ask, body, codes, invoice
from tests.integration.witness.conftest import Running
from tests.support.backups import dump, restore_dump
from tests.support.postgres import fresh_database
from tests.support.restored import (
    INVOICES,
    ask_again,
    control_of,
    grant_and_send,
    head_of,
    import_sent_log,
    resume,
    tell_invoices,
)
from tests.support.tampering import tamper

NOBODY = "00000000-0000-0000-0000-000000000000"
FORTY = len(INVOICES)


def test_a_database_of_another_ledger_is_refused(
    postgres: str, database: str, running: Running, witness: Path
) -> None:
    """A database that was lost and made anew would let every mail out again."""

    async def scenario(other: str) -> None:
        async with running(database) as engine:
            await tell_invoices(engine)
            await grant_and_send(engine)
        kept = witness.read_text()
        async with running(other) as engine:
            answers = await engine.submit_all([invoice("inv-0"), ask("inv-0")])
            assert [answer.status for answer in answers] == [503, 503]
            detail = body(answers[1])["detail"]
            assert "holds the ledger" in detail
        assert witness.read_text() == kept
        with pytest.raises(WitnessError, match="restore a backup of it"):
            check_witness(other, witness)
        assert witness.read_text() == kept
        check_witness(database, witness)

    with fresh_database(postgres) as other:
        migrate(other)
        asyncio.run(scenario(other))


def test_an_emptied_database_of_the_same_ledger_is_a_loss(
    database: str, running: Running, tmp_path: Path
) -> None:
    """Restored from a backup of its first day: everything that was sent must be imported."""
    file = tmp_path / "empty.dump"
    dump(database, file)

    async def scenario() -> None:
        async with running(database) as engine:
            await tell_invoices(engine)
            await grant_and_send(engine)
        restore_dump(database, file)
        async with running(database) as engine:
            await tell_invoices(engine)
            assert await ask_again(engine) == ["recovery_mode"] * FORTY
        control = await control_of(database)
        assert control.recovery_since is not None
        assert control.import_from is None

    asyncio.run(scenario())


def test_a_log_that_grew_again_is_told_by_its_hashes(
    database: str, running: Running, tmp_path: Path
) -> None:
    """A process without any witness wrote on after the restore, past what had been seen."""
    file = tmp_path / "old.dump"

    async def scenario() -> None:
        async with running(database) as engine:
            await tell_invoices(engine)
            backed_up = await head_of(database)
            dump(database, file)
            await grant_and_send(engine)
        lost = await head_of(database)
        restore_dump(database, file)
        async with running(database, tmp_path / "nobody's.json") as blind:
            for n in range(3):
                await blind.submit_all([invoice(f"later-{n}-{i}") for i in range(60)])
        assert (await head_of(database))[0] > lost[0]
        async with running(database) as engine:
            assert await ask_again(engine) == ["recovery_mode"] * FORTY
        control = await control_of(database)
        assert control.import_from == backed_up[1]
        assert "another event stands there now" in (control.recovery_cause or "")

    asyncio.run(scenario())


@pytest.mark.parametrize("shared", [True, False], ids=["one file", "files of their own"])
def test_a_loss_is_noted_once_by_several_processes(
    database: str, running: Running, witness: Path, tmp_path: Path, shared: bool
) -> None:
    """One that slept through the recovery and the resume does not stop everything once more."""
    file = tmp_path / "old.dump"
    other = witness if shared else tmp_path / "other.json"

    async def scenario() -> None:
        async with running(database) as first, running(database, other) as second:
            await tell_invoices(first)
            dump(database, file)
            await grant_and_send(second)
            await first.submit(Lapse(NOBODY))
            _, lost_at = await head_of(database)
            restore_dump(database, file)
            assert await ask_again(first) == ["recovery_mode"] * FORTY
            await import_sent_log(first, lost_at)
            await resume(first, database)
            assert await ask_again(first) == ["already_sent"] * FORTY
            assert await ask_again(second) == ["already_sent"] * FORTY
            await second.submit(invoice("another"))
            assert codes([await second.submit(ask("another"))]) == ["granted"]
        assert (await control_of(database)).recovery_since is None
        end = await head_of(database)
        for path in {witness, other}:
            said = WitnessFile(path).read()
            assert said is not None
            assert said.mark.position <= end[0]
        async with running(database) as first, running(database, other) as second:
            for engine in (first, second):
                assert codes([await engine.submit(ask("another"))]) == ["permit_held"]

    asyncio.run(scenario())


def test_a_second_loss_is_noticed_too(database: str, running: Running, tmp_path: Path) -> None:
    """Also where the backup is from after the first recovery."""
    first_backup, second_backup = tmp_path / "first.dump", tmp_path / "second.dump"

    async def scenario() -> None:
        async with running(database) as engine:
            await tell_invoices(engine)
            dump(database, first_backup)
            await grant_and_send(engine)
            restore_dump(database, first_backup)
            assert await ask_again(engine) == ["recovery_mode"] * FORTY
            await resume(engine, database)
            _, backed_up_at = await head_of(database)
            dump(database, second_backup)
            await grant_and_send(engine)
            restore_dump(database, second_backup)
            assert await ask_again(engine) == ["recovery_mode"] * FORTY
            assert (await control_of(database)).import_from == backed_up_at

    asyncio.run(scenario())


def test_a_log_whose_end_was_cut_off_under_a_running_engine_is_noticed(
    database: str, running: Running
) -> None:
    """No connection is lost: the engine itself had seen more."""

    async def scenario() -> None:
        async with running(database) as engine:
            await tell_invoices(engine)
            end, _ = await head_of(database)
            await grant_and_send(engine)
            tamper(database, f"DELETE FROM events WHERE position > {end}")
            assert await ask_again(engine) == ["recovery_mode"] * FORTY

    asyncio.run(scenario())


def test_the_epoch_is_one_ledgers_own(postgres: str, database: str) -> None:
    with fresh_database(postgres) as other:
        migrate(other)
        epochs = []
        for conninfo in (database, other):
            with psycopg.connect(conninfo) as connection:
                row = connection.execute("SELECT value FROM settings WHERE name = 'epoch'")
                epochs.append(row.fetchall())
    assert len(epochs[0]) == len(epochs[1]) == 1
    assert epochs[0] != epochs[1]
