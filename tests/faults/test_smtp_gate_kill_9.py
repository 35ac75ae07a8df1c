"""kill -9 of the SMTP gate at each step of a mail: the program's repeats make no second mail."""

import signal
import smtplib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.gate_process import GateProcess
from tests.support.service import Service, fresh_service
from tests.support.smtp_gate import (
    LOGIN,
    PASSWORD,
    UpstreamServer,
    mail,
    sends,
    upstream_server,
    written,
)
from tests.support.watched_ledger import WatchedLedger, watched_ledger

_FILE = """
ledger = "{url}"
[[login]]
username = "{login}"
password = "{password}"
key = "{key}"
"""
_ENDS = {"asked": "/permits", "redeemed": "/redeem", "reported": "/outcome"}
"""How the path ends whose answer the gate does not live to see."""


@pytest.fixture(scope="module")
def service(postgres: str) -> Iterator[Service]:
    """A ledger on a test clock."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00") as running:
        yield running


@pytest.fixture(scope="module")
def watched(service: Service) -> Iterator[WatchedLedger]:
    """The gate's way to it."""
    with watched_ledger(str(service.http.base_url)) as way:
        yield way


@pytest.fixture(scope="module")
def upstream() -> Iterator[UpstreamServer]:
    """An upstream that counts."""
    with upstream_server() as server:
        yield server


@pytest.fixture(scope="module")
def file(
    service: Service, watched: WatchedLedger, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The gate's file."""
    key = service.client("send").key
    text = _FILE.format(url=watched.url, login=LOGIN, password=PASSWORD, key=key)
    return written(tmp_path_factory.mktemp("gate"), text)


@pytest.fixture(scope="module")
def gate(file: Path, upstream: UpstreamServer) -> Iterator[GateProcess]:
    """The gate; it ends in good order when it is told to."""
    running = GateProcess("smtp", file, "--upstream", f"127.0.0.1:{upstream.port}")
    yield running
    running.process.terminate()
    assert running.ended() == 0


@pytest.mark.parametrize(
    ("step", "at_once", "later", "mails"),
    [
        ("asked", (451, "permit_held"), (250, ""), 1),
        ("redeemed", (451, "permit_held"), (451, "outcome_unknown"), 0),
        ("handed_over", (451, "permit_held"), (451, "outcome_unknown"), 1),
        ("reported", (550, "already_sent"), (550, "already_sent"), 1),
    ],
)
def test_a_gate_that_is_killed_makes_no_second_mail(
    service: Service,
    watched: WatchedLedger,
    upstream: UpstreamServer,
    gate: GateProcess,
    step: str,
    at_once: tuple[int, str],
    later: tuple[int, str],
    mails: int,
) -> None:
    upstream.mails.clear()
    to, end = f"{step}@example.com", _ENDS.get(step, "-")
    watched.on_answer = lambda path: gate.kill() if path.endswith(end) else None
    if step == "handed_over":
        upstream.on_data = gate.kill
    with pytest.raises(smtplib.SMTPServerDisconnected):
        sends(gate.port, mail(step), to)
    assert gate.ended() == -signal.SIGKILL
    watched.on_answer, upstream.on_data = (lambda path: None), (lambda: None)
    gate.start()
    assert _heard(gate.port, to, step) == at_once
    service.advance(minutes=11)
    assert _heard(gate.port, to, step) == later
    assert len(upstream.mails) == mails


def _heard(port: int, to: str, step: str) -> tuple[int, str]:
    """The code of the reply to a repeat, and that of the ledger."""
    code, text = sends(port, mail(step), to)
    return code, text.removeprefix("5.7.1 ").removeprefix("4.7.1 ").partition(":")[0]
