"""A service is found by its folder; told to stop, it leaves neither itself nor its database."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(("stop", "workers"), [(signal.SIGTERM, "2"), (signal.SIGINT, "1")])
def test_a_ledger_that_is_told_to_stop_stops_its_database(
    stop: signal.Signals, workers: str, tmp_path: Path
) -> None:
    announced, folder = tmp_path / "announced.json", tmp_path / "data"
    tmp_path.chmod(0o755)
    env = dict(os.environ) | {"LEDGER_DATA_DIR": str(folder), "LEDGER_ANNOUNCE": str(announced)}
    with subprocess.Popen(
        [sys.executable, "-m", "api.cli.main", "serve", "--port", "0", "--workers", workers],
        cwd=_ROOT,
        env=env,
    ) as process:
        give_up = time.monotonic() + 60
        while not announced.exists() and time.monotonic() < give_up:
            time.sleep(0.05)
        assert (folder / "pgdata" / "postmaster.pid").exists()
        there = json.loads((folder / "service.json").read_text(encoding="utf-8"))
        assert there["url"] == json.loads(announced.read_text(encoding="utf-8"))["url"]
        assert (folder / "service.json").stat().st_mode & 0o777 == 0o600
        assert _paused(folder, tmp_path).returncode == 0
        process.send_signal(stop)
        assert process.wait(timeout=30) == 0
    assert not (folder / "pgdata" / "postmaster.pid").exists()
    assert not (folder / "service.json").exists()
    assert "there is no key to act with" in _paused(folder, tmp_path).stderr


def _paused(folder: Path, home: Path) -> "subprocess.CompletedProcess[str]":
    """A pause by the command line, which finds the service by its folder."""
    return subprocess.run(
        [sys.executable, "-m", "api.cli.main", "pause", "all", "--reason", "a flood"],
        cwd=_ROOT,
        env={"LEDGER_DATA_DIR": str(folder), "HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
    )
