"""A service with its own embedded database that tests kill and restart on the same folder."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ledger.store.embedded.postmaster import find_postmaster
from ledger.store.embedded.server import EmbeddedPostgres

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 300.0


class CrashingService:
    """Starts, is killed without warning, and starts again; always on the same data folder."""

    def __init__(self, *, workers: int = 1) -> None:
        self._keep = tempfile.TemporaryDirectory(prefix="send-ledger-faults-")
        self.folder = Path(self._keep.name) / "ledger"
        self._announce = Path(self._keep.name) / "announce.json"
        self._log = Path(self._keep.name) / "service.log"
        self._workers = workers
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.key = ""

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
        EmbeddedPostgres(self.folder).stop()
        self._keep.cleanup()

    def start(self) -> None:
        """Start it and wait until it announces that it answers."""
        self._announce.unlink(missing_ok=True)
        environ = {
            **os.environ,
            "LEDGER_DATA_DIR": str(self.folder),
            "LEDGER_ANNOUNCE": str(self._announce),
        }
        environ.pop("LEDGER_DATABASE_URL", None)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "api.cli.main",
                    "serve",
                    "--port",
                    "0",
                    "--workers",
                    str(self._workers),
                ],
                cwd=_ROOT,
                env=environ,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        announced = self._wait_for_announcement()
        self.url, self.key = announced["url"], announced["key"]

    def kill_service(self) -> None:
        """kill -9 the service and its workers; its database keeps running."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def signal(self, how: signal.Signals) -> None:
        """Send a signal to the service and its workers, not to its database."""
        assert self._process is not None
        os.killpg(self._process.pid, how)

    def kill_postgres(self) -> None:
        """kill -9 the postmaster: the service must restart the database by itself."""
        postmaster = find_postmaster(self.folder / "pgdata")
        assert postmaster is not None
        os.kill(postmaster.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(timeout=_SECONDS)

    def conninfo(self) -> str:
        """Of its database."""
        found = EmbeddedPostgres.attach(self.folder)
        assert found is not None
        return found

    def _wait_for_announcement(self) -> dict[str, Any]:
        assert self._process is not None
        give_up = time.monotonic() + _SECONDS
        while time.monotonic() < give_up:
            if self._process.poll() is not None:
                raise AssertionError(f"the service ended:\n{self._log.read_text()[-4000:]}")
            if self._announce.exists():
                announced: dict[str, Any] = json.loads(self._announce.read_text())
                return announced
            time.sleep(0.02)
        raise AssertionError(f"the service did not start:\n{self._log.read_text()[-4000:]}")
