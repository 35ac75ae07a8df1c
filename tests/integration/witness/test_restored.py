"""A restored database is noticed whatever way it came back; a failover without loss goes on."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.migrate import migrate
from tests.integration.store.engines import ask, codes, granted, invoice, rows
from tests.integration.witness.conftest import Running
from tests.support.backups import base_backup, copy_files, dump, put_in_place, restore_dump
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

Step = Callable[[], None]
FORTY = len(INVOICES)


@dataclass(frozen=True)
class Place:
    """A database, and ways to back it up and to put the backup in its place."""

    database: str
    back_up: Step
    restore: Step


@pytest.fixture
def dumped(database: str, tmp_path: Path) -> Place:
    """By pg_dump, into the same server."""
    file = tmp_path / "ledger.dump"
    return Place(database, lambda: dump(database, file), lambda: restore_dump(database, file))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EmbeddedPostgres, Path]]:
    """A server of this module's own, and its data folder."""
    folder = tmp_path_factory.mktemp("own") / "ledger"
    with EmbeddedPostgres(folder, settings={"fsync": "off"}) as server:
        yield server, folder / "pgdata"


@pytest.fixture(params=["copied", "base backup"])
def files(
    request: pytest.FixtureRequest, server: tuple[EmbeddedPostgres, Path], tmp_path: Path
) -> Iterator[Place]:
    """By the files of the data folder: copied while the server is down, or by pg_basebackup."""
    postgres, pgdata = server
    backup = tmp_path / "backup"

    def copy() -> None:
        postgres.stop()
        copy_files(pgdata, backup)
        postgres.start()

    def restore() -> None:
        postgres.stop()
        put_in_place(backup, pgdata)
        postgres.start()

    with fresh_database(postgres.start()) as database:
        migrate(database)
        copied = request.param == "copied"
        yield Place(database, copy if copied else lambda: base_backup(database, backup), restore)


async def story(place: Place, running: Running) -> None:
    """Backup, forty sends, restore: denied; sent log imported: known; a human resumes."""
    database = place.database
    async with running(database) as engine:
        await tell_invoices(engine)
    _, backed_up_at = await head_of(database)
    place.back_up()
    async with running(database) as engine:
        await grant_and_send(engine)
    _, lost_at = await head_of(database)

    place.restore()
    async with running(database) as engine:
        assert await ask_again(engine) == ["recovery_mode"] * FORTY
        control = await control_of(database)
        assert control.import_from == backed_up_at
        assert control.recovery_since is not None
        assert control.recovery_since > lost_at
        assert await granted(database) == []
        alerts = await rows(database, "SELECT kind, summary FROM alerts")
        assert [kind for kind, _ in alerts] == ["recovery_mode"]
        assert control.recovery_cause is not None
        assert control.recovery_cause in alerts[0][1]

        assert set(await import_sent_log(engine, lost_at)) == {"applied"}
        assert await ask_again(engine) == ["already_sent"] * FORTY
        await engine.submit(invoice("another"))
        assert codes([await engine.submit(ask("another"))]) == ["recovery_mode"]
        await resume(engine, database)
        assert await ask_again(engine) == ["already_sent"] * FORTY
        assert codes([await engine.submit(ask("another"))]) == ["granted"]
    async with running(database) as engine:
        assert (await control_of(database)).recovery_since is None
        assert codes([await engine.submit(ask("another"))]) == ["permit_held"]


def test_a_dump_is_noticed(dumped: Place, running: Running) -> None:
    asyncio.run(story(dumped, running))


def test_restored_files_are_noticed(files: Place, running: Running) -> None:
    asyncio.run(story(files, running))


@pytest.mark.parametrize("files", ["copied"], indirect=True)
def test_a_restore_is_noticed_by_an_engine_that_runs_on(files: Place, running: Running) -> None:
    """The engine's own memory tells, also where it has no file: its connection was lost."""

    async def scenario() -> None:
        async with running(files.database) as engine:
            await tell_invoices(engine)
            _, backed_up_at = await head_of(files.database)
            files.back_up()
            await grant_and_send(engine)
            files.restore()
            assert await ask_again(engine) == ["recovery_mode"] * FORTY
            assert (await control_of(files.database)).import_from == backed_up_at
            assert await granted(files.database) == []

    asyncio.run(scenario())


@pytest.mark.parametrize("files", ["base backup"], indirect=True)
def test_a_failover_without_loss_goes_on(files: Place, running: Running) -> None:
    """The copy that takes over has every commit: nothing is denied, nothing is sent twice."""

    async def scenario() -> None:
        async with running(files.database) as engine:
            await tell_invoices(engine)
            await grant_and_send(engine)
            before = await head_of(files.database)
            files.back_up()
            files.restore()
            assert await ask_again(engine) == ["already_sent"] * FORTY
            await engine.submit(invoice("another"))
            assert codes([await engine.submit(ask("another"))]) == ["granted"]
        async with running(files.database) as engine:
            assert await ask_again(engine) == ["already_sent"] * FORTY
        assert (await control_of(files.database)).recovery_since is None
        assert await head_of(files.database) > before

    asyncio.run(scenario())
