"""kill -9 of the HTTP gate at each step of a mail: the program's repeats make no second mail."""

import signal
from collections.abc import Iterator

import httpx
import pytest

from api.gates.http.credentials import sha256_of
from tests.support.gate_process import GateProcess
from tests.support.mail_provider import KEY, MailProvider, mail_provider
from tests.support.service import Service, fresh_service
from tests.support.smtp_gate import written
from tests.support.watched_ledger import WatchedLedger, watched_ledger

_FILE = """
ledger = "{url}"
[[login]]
name = "shop"
provider_key_sha256 = "{sha256}"
key = "{key}"
[upstream.url]
resend = "{upstream}"
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
def provider() -> Iterator[MailProvider]:
    """A provider that counts."""
    with mail_provider() as standing_in:
        yield standing_in


@pytest.fixture(scope="module")
def gate(
    service: Service,
    watched: WatchedLedger,
    provider: MailProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[GateProcess]:
    """The gate; it ends in good order when it is told to."""
    key = service.client("send").key
    text = _FILE.format(url=watched.url, sha256=sha256_of(KEY), key=key, upstream=provider.url)
    running = GateProcess("http", written(tmp_path_factory.mktemp("gate"), text))
    yield running
    running.process.terminate()
    assert running.ended() == 0


@pytest.mark.parametrize(
    ("step", "at_once", "later", "mails"),
    [
        ("asked", (503, "permit_held"), (200, ""), 1),
        ("redeemed", (503, "permit_held"), (503, "outcome_unknown"), 0),
        ("handed_over", (503, "permit_held"), (503, "outcome_unknown"), 1),
        ("reported", (422, "already_sent"), (422, "already_sent"), 1),
    ],
)
def test_a_gate_that_is_killed_makes_no_second_mail(
    service: Service,
    watched: WatchedLedger,
    provider: MailProvider,
    gate: GateProcess,
    step: str,
    at_once: tuple[int, str],
    later: tuple[int, str],
    mails: int,
) -> None:
    provider.clear()
    to, end = f"{step}@example.com", _ENDS.get(step, "-")
    watched.on_answer = lambda path: gate.kill() if path.endswith(end) else None
    if step == "handed_over":
        provider.on_mail = lambda mail: gate.kill()
    with pytest.raises(httpx.TransportError):
        _heard(gate.port, to)
    assert gate.ended() == -signal.SIGKILL
    watched.on_answer, provider.on_mail = (lambda path: None), (lambda mail: None)
    gate.start()
    assert _heard(gate.port, to) == at_once
    service.advance(minutes=11)
    assert _heard(gate.port, to) == later
    assert len(provider.mails) == mails


def _heard(port: int, to: str) -> tuple[int, str]:
    """The status of the answer, and the code of an error."""
    call = {"from": "a@acme.example", "to": to, "subject": "Order", "text": "Sent."}
    headers = {"Authorization": f"Bearer {KEY}"}
    answer = httpx.post(
        f"http://127.0.0.1:{port}/resend/emails", json=call, headers=headers, timeout=30
    )
    return answer.status_code, answer.json().get("name", "")
