"""The embedded PostgreSQL in peace: start, stop, ownership, settings, folders."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ledger.store.embedded.postmaster import find_postmaster, serves
from ledger.store.embedded.server import EmbeddedPostgres, EmbeddedPostgresError
from tests.support.postgres import (
    KINDS,
    Kind,
    binaries_of,
    fresh_database,
    running_postgres,
    superuser,
)
from tests.support.postgres_owner import acting


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture(scope="module")
def folder(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a running server, below folders that only this user may pass."""
    folder = tmp_path_factory.mktemp(kind) / "ledger"
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)):
        yield folder


@pytest.fixture
def conninfo(folder: Path) -> str:
    found = EmbeddedPostgres.attach(folder)
    assert found is not None
    return found


def value(conninfo: str, query: str) -> object:
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_the_postgres_that_was_asked_for(kind: Kind, conninfo: str) -> None:
    major = {"embedded": 18, "debian15": 15}[kind]
    assert int(str(value(conninfo, "SHOW server_version_num"))) // 10000 == major


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("max_connections", "100"),
        ("shared_buffers", "256MB"),
        ("TimeZone", "UTC"),
        ("log_timezone", "UTC"),
        ("server_encoding", "UTF8"),
        ("listen_addresses", ""),
        ("log_min_messages", "log"),
        ("log_statement", "none"),
        ("log_min_error_statement", "panic"),
        ("log_error_verbosity", "terse"),
        ("log_parameter_max_length", "0"),
        ("log_parameter_max_length_on_error", "0"),
    ],
)
def test_settings(conninfo: str, setting: str, expected: str) -> None:
    assert value(conninfo, f"SHOW {setting}") == expected


def test_the_role_owns_the_database_and_nothing_more(conninfo: str) -> None:
    query = """
        SELECT array[current_user::text, current_database()::text, owner.rolname::text,
                     datcollate::text, session.rolsuper::text, session.rolcreatedb::text]
        FROM pg_database
        JOIN pg_roles owner ON owner.oid = datdba
        JOIN pg_roles session ON session.rolname = current_user
        WHERE datname = current_database()
    """
    assert value(conninfo, query) == ["ledger", "ledger", "ledger", "C", "false", "false"]


def test_nothing_of_the_data_is_open_to_others(folder: Path) -> None:
    assert mode(folder) == 0o700
    assert mode(folder / "pgdata") == 0o700
    assert mode(folder / "socket") == 0o700
    assert mode(folder / "socket" / ".s.PGSQL.5432") == 0o700
    assert mode(folder / "postgres.log") == 0o600
    assert mode(folder / "owner.lock") == 0o600
    others = [path for path in (folder / "pgdata").rglob("*") if mode(path) & 0o077]
    assert others == []


def test_the_server_listens_on_no_network_port(folder: Path) -> None:
    postmaster = find_postmaster(folder / "pgdata")
    assert postmaster is not None
    open_files = [os.readlink(path) for path in Path(f"/proc/{postmaster.pid}/fd").iterdir()]
    sockets = {name[len("socket:[") : -1] for name in open_files if name.startswith("socket:[")}
    listening = {
        table: {
            line.split()[column] for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        }
        for table, column in (("unix", 6), ("tcp", 9), ("tcp6", 9))
    }
    assert len(sockets & listening["unix"]) == 1
    assert sockets & (listening["tcp"] | listening["tcp6"]) == set()


def test_an_owner_is_alone(folder: Path, conninfo: str) -> None:
    with acting("own", folder) as second:
        error = second.report()["error"]
    assert f"already running as pid {os.getpid()};" in error
    assert "LEDGER_DATA_DIR" in error
    with pytest.raises(EmbeddedPostgresError, match=f"already running as pid {os.getpid()};"):
        EmbeddedPostgres(folder).start()
    assert value(conninfo, "SELECT 1") == 1


def test_another_process_attaches_without_owning(folder: Path, conninfo: str) -> None:
    with acting("attach", folder) as other:
        assert other.report() == {"conninfo": conninfo}
    with acting("connect", conninfo) as other:
        assert other.report() == {"connected_as": "ledger"}


def test_a_fresh_database_is_empty_owned_by_the_role_and_gone_afterwards(conninfo: str) -> None:
    with fresh_database(conninfo) as first, fresh_database(conninfo) as second:
        assert first != second
        with psycopg.connect(first) as connection:
            connection.execute("CREATE TABLE here (number int)")
        assert value(first, "SELECT to_regclass('here')::text") == "here"
        assert value(second, "SELECT to_regclass('here')") is None
        assert value(first, "SELECT current_user") == "ledger"
        left_open = psycopg.connect(first)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(first)
    left_open.close()
    with superuser(conninfo) as connection:
        names = connection.execute("SELECT datname FROM pg_database WHERE datname ~ '^test_'")
        assert names.fetchall() == []


def test_data_survives_a_restart(kind: Kind, tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "ledger", binaries=binaries_of(kind))
    conninfo = server.start()
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE TABLE kept (number int)")
        connection.execute("INSERT INTO kept VALUES (7)")
    postmaster = find_postmaster(tmp_path / "ledger" / "pgdata")
    assert postmaster is not None
    server.stop()
    assert not serves(postmaster.pid, tmp_path / "ledger" / "pgdata")
    assert not server.is_alive()
    assert EmbeddedPostgres.attach(tmp_path / "ledger") is None
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(conninfo)
    with EmbeddedPostgres(tmp_path / "ledger", binaries=binaries_of(kind)) as again:
        assert again.start() == conninfo
        assert value(conninfo, "SELECT number FROM kept") == 7


def test_stopping_twice_or_unstarted_does_nothing(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "ledger")
    server.stop()
    server.start()
    server.stop()
    server.stop()
    assert not server.is_alive()
    with pytest.raises(EmbeddedPostgresError, match="does not own"):
        server.ensure_running()


def test_attaching_where_nothing_ever_ran_finds_nothing(tmp_path: Path) -> None:
    assert EmbeddedPostgres.attach(tmp_path / "ledger") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 120, "a,b"])
def test_a_path_no_client_could_use_moves_the_socket(tmp_path: Path, name: str) -> None:
    server = EmbeddedPostgres(tmp_path / name)
    with server:
        conninfo = server.start()
        assert value(conninfo, "SELECT 1") == 1
        with psycopg.connect(conninfo) as connection:
            socket = Path(connection.info.host)
        assert len(os.fsencode(socket / ".s.PGSQL.5432")) <= 107
        assert not socket.is_relative_to(tmp_path)
        assert mode(socket) == 0o700
        assert EmbeddedPostgres.attach(tmp_path / name) == conninfo
    assert not socket.exists()


def test_no_folder_above_is_touched(tmp_path: Path) -> None:
    above = [tmp_path, *tmp_path.parents]
    before = [(path.stat().st_mode, path.stat().st_uid) for path in above]
    with EmbeddedPostgres(tmp_path / "ledger"):
        pass
    assert [(path.stat().st_mode, path.stat().st_uid) for path in above] == before


def test_an_empty_folder_is_closed_and_one_that_others_write_to_refused(tmp_path: Path) -> None:
    empty, shared = tmp_path / "empty", tmp_path / "shared"
    for folder in (empty, shared):
        folder.mkdir()
        folder.chmod(0o777)
    (shared / "file").touch()
    with EmbeddedPostgres(empty):
        assert mode(empty) == 0o700
    with pytest.raises(EmbeddedPostgresError, match="Other users can write"):
        EmbeddedPostgres(shared).start()
    assert mode(shared) == 0o777
    assert [path.name for path in shared.iterdir()] == ["file"]


def test_a_failed_start_tells_what_the_server_said_and_leaves_nothing_locked(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "ledger"
    wrong = EmbeddedPostgres(folder, settings={"shared_buffers": "one"})
    with pytest.raises(EmbeddedPostgresError) as failure:
        wrong.start()
    assert "stopped while it started" in str(failure.value)
    assert str(folder / "postgres.log") in str(failure.value)
    assert 'invalid value for parameter "shared_buffers": "one"' in str(failure.value)
    with EmbeddedPostgres(folder) as right:
        assert right.is_alive()


def test_another_major_version_is_refused_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    with EmbeddedPostgres(folder):
        pass
    with pytest.raises(EmbeddedPostgresError, match=r"made by PostgreSQL 18, .* are version 15"):
        EmbeddedPostgres(folder, binaries=binaries_of("debian15")).start()


def test_a_fast_server_skips_fsync_and_leaves_no_trace(kind: Kind) -> None:
    with running_postgres(kind, fast=True) as conninfo:
        assert value(conninfo, "SHOW fsync") == "off"
        with psycopg.connect(conninfo) as connection:
            folder = Path(connection.info.host).parent
        assert folder.parent == Path(tempfile.gettempdir())
    assert not folder.exists()


def test_programs_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="cannot run PostgreSQL's programs"):
        EmbeddedPostgres(tmp_path / "ledger", binaries=tmp_path).start()
    shutil.rmtree(tmp_path / "ledger")
