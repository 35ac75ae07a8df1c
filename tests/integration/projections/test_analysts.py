"""A role for analysts reads the views and nothing else, and holds nobody up."""

import asyncio
import os
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ledger.domain.policy import Policy
from ledger.store.embedded.cluster import SUPERUSER
from projections.analysts import grant_analyst, grant_script
from projections.schema import prepare
from projections.views import VIEWS
from tests.integration.store.engines import ask, codes, engine_on, invoice
from tests.support.postgres import superuser

LIMITS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "1min",
    "lock_timeout": "1s",
    "idle_in_transaction_session_timeout": "10s",
    "max_parallel_workers_per_gather": "0",
}


@pytest.fixture
def analyst(database: str) -> Iterator[str]:
    """The conninfo of an analyst of a ledger with a reminder on record; they may log in."""
    role = f"analyst_{uuid.uuid4().hex[:8]}"
    asyncio.run(prepare(database, Policy()))

    async def history() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("inv-1"), invoice("inv-2")])
            assert codes([await engine.submit(ask("inv-1"))]) == ["granted"]

    asyncio.run(history())
    grant_analyst(make_conninfo(database, user=SUPERUSER), role)
    with superuser(database) as server:
        folder = Path(str(conninfo_to_dict(database)["host"])).parent
        (path,) = folder.rglob("pg_hba.conf")
        before = path.read_text()
        stat = path.stat()
        path.write_text(f"local all {role} trust\n{before}")
        os.chown(path, stat.st_uid, stat.st_gid)
        server.execute("SELECT pg_reload_conf()")
        try:
            yield make_conninfo(database, user=role)
        finally:
            path.write_text(path.read_text().replace(f"local all {role} trust\n", ""))
            server.execute("SELECT pg_reload_conf()")
            name = str(conninfo_to_dict(database)["dbname"])
            with superuser(database, name) as inside:
                inside.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
            server.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def logged_in(analyst: str) -> psycopg.Connection:
    """A connection of the analyst; the server takes a moment to read its new rules."""
    for _ in range(500):
        try:
            return psycopg.connect(analyst, autocommit=True)
        except psycopg.OperationalError:
            threading.Event().wait(0.01)
    return psycopg.connect(analyst, autocommit=True)


def test_the_views_and_nothing_else(database: str, analyst: str) -> None:
    with psycopg.connect(database) as owner:
        tables = owner.execute(
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v')"
            " AND (n.nspname = 'public' OR n.nspname LIKE 'projection%')"
        ).fetchall()
    assert len(tables) > 30
    with logged_in(analyst) as connection:
        for view in VIEWS:
            connection.execute(f"SELECT * FROM {view}".encode())
        found = connection.execute("SELECT operation, invoice_id, is_granted FROM decisions")
        assert found.fetchall() == [("permit", "inv-1", True)]
        for (table,) in tables:
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(f"TABLE {table}".encode())
        connection.execute("SET default_transaction_read_only = off")
        connection.execute("SET search_path = public")
        for statement in (
            "SELECT take_writer_lock()",
            "SELECT * FROM begin_batch()",
            "SELECT append_batch(changed_permits => '[]')",
            "DO $$ BEGIN LOCK TABLE events IN ACCESS SHARE MODE; END $$",
            "DO $$ BEGIN LOCK TABLE analytics.sends IN ROW EXCLUSIVE MODE; END $$",
            "DELETE FROM analytics.feeds",
            "CREATE TABLE analytics.mine (a int)",
            "CREATE TABLE public.mine (a int)",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_its_sessions_are_limited(analyst: str) -> None:
    with logged_in(analyst) as connection:
        found = {name: connection.execute(f"SHOW {name}".encode()).fetchone() for name in LIMITS}
        assert found == {name: (value,) for name, value in LIMITS.items()}
        with pytest.raises(errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TEMPORARY TABLE mine (a int)")
        others = [logged_in(analyst) for _ in range(3)]
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            psycopg.connect(analyst)
        for other in others:
            other.close()


def test_permits_go_on_beside_a_bad_query_and_a_forgotten_transaction(
    database: str, analyst: str
) -> None:
    bad = (
        "SELECT count(*) FROM sends a, pg_class b, pg_class c, pg_class d, generate_series(1, 1000)"
        " UNION ALL SELECT count(*) FROM pg_class a, pg_class b, pg_class c, decisions"
    )
    with logged_in(analyst) as forgotten, logged_in(analyst) as busy, superuser(database) as server:
        forgotten.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        assert forgotten.execute("SELECT count(*) FROM decisions").fetchone() == (1,)
        told: list[type[Exception]] = []

        def ask_badly() -> None:
            try:
                busy.execute(bad.encode())
            except psycopg.Error as error:
                told.append(type(error))

        asked = threading.Thread(target=ask_badly)
        asked.start()
        pid = busy.info.backend_pid
        running = "SELECT state = 'active' FROM pg_stat_activity WHERE pid = %s"
        while server.execute(running, (pid,)).fetchone() != (True,):
            threading.Event().wait(0.01)

        async def goes_on() -> None:
            async with engine_on(database) as engine:
                async with asyncio.timeout(10):
                    assert codes([await engine.submit(ask("inv-2"))]) == ["granted"]

        asyncio.run(goes_on())
        assert server.execute(running, (pid,)).fetchone() == (True,)
        assert forgotten.execute("SELECT count(*) FROM decisions").fetchone() == (1,)
        server.execute("SELECT pg_cancel_backend(%s)", (pid,))
        asked.join()
        assert told == [errors.QueryCanceled]


def test_a_role_that_could_do_more_is_refused(database: str) -> None:
    asyncio.run(prepare(database, Policy()))
    as_superuser = make_conninfo(database, user=SUPERUSER)
    for role in ("ledger", SUPERUSER):
        with pytest.raises(errors.RaiseException, match="could do more than read"):
            grant_analyst(as_superuser, role)
    with pytest.raises(errors.InsufficientPrivilege):
        grant_analyst(database, "analyst_new")


def test_the_script_names_the_role_safely() -> None:
    assert grant_script("o'brien").startswith("SET ledger.analyst = 'o''brien';\n--")
