"""A service is found by its folder; told to stop, it leaves neither itself nor its database."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from api.process import serving
from api.process.serving import _once_ready

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
        _wait_until(announced.exists)
        assert (folder / "pgdata" / "postmaster.pid").exists()
        there = json.loads((folder / "service.json").read_text(encoding="utf-8"))
        assert there["url"] == json.loads(announced.read_text(encoding="utf-8"))["url"]
        assert (folder / "service.json").stat().st_mode & 0o777 == 0o600
        assert _paused(folder, tmp_path).returncode == 0
        process.send_signal(stop)
        assert process.wait(timeout=300) == 0
    assert not (folder / "pgdata" / "postmaster.pid").exists()
    assert not (folder / "service.json").exists()
    assert "there is no key to act with" in _paused(folder, tmp_path).stderr


def test_ctrl_c_while_workers_start_stops_all_of_them_without_a_traceback(tmp_path: Path) -> None:
    """A terminal sends it to the whole group: also to workers that still import."""
    folder = tmp_path / "data"
    tmp_path.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-m", "api.cli.main", "serve", "--port", "0", "--workers", "4"],
        cwd=_ROOT,
        env=dict(os.environ) | {"LEDGER_DATA_DIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _wait_until(lambda: len(_workers_of(process.pid)) == 4)
            os.killpg(process.pid, signal.SIGINT)
            _, told = process.communicate(timeout=300)
        finally:
            process.terminate()
    assert (process.returncode, "Traceback" in told) == (0, False), told
    assert not (folder / "pgdata" / "postmaster.pid").exists()


def test_whoever_waits_for_a_service_that_starts_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answers = iter([False, False, True])
    monkeypatch.setattr(serving, "_TELL_SECONDS", 0.0)
    monkeypatch.setattr(serving, "_is_ready", lambda url: next(answers))
    announced: list[str] = []
    _once_ready("http://here", 4, threading.Event(), lambda: announced.append("ready"))
    assert announced == ["ready"]
    assert [record.getMessage() for record in caplog.records] == [
        "waiting since 0 s for one of 4 workers to answer"
    ] * 2


def test_a_service_that_ends_before_it_answers_is_not_announced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "_is_ready", lambda url: False)
    over = threading.Event()
    over.set()
    announced: list[str] = []
    _once_ready("http://here", 1, over, lambda: announced.append("ready"))
    assert announced == []


def _workers_of(parent: int) -> list[int]:
    """The worker processes of a service."""
    found = []
    for child in psutil.Process(parent).children():
        # Others come and go, such as the programs that make a new database.
        with contextlib.suppress(psutil.NoSuchProcess):
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


def _wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < give_up, "it never came so far"
        time.sleep(0.01)


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
