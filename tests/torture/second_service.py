"""A second service on the database of the first one, reached through a proxy."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from tests.support.service import ROOT, SERVE, service_environ

_SECONDS = 300.0


class SecondService:
    """Starts, is killed without warning, and starts again, on a database that others use too."""

    def __init__(
        self,
        conninfo: str,
        folder: Path,
        command: tuple[str, ...] = SERVE,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._environ = service_environ(conninfo, folder) | dict(env or {})
        self._folder = folder
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers or the database is away for long."""
        announced = Path(self._environ["LEDGER_ANNOUNCE"])
        announced.unlink(missing_ok=True)
        self._spawn()
        give_up = time.monotonic() + _SECONDS
        while time.monotonic() < give_up:
            if announced.exists():
                self.url = json.loads(announced.read_text(encoding="utf-8"))["url"]
                return
            if self._process is not None and self._process.poll() is not None:
                # The database was away when it looked: a supervisor would start it again.
                time.sleep(0.2)
                self._spawn()
            time.sleep(0.05)
        raise AssertionError(f"the second service did not start:\n{self._told()}")

    def kill(self) -> None:
        """kill -9, also where it is stopped."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(timeout=_SECONDS)

    def end(self) -> None:
        """End it whatever state it is in; nothing happens where it never started."""
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def _spawn(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, env=self._environ, stdout=log, stderr=log
            )

    def _told(self) -> str:
        return (self._folder / "log").read_text(encoding="utf-8")[-4000:]
