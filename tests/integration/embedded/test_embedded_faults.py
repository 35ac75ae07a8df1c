"""The embedded PostgreSQL when processes are killed: the server's, the owner's, half-way."""

import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from ledger.store.embedded.binaries import server_account
from ledger.store.embedded.owner_lock import OwnerLock
from ledger.store.embedded.postmaster import find_postmaster, serves, shut_down, wait_until
from ledger.store.embedded.server import EmbeddedPostgres, EmbeddedPostgresError
from tests.support.postgres import KINDS, Kind, binaries_of, superuser
from tests.support.postgres_owner import acting

both_kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder to be; no test may leave a server behind in it."""
    folder = tmp_path / "ledger"
    yield folder
    left = find_postmaster(folder / "pgdata")
    if left is not None:
        shut_down(folder / "pgdata", left.pid)
    assert left is None


def postmaster_pid(folder: Path) -> int:
    found = find_postmaster(folder / "pgdata")
    assert found is not None
    return found.pid


def keep(conninfo: str, number: int) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (number int)")
        connection.execute("INSERT INTO kept VALUES (%s)", [number])


def kept(conninfo: str) -> list[tuple[int]]:
    with psycopg.connect(conninfo) as connection:
        return connection.execute("SELECT number FROM kept ORDER BY 1").fetchall()


def kill_postgres(folder: Path) -> int:
    pid = postmaster_pid(folder)
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: not serves(pid, folder / "pgdata"), 10)
    return pid


@contextmanager
def busy_session(conninfo: str) -> Iterator[int]:
    """A session in a query that never waits, so that it does not notice its server's death.

    Gives its process id.
    """

    def work() -> None:
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT count(*) FROM pg_proc a, pg_proc b, pg_proc c, pg_proc d")

    def is_busy() -> bool:
        active = watcher.execute("""
            SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND usename = 'ledger'
        """)
        return active.fetchone() == (1,)

    connection = psycopg.connect(conninfo)
    pid = connection.info.backend_pid
    session = threading.Thread(target=work)
    with superuser(conninfo) as watcher:
        session.start()
        assert wait_until(is_busy, 10)
    try:
        yield pid
    finally:
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, signal.SIGKILL)
        session.join(timeout=10)
        connection.close()
    assert not session.is_alive()


@both_kinds
def test_a_killed_server_comes_back_with_every_commit(kind: Kind, folder: Path) -> None:
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        conninfo = server.start()
        keep(conninfo, 1)
        assert server.ensure_running() is False
        # A Ctrl-C in the owner's terminal goes to every process of the terminal's session.
        assert os.getsid(postmaster_pid(folder)) == postmaster_pid(folder)
        first = kill_postgres(folder)
        assert not server.is_alive()
        assert server.ensure_running() is True
        assert server.is_alive()
        assert postmaster_pid(folder) != first
        assert kept(conninfo) == [(1,)]
        assert server.ensure_running() is False
    assert find_postmaster(folder / "pgdata") is None


@both_kinds
def test_a_session_that_outlives_its_server_does_not_keep_it_down(kind: Kind, folder: Path) -> None:
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        conninfo = server.start()
        keep(conninfo, 1)
        with busy_session(conninfo) as session:
            kill_postgres(folder)
            assert serves(session, folder / "pgdata")
            assert server.ensure_running() is True
            assert not serves(session, folder / "pgdata")
        assert kept(conninfo) == [(1,)]


def test_starting_again_as_the_owner_restarts_a_dead_server(folder: Path) -> None:
    with EmbeddedPostgres(folder) as server:
        conninfo = server.start()
        kill_postgres(folder)
        assert server.start() == conninfo
        assert server.is_alive()


def test_an_owner_whose_server_was_killed_can_stop(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    kill_postgres(folder)
    server.stop()
    with EmbeddedPostgres(folder) as next_owner:
        assert next_owner.is_alive()


@both_kinds
def test_a_live_orphan_is_adopted(kind: Kind, folder: Path) -> None:
    with acting("own", folder, binaries=binaries_of(kind)) as owner:
        conninfo = owner.report()["conninfo"]
        keep(conninfo, 1)
        orphan = postmaster_pid(folder)
        owner.kill()
    assert serves(orphan, folder / "pgdata")
    assert EmbeddedPostgres.attach(folder) == conninfo
    with psycopg.connect(conninfo) as undisturbed:
        server = EmbeddedPostgres(folder, binaries=binaries_of(kind))
        assert server.start() == conninfo
        assert postmaster_pid(folder) == orphan
        undisturbed.execute("SELECT 1")
        with pytest.raises(EmbeddedPostgresError, match=f"running as pid {os.getpid()};"):
            EmbeddedPostgres(folder).start()
    assert kept(conninfo) == [(1,)]
    server.stop()
    assert not serves(orphan, folder / "pgdata")


def test_an_adopted_orphan_that_dies_is_restarted(folder: Path) -> None:
    with acting("own", folder) as owner:
        owner.report()
        owner.kill()
    with EmbeddedPostgres(folder) as server:
        kill_postgres(folder)
        assert server.ensure_running() is True
        assert server.is_alive()


def test_an_orphan_that_is_shutting_down_is_replaced(folder: Path) -> None:
    with acting("own", folder) as owner:
        conninfo = owner.report()["conninfo"]
        orphan = postmaster_pid(folder)
        owner.kill()
    with psycopg.connect(conninfo):
        # A smart shutdown waits for its sessions, so this one lasts until somebody hurries it.
        os.kill(orphan, signal.SIGTERM)

        def stopping() -> bool:
            found = find_postmaster(folder / "pgdata")
            return found is not None and found.state == "stopping"

        assert wait_until(stopping, 10)
        with EmbeddedPostgres(folder) as server:
            assert server.start() == conninfo
            assert postmaster_pid(folder) != orphan
    assert not serves(orphan, folder / "pgdata")


def test_an_orphan_that_does_not_answer_is_named_and_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with acting("own", folder) as owner:
        owner.report()
        orphan = postmaster_pid(folder)
        owner.kill()
    socket = folder / "socket" / ".s.PGSQL.5432"
    socket.rename(folder / "elsewhere")
    monkeypatch.setattr("ledger.store.embedded.server.ANSWER_SECONDS", 0.2)
    with pytest.raises(EmbeddedPostgresError, match=f"pid {orphan}.* does not answer"):
        EmbeddedPostgres(folder).start()
    assert serves(orphan, folder / "pgdata")
    (folder / "elsewhere").rename(socket)
    with EmbeddedPostgres(folder):
        assert postmaster_pid(folder) == orphan


@both_kinds
def test_a_reused_process_id_in_stale_lock_files_fools_nobody(kind: Kind, folder: Path) -> None:
    server = EmbeddedPostgres(folder, binaries=binaries_of(kind))
    conninfo = server.start()
    keep(conninfo, 1)
    lock_files = [folder / "pgdata/postmaster.pid", folder / "socket/.s.PGSQL.5432.lock"]
    old = [path.read_text() for path in lock_files]
    killed = kill_postgres(folder)
    server.stop()
    account = server_account(folder / "pgdata")
    # The worst case: alive, of the server's own user, and in the data folder.
    options = {**account.spawn_options(), "cwd": folder / "pgdata"}
    with ExitStack() as stack:
        unrelated = stack.enter_context(subprocess.Popen(["sleep", "600"], **options))
        stack.callback(unrelated.kill)
        for path, text in zip(lock_files, old, strict=True):
            path.write_text(text.replace(str(killed), str(unrelated.pid), 1))
        assert find_postmaster(folder / "pgdata") is None
        assert EmbeddedPostgres.attach(folder) is None
        assert not server.is_alive()
        with server:
            assert postmaster_pid(folder) != unrelated.pid
            assert kept(conninfo) == [(1,)]
        assert unrelated.poll() is None


@pytest.mark.parametrize("text", ["", "not a number\n", "0\n", "99999999\n/elsewhere\n"])
def test_a_damaged_pid_file_is_no_server(folder: Path, text: str) -> None:
    (folder / "pgdata").mkdir(parents=True)
    (folder / "pgdata" / "postmaster.pid").write_text(text)
    assert find_postmaster(folder / "pgdata") is None


@both_kinds
def test_a_kill_while_the_data_folder_is_made_leaves_no_half_of_it(
    kind: Kind, folder: Path
) -> None:
    def half_made() -> bool:
        return any(folder.glob("pgdata.new-*/base"))

    with acting("own", folder, binaries=binaries_of(kind)) as owner:
        assert wait_until(half_made, 30)
        owner.kill()
    assert half_made()
    assert not (folder / "pgdata").exists()
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        keep(server.start(), 1)
    with EmbeddedPostgres(folder, binaries=binaries_of(kind)) as server:
        assert kept(server.start()) == [(1,)]
    assert list(folder.glob("pgdata.new-*")) == []


def test_of_two_that_start_at_once_one_wins(folder: Path) -> None:
    with ExitStack() as stack:
        starting = [stack.enter_context(acting("own", folder)) for _ in range(2)]
        reports = [process.report() for process in starting]
        (won,) = [report for report in reports if "conninfo" in report]
        (lost,) = [report for report in reports if "error" in report]
        assert f"already running as pid {won['pid']};" in lost["error"]
    assert find_postmaster(folder / "pgdata") is None


@pytest.mark.parametrize("predecessor", ["", "99999999\n"])
def test_an_owner_that_has_not_yet_said_who_it_is_gets_named(
    tmp_path: Path, predecessor: str
) -> None:
    path = tmp_path / "owner.lock"
    path.write_text(predecessor)

    def has_found_it_locked() -> bool:
        opened = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
        return opened.count(str(path)) == 2

    with path.open("r+") as owner, ThreadPoolExecutor(1) as pool:
        fcntl.flock(owner, fcntl.LOCK_EX)
        second = pool.submit(OwnerLock(path).acquire)
        assert wait_until(has_found_it_locked, 10)
        owner.truncate(0)
        owner.write(f"{os.getpid()}\n")
        owner.flush()
        with pytest.raises(EmbeddedPostgresError, match=f"running as pid {os.getpid()};"):
            second.result(timeout=10)


def test_a_forked_worker_neither_stops_the_server_nor_keeps_the_folder(folder: Path) -> None:
    with acting("fork", folder) as owner:
        report = owner.report()
        orphan = postmaster_pid(folder)
        owner.kill()
        assert Path(f"/proc/{report['worker']}").exists()
        with EmbeddedPostgres(folder):
            assert postmaster_pid(folder) == orphan
            assert Path(f"/proc/{report['worker']}").exists()
