"""The embedded PostgreSQL and other people: who gets in, as whom it runs, what its log tells."""

import os
import pwd
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from ledger.store.embedded.binaries import SYSTEM_USER
from ledger.store.embedded.postmaster import find_postmaster
from ledger.store.embedded.server import EmbeddedPostgres, EmbeddedPostgresError
from tests.support.postgres import KINDS, Kind, binaries_of, superuser
from tests.support.postgres_owner import acting

OTHER_USER = "nobody"
SERVER_USER = SYSTEM_USER

both_kinds = pytest.mark.parametrize("kind", KINDS)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may pass, with nothing else in it."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-access-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def running_as(folder: Path) -> str:
    found = find_postmaster(folder / "pgdata")
    assert found is not None
    return pwd.getpwuid(os.stat(f"/proc/{found.pid}").st_uid).pw_name


def private_folder_of(user: str, parent: Path) -> Path:
    folder = parent / "ledger"
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    return folder


@as_root
@both_kinds
def test_another_user_of_the_machine_is_refused(kind: Kind, open_folder: Path) -> None:
    folder = open_folder / "ledger"
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        conninfo = server.start()
        with acting("connect", conninfo, user=OTHER_USER) as stranger:
            assert "Permission denied" in stranger.report()["error"]
        with acting("attach", folder, user=OTHER_USER) as stranger:
            assert "Permission denied" in stranger.report()["error"]
        with acting("own", folder, user=OTHER_USER) as stranger:
            assert "Permission denied" in stranger.report()["error"]


@as_root
@both_kinds
def test_a_socket_left_open_to_all_still_lets_no_stranger_in(kind: Kind, open_folder: Path) -> None:
    folder = open_folder / "ledger"
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        conninfo = server.start()
        for path in (folder, folder / "socket", folder / "socket" / ".s.PGSQL.5432"):
            path.chmod(0o777)
        for role in ("ledger", "postgres", OTHER_USER):
            as_role = make_conninfo(conninfo, user=role)
            with acting("connect", as_role, user=OTHER_USER) as stranger:
                assert f'Peer authentication failed for user "{role}"' in stranger.report()["error"]


@as_root
def test_a_server_of_another_user_is_not_talked_to(open_folder: Path) -> None:
    # Where the socket had to leave the data folder, a stranger might listen in its place.
    with EmbeddedPostgres(open_folder / "ledger") as server:
        conninfo = make_conninfo(server.start(), requirepeer=OTHER_USER)
        with pytest.raises(psycopg.OperationalError, match=f'peer user name is "{SERVER_USER}"'):
            psycopg.connect(conninfo)


@as_root
def test_root_serves_from_a_folder_closed_to_the_servers_user(tmp_path: Path) -> None:
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    folder = tmp_path / "ledger"
    with EmbeddedPostgres(folder):
        assert running_as(folder) == SERVER_USER
        assert folder.stat().st_uid == 0
        assert (folder / "pgdata").owner() == SERVER_USER


@both_kinds
def test_an_ordinary_user_needs_no_root(kind: Kind, open_folder: Path) -> None:
    user = OTHER_USER if os.geteuid() == 0 else None
    folder = private_folder_of(OTHER_USER, open_folder)
    with acting("live", folder, user=user, binaries=binaries_of(kind)) as owner:
        report = owner.report()
    assert report == {
        "kept": [[1]],
        "restarted": True,
        "conninfo": make_conninfo(
            host=str(folder / "socket"),
            port=5432,
            dbname="ledger",
            user="ledger",
            requirepeer=user or pwd.getpwuid(os.geteuid()).pw_name,
        ),
        "alive_at_the_end": False,
    }
    assert {path.stat().st_uid for path in folder.rglob("*")} == {folder.stat().st_uid}


@as_root
def test_root_serves_a_users_data_as_that_user(open_folder: Path) -> None:
    folder = private_folder_of(OTHER_USER, open_folder)
    with acting("live", folder, user=OTHER_USER) as owner:
        assert owner.report()["kept"] == [[1]]
    with EmbeddedPostgres(folder) as server:
        assert running_as(folder) == OTHER_USER
        with psycopg.connect(server.start()) as connection:
            assert connection.execute("SELECT number FROM kept").fetchall() == [(1,)]
    with acting("own", folder, user=OTHER_USER) as owner:
        assert "conninfo" in owner.report()


@as_root
def test_data_that_belongs_to_root_is_refused_with_the_cure(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    with EmbeddedPostgres(folder):
        pass
    os.chown(folder / "pgdata", 0, 0)
    with pytest.raises(EmbeddedPostgresError, match=f"chown -R {SERVER_USER}: {folder}/pgdata"):
        EmbeddedPostgres(folder).start()


@both_kinds
def test_the_log_holds_no_statement_no_parameter_and_no_row(kind: Kind, tmp_path: Path) -> None:
    address = "pat@example.com"
    folder = tmp_path / "ledger"
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        with psycopg.connect(server.start(), autocommit=True) as connection:
            run = connection.execute
            run("CREATE TABLE contacts (address text PRIMARY KEY, number int CHECK (number > 0))")
            run("INSERT INTO contacts VALUES (%s, 1)", [address])
            broken: list[tuple[type[psycopg.Error], str, list[str]]] = [
                (psycopg.errors.UniqueViolation, "INSERT INTO contacts VALUES (%s, 2)", [address]),
                (psycopg.errors.CheckViolation, "INSERT INTO contacts VALUES (%s, -1)", ["x@" * 3]),
                (psycopg.errors.InvalidTextRepresentation, "SELECT %s::int", [address]),
                (psycopg.errors.InvalidTextRepresentation, f"SELECT '{address}'::int", []),
                (psycopg.errors.UndefinedColumn, f'SELECT "{address}" FROM contacts', []),
                (psycopg.errors.SyntaxError, f"SELEKT '{address}'", []),
                (psycopg.errors.RaiseException, raising("EXCEPTION", address), []),
            ]
            for error, statement, parameters in broken:
                with pytest.raises(error):
                    run(statement.encode(), parameters)
            run(raising("WARNING", address).encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                run("SET log_min_messages TO debug5")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                run("SET log_statement TO 'all'")
        violation = pytest.raises(psycopg.errors.UniqueViolation)
        with superuser(server.start(), "ledger") as connection, violation:
            connection.execute("INSERT INTO contacts VALUES (%s, 2)", [address])
    log = (folder / "postgres.log").read_text()
    assert "database system is ready to accept connections" in log
    assert "duplicate key value violates unique constraint" in log
    for secret in ("pat", "x@", "INSERT", "SELE", "contacts VALUES", "STATEMENT", "DETAIL"):
        assert secret not in log


def raising(level: str, text: str) -> str:
    return f"DO $$ BEGIN RAISE {level} '{text}'; END $$"


@both_kinds
def test_crash_recovery_tells_no_rows_either(kind: Kind, tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        with psycopg.connect(server.start(), autocommit=True) as connection:
            connection.execute("CREATE TABLE contacts (address text)")
            connection.execute("INSERT INTO contacts VALUES ('pat@example.com')")
            backend = connection.info.backend_pid
            os.kill(backend, signal.SIGSEGV)
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
        assert server.ensure_running() is False
    log = (folder / "postgres.log").read_text()
    assert "was terminated by signal 11" in log
    assert "pat@" not in log
    assert "SELECT" not in log
