"""Forks services from a process that has imported the product: a start needs no second import.

Most of what a start costs is imports, and the suite starts many services. Nothing of the product
reads its environment while it is imported, so that a fork is what a new process would be.
"""

import atexit
import functools
import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]
CAN_FORK = hasattr(os, "pidfd_open")
"""Linux tells of the end of a process that is not one's own child."""
_ONE_AT_A_TIME = threading.Lock()


class Running(Protocol):
    """What the tests need of a process, as `subprocess.Popen` has it."""

    pid: int

    def poll(self) -> int | None:
        """None while it runs."""

    def terminate(self) -> None:
        """Ask it to stop."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises subprocess.TimeoutExpired."""


class Forked:
    """A process that the preloaded one forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._pidfd = os.pidfd_open(pid)
        self._end = select.poll()
        self._end.register(self._pidfd, select.POLLIN)
        self._ended = False

    def poll(self) -> int | None:
        """0 after its end, whatever it ended with; its log says more."""
        if not self._ended and self._end.poll(0):
            self._ended = True
            os.close(self._pidfd)
        return 0 if self._ended else None

    def terminate(self) -> None:
        """Ask it to stop."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._pidfd, signal.SIGTERM)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises subprocess.TimeoutExpired."""
        if not self._ended:
            self._end.poll(None if timeout is None else timeout * 1000)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("a forked send-ledger", timeout or 0)
        return 0


def fork(arguments: list[str], environ: Mapping[str, str], log: Path) -> Forked:
    """`send-ledger` with these arguments in ROOT; what it prints goes to `log`."""
    log.touch()
    asked = {"arguments": arguments, "environ": dict(environ), "log": str(log)}
    with _ONE_AT_A_TIME:
        process = _preloaded()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        return Forked(int(process.stdout.readline()))


@functools.cache
def _preloaded() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.preloaded"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    atexit.register(process.communicate)
    return process


def _serve() -> list[str] | None:
    """Fork for each line read; gives the arguments in a child, None at the end of the input."""
    for line in sys.stdin:
        while _a_child_ended():
            pass
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(asked["environ"], asked["log"])
            arguments: list[str] = asked["arguments"]
            return arguments
        print(child, flush=True)
    return None


def _a_child_ended() -> bool:
    """Children stay until the next request, so that their ids are not given away before."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _become(environ: dict[str, str], log: str) -> None:
    os.environ.clear()
    os.environ.update(environ)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(output)
    os.close(nothing)


if __name__ == "__main__":
    import api.cli.service
    import api.process.assembly  # noqa: F401
    from api.cli.main import main

    gc.freeze()
    wanted = _serve()
    if wanted is not None:
        main(wanted, prog_name="send-ledger")
