"""What `make run` shows: the story, a URL, a key, and three lines that work."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """What the demo printed until it served on; it ends by Ctrl-C, in peace."""
    folder = tmp_path_factory.mktemp("demo")
    env = dict(os.environ) | {"PYTHONUNBUFFERED": "1", "TMPDIR": str(folder), "COLUMNS": "100"}
    folder.chmod(0o755)
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "api.cli.main", "demo", "--port", "0"],
        cwd=_ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith("All calls:") or time.monotonic() - began > 60:
                break
        try:
            yield lines
        finally:
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
    assert (process.returncode, rest) == (0, "")
    assert not list(folder.glob("send-ledger-demo-*"))


def test_the_story_is_told(told: list[str]) -> None:
    text = "\n".join(told)
    for stage, day in (("day-3", 3), ("day-7", 7), ("day-14", 14)):
        assert re.search(rf"^{day} .* {stage} cycle 1 \(poller-[ab]\) +-$", text, re.MULTILINE)
    assert "grants on every second run: 0" in text
    assert "after the payment: denied (nothing_owed)" in text
    assert "day-3 cycle 2 (poller-a); again: -" in text
    assert "day-14: denied (balance_below_stage)" in text
    assert "2 grants, breaker open, 1 alert" in text


def test_its_three_lines_work(told: list[str]) -> None:
    url = next(line for line in told if line.startswith("send ledger: ")).split()[-1]
    key = next(line for line in told if line.startswith("key ")).split()[-1]
    lines = [shlex.split(line) for line in told if line.startswith("  curl ")]
    assert len(lines) == 3
    answers = []
    for words in [*lines, lines[1]]:
        assert words[:4] == ["curl", "-s", "-H", f"Authorization: Bearer {key}"]
        assert words[-1].startswith(url)
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        body = words[words.index("-d") + 1] if "-d" in words else None
        method = "GET" if body is None else "POST"
        answers.append(httpx.request(method, words[-1], headers=headers, content=body))
    due, granted, flooded, again = answers
    assert [item["customer_id"] for item in due.json()["items"]] == ["cus_try"]
    assert granted.status_code == 201
    assert flooded.json()["breaker"]["state"] == "open"
    assert (again.status_code, again.json()["code"]) == (409, "permit_held")


def test_once_ends_by_itself_and_leaves_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "demo", "--once", "--port", "0"],
        cwd=_ROOT,
        env=dict(os.environ) | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("2 grants, breaker open, 1 alert\n")
    assert not list(tmp_path.glob("send-ledger-demo-*"))
