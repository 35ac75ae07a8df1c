"""Programs in other languages behind the gates: npm libraries, and the recipes of Rails and PHP.

`make test-clients-gates` installs what they need and runs this; GATE_PROGRAMS is where npm put it.
"""

import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_gate import http_gate_file, running_http_gate
from tests.support.mail_provider import KEY, MailProvider, mail_provider
from tests.support.service import ROOT, Client, Service, fresh_service
from tests.support.smtp_gate import (
    LOGIN,
    PASSWORD,
    UpstreamServer,
    gate_file,
    running_gate,
    upstream_server,
)

_HERE = Path(__file__).parent
_SECONDS = 60


@pytest.fixture(scope="module")
def service(postgres: str) -> Iterator[Service]:
    """A ledger on a test clock."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00") as running:
        yield running


@pytest.fixture(scope="module")
def key(service: Service) -> Client:
    """The key of the programs."""
    return service.client("send")


def _ran(*command: str, **environment: str) -> str:
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
        env=os.environ | environment,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def provider() -> Iterator[MailProvider]:
    """The stand-in for the providers."""
    with mail_provider() as standing_in:
        yield standing_in


@pytest.fixture(scope="module")
def http_gate(service: Service, key: Client, provider: MailProvider) -> Iterator[str]:
    """The URL of an HTTP gate."""
    with running_http_gate(http_gate_file(str(service.http.base_url), key.key, provider)) as gate:
        yield gate


@pytest.mark.parametrize("library", ["resend", "postmark", "sendgrid", "mailgun"])
def test_a_library_from_npm_changes_its_base_url_alone(
    http_gate: str, provider: MailProvider, library: str
) -> None:
    provider.clear()
    script = Path(os.environ["GATE_PROGRAMS"]) / "send.mjs"
    to = f"pat-{uuid.uuid4().hex[:8]}@example.com"

    def send() -> dict[str, Any]:
        told: dict[str, Any] = json.loads(
            _ran("node", str(script), library, http_gate, KEY, to, "Order")
        )
        return told

    first, again = send(), send()
    (taken,) = provider.mails
    assert str(first["id"]).strip("<>") == taken.message_id
    assert taken.recipients == [to]
    assert 400 <= again["status"] < 429
    assert "already_sent: " in again["text"]


@pytest.fixture(scope="module")
def upstream() -> Iterator[UpstreamServer]:
    """The mail server behind the SMTP gate."""
    with upstream_server() as server:
        yield server


@pytest.fixture(scope="module")
def smtp_gate(service: Service, key: Client, upstream: UpstreamServer) -> Iterator[int]:
    """The port of an SMTP gate."""
    with running_gate(gate_file(str(service.http.base_url), key.key), upstream.port) as port:
        yield port


@pytest.mark.parametrize(
    ("recipe", "language", "command"),
    [("rails", "ruby", ("ruby",)), ("php", "php", ("php", "-d", "error_reporting=22527"))],
)
def test_a_recipe_mails_once(
    service: Service,
    smtp_gate: int,
    upstream: UpstreamServer,
    tmp_path: Path,
    recipe: str,
    language: str,
    command: tuple[str, ...],
) -> None:
    upstream.mails.clear()
    before = (_HERE / f"before.{'rb' if language == 'ruby' else 'php'}").read_text()
    program = tmp_path / "program"
    page = (ROOT / "docs" / "recipes" / f"{recipe}.md").read_text()
    pieces = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    program.write_text("\n".join([before, *pieces]))
    settings = {"GATE_PORT": str(smtp_gate), "GATE_USER": LOGIN, "GATE_PASSWORD": PASSWORD}
    settings["ORDER"] = recipe
    for _ in range(2):
        _ran(*command, str(program), **settings)
    (taken,) = upstream.mails
    assert taken.recipients == ("pat@example.com",)
    permit = service.get(f"/v1/permits/{taken.message['X-Ledger-Permit']}").ok()
    assert (permit["kind"], permit["state"]) == ("notification", "sent")
    assert "X-Ledger-Kind" not in taken.message
