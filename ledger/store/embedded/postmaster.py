"""Which processes serve a data folder: named by postmaster.pid, proved by the kernel, ended."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ledger.store.embedded.error import EmbeddedPostgresError

FAST_STOP_SECONDS = 30.0
"""How long a fast shutdown (open transactions roll back, a checkpoint is written) may take."""

IMMEDIATE_STOP_SECONDS = 10.0
"""How long an immediate shutdown may take; PostgreSQL itself kills its children after 5 s."""

_STATE_LINE = 7


@dataclass(frozen=True)
class Postmaster:
    """The live parent process of a PostgreSQL server.

    `state` is PostgreSQL's own word in postmaster.pid: starting, ready, stopping; empty while it
    has not said any yet.
    """

    pid: int
    state: str


def find_postmaster(pgdata: Path) -> Postmaster | None:
    """The live postmaster of this very data folder, or None.

    The number in postmaster.pid alone proves nothing: after a kill -9 the file stays, and the
    number may by now be another program's.
    """
    try:
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        # A single-user server, which a person may be using for a repair, writes its id negated.
        pid = abs(int(lines[0]))
    except (FileNotFoundError, IndexError, ValueError):
        return None
    state = lines[_STATE_LINE].strip() if len(lines) > _STATE_LINE else ""
    return Postmaster(pid, state) if serves(pid, pgdata) else None


def serves(pid: int, pgdata: Path) -> bool:
    """True where the process is a live PostgreSQL one that works in the data folder.

    Every process of a server has the data folder as its working directory; the kernel tells it
    by inode, so neither the folder's name nor the process's words count. A zombie has none.
    """
    try:
        working_in = os.stat(f"/proc/{pid}/cwd")
        program = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
        return program == "postgres" and os.path.samestat(working_in, pgdata.stat())
    except OSError:
        return False


def shut_down(pgdata: Path, pid: int) -> None:
    """Ends a server: fast, and immediately where that takes longer than FAST_STOP_SECONDS.

    Both keep every committed transaction. Raises EmbeddedPostgresError where it outlives both.
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

    Most leave by themselves at once; one that is busy with a long query does not notice, and
    PostgreSQL rightly refuses to start beside it. Raises EmbeddedPostgresError where one stays.
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
    """Looks every 10 ms whether the condition holds; False where it did not in that time."""
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
