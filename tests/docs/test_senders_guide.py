"""What README, the facts page and two guides say to type, typed: it answers as they say."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service import Service, fresh_service

_ROOT = Path(__file__).resolve().parents[2]
_STATUSES_TOO = 'curl() { command curl -w "%{stderr}%{http_code}\\n%{stdout}\\n" "$@"; }\nset -u\n'
pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="the pages are about curl")


def _blocks(page: str) -> list[str]:
    text = (_ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _calls(script: str) -> int:
    return len(re.findall(r"^curl ", script, re.MULTILINE))


@pytest.fixture
def service(postgres: str) -> Iterator[Service]:
    """A service of the test's own: the pages name their customers themselves."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00") as fresh:
        yield fresh


def _run(service: Service, script: str, folder: Path) -> tuple[list[str], str]:
    """The statuses that the calls of a script heard, and all that it printed."""
    url = str(service.http.base_url)
    done = subprocess.run(
        ["bash", "-c", _STATUSES_TOO + script],
        cwd=folder,
        env=dict(os.environ) | {"LEDGER": url, "URL": url, "KEY": service.key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stderr.split(), done.stdout


def test_every_call_of_the_guide_answers_as_it_says(service: Service, tmp_path: Path) -> None:
    script = "".join(_blocks("docs/guides/senders.md"))
    told = re.findall(r"^# → (\d{3})$", script, re.MULTILINE)
    assert len(told) == _calls(script) == 13
    heard, printed = _run(service, script, tmp_path)
    assert heard == told, printed
    codes = re.findall(r'"code":"(\w+)","retryable"', printed)
    assert codes == ["already_sent", "permit_held", "permit_held"]


def test_the_corrections_of_the_page_are_taken(service: Service, tmp_path: Path) -> None:
    sent = service.send("notification", customer_id="C8", event_type="shipped", event_id="1")
    service.fact("customer.merged", {"from": "C8", "into": "C9"})
    script = "".join(_blocks("docs/guides/corrections.md"))
    heard, printed = _run(service, f"PERMIT={sent}\n{script}", tmp_path)
    assert heard == ["200"] * 3 == ["200"] * _calls(script), printed
    assert '"state":"rejected"' in printed
    assert re.findall(r'"result":"(\w+)"', printed) == ["applied"] * 2
    assert service.get("/v1/customers/C8").ok()["customer_id"] == "C8"
    assert service.get("/v1/customers/C9").ok()["credit"] == [{"currency": "EUR", "amount": 2500}]


def test_the_facts_of_the_page_are_applied(service: Service, tmp_path: Path) -> None:
    [script] = _blocks("docs/facts.md")
    heard, printed = _run(service, script, tmp_path)
    assert heard == ["200"], printed
    assert re.findall(r'"result":"(\w+)"', printed) == ["applied"] * 3
    assert service.get("/v1/invoices/INV-9").ok()["amount_remaining"] == 8000


def test_the_calls_of_the_readme_send_one_mail(service: Service, tmp_path: Path) -> None:
    [script] = [block for block in _blocks("README.md") if "curl " in block]
    address, _, calls = script.partition("\n")
    assert address.startswith("URL=http://127.0.0.1:8080 KEY=")
    heard, printed = _run(service, calls, tmp_path)
    assert heard == ["200"] * 4 == ["200"] * _calls(calls), printed
    assert '"state":"sent"' in printed
