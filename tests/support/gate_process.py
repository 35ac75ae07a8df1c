"""A gate in a process of its own, which is killed and started again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.service import ROOT


class GateProcess:
    """The gate of this name with its file; `more` are further arguments."""

    def __init__(self, name: str, file: Path, *more: str) -> None:
        self._command = [sys.executable, "-m", "api.cli.main", "gate", name]
        self._command += ["--listen", "127.0.0.1:0", "--config", str(file), *more]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.process = subprocess.Popen(
            self._command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rsplit(" ", 1)[1])

    def kill(self) -> None:
        """kill -9."""
        os.kill(self.process.pid, signal.SIGKILL)

    def ended(self) -> int:
        """Its exit status."""
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(30)
