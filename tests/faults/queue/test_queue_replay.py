"""Queue replay for real: Celery on Redis gives a task twice, the SMTP server sees one mail."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiosmtpd.controller import Controller
from celery import Celery

from tests.support.crashing_service import CrashingService

_ROOT = Path(__file__).resolve().parents[3]
_SECONDS = 60.0
_TAKE_OVER_SECONDS = 4.0


@dataclass
class CountingSmtp:
    """Takes every mail and counts it by its subject."""

    mails: Counter[str] = field(default_factory=Counter)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """One mail was handed over."""
        lines = envelope.content.decode().splitlines()
        subject = next(line for line in lines if line.startswith("Subject: "))
        self.mails[subject.removeprefix("Subject: ")] += 1
        await asyncio.sleep(0)
        return "250 taken"


@dataclass
class Queue:
    """Redis, two workers that can be killed, and the SMTP server they mail to."""

    celery: Celery
    smtp: CountingSmtp
    gate: Path
    start_worker: Callable[[], subprocess.Popen[bytes]]

    def redeliver_until(self, condition: Callable[[], bool], what: str) -> None:
        """Start workers, each of which takes over what is past its visibility timeout."""
        give_up = time.monotonic() + _SECONDS
        while not condition():
            assert time.monotonic() < give_up, f"it never happened: {what}"
            self.start_worker()
            look_again = time.monotonic() + _TAKE_OVER_SECONDS
            while not condition() and time.monotonic() < look_again:
                time.sleep(0.02)

    def send(self, invoice_id: str, *, with_ledger: bool) -> None:
        """Queue one reminder."""
        self.celery.send_task("mailing.remind", [invoice_id, with_ledger])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until it holds; a failure says what did not happen."""
    give_up = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < give_up, f"it never happened: {what}"
        time.sleep(0.02)


@contextmanager
def _running_redis(folder: Path) -> Iterator[int]:
    program, port = shutil.which("redis-server"), _free_port()
    assert program is not None, "Debian's redis-server is needed"
    arguments = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL)
    try:

        def listens() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_for(listens, "redis listens")
        yield port
    finally:
        process.terminate()
        process.wait(timeout=_SECONDS)


@pytest.fixture(scope="module")
def ledger() -> Iterator[CrashingService]:
    """A real service, with invoices four days past due."""
    with CrashingService() as service:
        due_on = (datetime.now(UTC) - timedelta(days=4)).date().isoformat()
        for name in ("inv_killed", "inv_slow"):
            snapshot = {
                "customer_id": f"cus_{name}",
                "email": "pat@theirs.example",
                "currency": "EUR",
                "total": 100,
                "amount_remaining": 100,
                "status": "open",
                "due_on": due_on,
            }
            answer = httpx.put(
                f"{service.url}/v1/invoices/{name}",
                json=snapshot,
                headers={"Authorization": f"Bearer {service.key}"},
            )
            assert answer.status_code == 200
        yield service


@pytest.fixture
def queue(ledger: CrashingService) -> Iterator[Queue]:
    """A fresh queue; its workers end with the test."""
    smtp = CountingSmtp()
    controller = Controller(smtp, hostname="127.0.0.1", port=_free_port())
    controller.start()
    workers: list[subprocess.Popen[bytes]] = []
    try:
        with tempfile.TemporaryDirectory() as name, _running_redis(Path(name)) as port:
            gate = Path(name) / "gate"
            gate.touch()
            environ = {
                **os.environ,
                "MAILING_BROKER": f"redis://127.0.0.1:{port}/0",
                "MAILING_LEDGER": ledger.url,
                "MAILING_KEY": ledger.key,
                "MAILING_SMTP_PORT": str(controller.port),
                "MAILING_GATE": str(gate),
            }

            def start_worker() -> subprocess.Popen[bytes]:
                workers.append(_worker(environ))
                return workers[-1]

            yield Queue(Celery("test", broker=environ["MAILING_BROKER"]), smtp, gate, start_worker)
            for worker in workers:
                _kill(worker)
    finally:
        controller.stop()


def _worker(environ: dict[str, str]) -> subprocess.Popen[bytes]:
    """A worker with one process of its own; several may run on one queue."""
    arguments = ["-m", "celery", "-A", "tests.faults.queue.mailing_tasks", "worker"]
    options = [
        "--concurrency=1",
        "--pool=solo",
        "--without-gossip",
        "--without-mingle",
        "-l",
        "ERROR",
    ]
    return subprocess.Popen(
        [sys.executable, *arguments, *options],
        cwd=_ROOT,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _kill(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(timeout=_SECONDS)


def _decisions(ledger: CrashingService, invoice_id: str) -> list[int]:
    """The statuses of every answer about an invoice."""
    answer = httpx.get(
        f"{ledger.url}/v1/decisions",
        params={"invoice_id": invoice_id},
        headers={"Authorization": f"Bearer {ledger.key}"},
    )
    return [row["status"] for row in answer.json()["items"]]


def test_a_worker_killed_in_mid_send(queue: Queue, ledger: CrashingService) -> None:
    """The mail is out, the task is not acknowledged: the queue gives it to the next worker."""
    for name, with_ledger in (("inv_killed", True), ("bare_killed", False)):
        worker = queue.start_worker()
        queue.send(name, with_ledger=with_ledger)
        wait_for(lambda name=name: queue.smtp.mails[name] == 1, f"the first mail of {name}")
        _kill(worker)
    queue.redeliver_until(
        lambda: queue.smtp.mails["bare_killed"] == 2 and 409 in _decisions(ledger, "inv_killed"),
        "both tasks are delivered again",
    )
    queue.gate.unlink()
    assert queue.smtp.mails == {"inv_killed": 1, "bare_killed": 2}
    assert {201, 409} <= set(_decisions(ledger, "inv_killed")) <= {200, 201, 409}


def test_a_task_slower_than_the_visibility_timeout(queue: Queue, ledger: CrashingService) -> None:
    """While the first worker is still sending, the queue gives the task to a second one."""
    for name, with_ledger in (("inv_slow", True), ("bare_slow", False)):
        queue.start_worker()
        queue.send(name, with_ledger=with_ledger)
        wait_for(lambda name=name: queue.smtp.mails[name] == 1, f"the first mail of {name}")
    queue.redeliver_until(
        lambda: queue.smtp.mails["bare_slow"] >= 2 and 409 in _decisions(ledger, "inv_slow"),
        "both tasks are delivered again while they run",
    )
    queue.gate.unlink()
    assert queue.smtp.mails["inv_slow"] == 1
