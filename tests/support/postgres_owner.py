"""A second process that owns, tries to own, or tries to reach an embedded PostgreSQL.

`python -m tests.support.postgres_owner ACTION TARGET [--user NAME] [--binaries FOLDER]` prints
one line of JSON when it has acted. `own` and `fork` then wait until standard input closes; `fork`
leaves a forked worker behind. With --user everything happens as that user: modules are imported
and programs looked for before, because their folders may be closed to the user.
"""

import argparse
import json
import os
import pwd
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from ledger.store.embedded.binaries import Account, usable_binaries
from ledger.store.embedded.postmaster import find_postmaster, wait_until
from ledger.store.embedded.server import EmbeddedPostgres, EmbeddedPostgresError

Report = dict[str, Any]

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 60.0


@dataclass
class Acting:
    """A process that runs this module; `report` waits for its line of JSON."""

    process: subprocess.Popen[bytes]

    def report(self) -> Report:
        """What the process says of its action."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], _SECONDS)
        assert ready, f"no report within {_SECONDS:.0f} s"
        report: Report = json.loads(self.process.stdout.readline())
        return report

    def kill(self) -> None:
        """Ends the process as kill -9 does."""
        self.process.kill()
        self.process.wait(timeout=_SECONDS)


@contextmanager
def acting(
    action: str, target: Path | str, *, user: str | None = None, binaries: Path | None = None
) -> Iterator[Acting]:
    """Runs this module in a process of its own; at the end of the block its input closes."""
    command = [sys.executable, "-m", "tests.support.postgres_owner", action, str(target)]
    command += ["--user", user] if user else []
    command += ["--binaries", str(binaries)] if binaries else []
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=_ROOT) as process:
        try:
            yield Acting(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=_SECONDS)


def main() -> None:
    """Acts as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=ACTIONS)
    parser.add_argument("target")
    parser.add_argument("--user")
    parser.add_argument("--binaries", type=Path)
    options = parser.parse_args()
    binaries: Path | None = options.binaries
    if options.user:
        entry = pwd.getpwnam(options.user)
        account = Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
        binaries = usable_binaries(binaries, account)
        os.setgroups([])
        os.setgid(account.gid)
        os.setuid(account.uid)
    try:
        ACTIONS[options.action](options.target, binaries)
    except (EmbeddedPostgresError, psycopg.OperationalError) as error:
        tell({"error": str(error)})


def tell(report: Report) -> None:
    """Says what happened."""
    print(json.dumps(report), flush=True)


def own(target: str, binaries: Path | None) -> None:
    """Starts the server and stops it when standard input closes."""
    with EmbeddedPostgres(Path(target), binaries=binaries) as server:
        tell({"conninfo": server.start(), "pid": os.getpid()})
        sys.stdin.read()


def fork(target: str, binaries: Path | None) -> None:
    """Starts the server, then forks a worker that lives on when this process is killed."""
    server = EmbeddedPostgres(Path(target), binaries=binaries)
    conninfo = server.start()
    heard, told = os.pipe()
    worker = os.fork()
    if worker == 0:
        server.stop()
        os.write(told, b".")
        sys.stdin.read()
        os._exit(0)
    os.read(heard, 1)
    tell({"conninfo": conninfo, "pid": os.getpid(), "worker": worker})
    os.waitpid(worker, 0)


def connect(target: str, binaries: Path | None) -> None:
    """Tries to connect; the target is a conninfo."""
    with psycopg.connect(target, connect_timeout=5) as connection:
        tell({"connected_as": connection.info.user})


def attach(target: str, binaries: Path | None) -> None:
    """Looks for a running server, as the command line does."""
    tell({"conninfo": EmbeddedPostgres.attach(Path(target))})


def live(target: str, binaries: Path | None) -> None:
    """A server's whole life in one process: start, restart, crash, restart, stop."""
    folder = Path(target)
    server = EmbeddedPostgres(folder, binaries=binaries)
    conninfo = server.start()
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE TABLE kept (number int)")
        connection.execute("INSERT INTO kept VALUES (1)")
    server.stop()
    server.start()
    postmaster = find_postmaster(folder / "pgdata")
    assert postmaster is not None
    os.kill(postmaster.pid, signal.SIGKILL)
    assert wait_until(lambda: not server.is_alive(), 10)
    restarted = server.ensure_running()
    with psycopg.connect(conninfo) as connection:
        kept = connection.execute("SELECT number FROM kept").fetchall()
    server.stop()
    tell(
        {
            "kept": kept,
            "restarted": restarted,
            "conninfo": conninfo,
            "alive_at_the_end": server.is_alive(),
        }
    )


ACTIONS: dict[str, Callable[[str, Path | None], None]] = {
    "own": own,
    "fork": fork,
    "connect": connect,
    "attach": attach,
    "live": live,
}

if __name__ == "__main__":
    main()
