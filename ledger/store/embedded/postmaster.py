"""Finds and ends the processes that serve a data folder, by postmaster.pid checked with /proc."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ledger.store.embedded.error import EmbeddedPostgresError

FAST_STOP_SECONDS = 30.0
"""Timeout of a fast shutdown (open transactions roll back, a checkpoint is written)."""

IMMEDIATE_STOP_SECONDS = 10.0
"""Timeout of an immediate shutdown; PostgreSQL itself kills its children after 5 s."""

_STATE_LINE = 7


@dataclass(frozen=True)
class Postmaster:
    """The live parent process of a PostgreSQL server.

    `state` is the status that PostgreSQL writes to postmaster.pid: starting, ready, stopping;
    empty until it has written one.
    """

    pid: int
    state: str


def find_postmaster(pgdata: Path) -> Postmaster | None:
    """The live postmaster of this data folder, or None.

    The process id in postmaster.pid is not enough: after a kill -9 the file stays, and another
    program may have that process id now.
    """
    try:
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        # A single-user server, which someone may run for a repair, writes its id as a negative.
        pid = abs(int(lines[0]))
    except (FileNotFoundError, IndexError, ValueError):
        return None
    state = lines[_STATE_LINE].strip() if len(lines) > _STATE_LINE else ""
    return Postmaster(pid, state) if serves(pid, pgdata) else None


def serves(pid: int, pgdata: Path) -> bool:
    """True where the process is a live PostgreSQL process that works in the data folder.

    Every process of a server has the data folder as its working directory. Inodes are compared,
    not names, so a renamed folder or process title does not matter. A zombie has no directory.
    """
    try:
        working_in = os.stat(f"/proc/{pid}/cwd")
        program = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
        return program == "postgres" and os.path.samestat(working_in, pgdata.stat())
    except OSError:
        return False


def shut_down(pgdata: Path, pid: int) -> None:
    """Ends a server by a fast shutdown, or an immediate one if that exceeds FAST_STOP_SECONDS.

    Both keep every committed transaction. Raises EmbeddedPostgresError where the server survives.
    """
    for how, seconds in (
        (signal.SIGINT, FAST_STOP_SECONDS),
        (signal.SIGQUIT, IMMEDIATE_STOP_SECONDS),
    ):
        _send(how, pid, pgdata)
        if wait_until(lambda: not serves(pid, pgdata), seconds):
            return
    raise EmbeddedPostgresError(
        f"PostgreSQL (pid {pid}) in {pgdata} does not stop; look at what holds it up (a stuck "
        f"disk, a debugger), then end it with: kill -QUIT {pid}"
    )


def end_leftovers(pgdata: Path) -> None:
    """Ends server processes that outlived a killed postmaster.

    Most end by themselves at once. One that runs a long query does not, and PostgreSQL refuses to
    start while it lives. Raises EmbeddedPostgresError where one does not end.
    """

    def leftovers() -> list[int]:
        processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [pid for pid in processes if serves(pid, pgdata)]

    for how in (signal.SIGQUIT, signal.SIGKILL):
        for pid in leftovers():
            _send(how, pid, pgdata)
        if wait_until(lambda: not leftovers(), IMMEDIATE_STOP_SECONDS):
            return
    raise EmbeddedPostgresError(
        f"Processes {leftovers()} of an earlier PostgreSQL still work in {pgdata} and do not end; "
        "look at what holds them up (a stuck disk, a debugger), then start again."
    )


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Polls the condition every 10 ms; False where it did not become true in that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def _send(how: signal.Signals, pid: int, pgdata: Path) -> None:
    if serves(pid, pgdata):
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            return
