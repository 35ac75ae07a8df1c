"""The guides of the gates show files that the gates read, and name every header field and tool."""

import re
import tomllib
from typing import Any

import pytest

from api.gates.http.configuration import HttpGateFile
from api.gates.http.registry import PROVIDERS
from api.gates.mcp.guard_file import GuardFile
from api.gates.mcp.tool_asks import wanted
from api.gates.purpose import _OF_HEADER
from api.gates.rules import Seen, fit_of
from api.gates.smtp.configuration import GateFile
from tests.architecture.tree import ROOT

_GUIDES = ROOT / "docs" / "guides"
_SMTP = (_GUIDES / "smtp-gate.md").read_text(encoding="utf-8")
_HTTP = (_GUIDES / "http-gate.md").read_text(encoding="utf-8")
_MCP = (_GUIDES / "mcp.md").read_text(encoding="utf-8")


def _shown(page: str) -> dict[str, Any]:
    """All TOML of a page, as one file."""
    return tomllib.loads("\n".join(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)))


def _gate_file() -> GateFile:
    here = re.search(r"<<EOF\n(.*?)EOF", _SMTP, re.DOTALL)
    assert here is not None
    first = tomllib.loads(here[1].replace("$(openssl rand -hex 16)", "0" * 32))
    return GateFile.model_validate(first | _shown(_SMTP))


def test_the_smtp_gates_file_is_read_and_its_bounds_are_the_defaults() -> None:
    file = _gate_file()
    assert file.bounds == GateFile.model_validate({"anonymous": {"key": "k"}}).bounds
    assert file.login[0].username == "shop"


@pytest.mark.parametrize(
    ("login", "sender", "recipient", "subject", "kind", "refused"),
    [
        ("shop", "billing@x.example", "a@b.example", "Invoice INV-7 is overdue", "reminder", None),
        ("shop", "tracker@x.example", "a@b.example", "Ticket", "fingerprint", None),
        ("legacy", "a@x.example", "a@b.example", "Hello", None, "drop"),
        ("shop", "a@x.example", "archive@acme.example", "Hello", "unguarded", None),
    ],
)
def test_its_rules_do_what_the_page_says(
    login: str, sender: str, recipient: str, subject: str, kind: str | None, refused: str | None
) -> None:
    fit = fit_of(_gate_file().rule, Seen(login, sender, subject), recipient)
    assert (fit.kind, fit.refused) == (kind, refused)
    assert fit.fields == ({"invoices": ["INV-7"]} if kind == "reminder" else {})


def test_every_header_field_is_named() -> None:
    named = set(re.findall(r"`X-Ledger-([A-Za-z-]+)`", _SMTP))
    assert {name.lower() for name in named} >= {*_OF_HEADER, "kind", "invoice", "permit", "send"}


def test_the_http_gates_file_is_read_and_its_bounds_are_the_defaults() -> None:
    # Its second piece begins with names of the file itself, which TOML wants first.
    first, second = re.findall(r"```toml\n(.*?)```", _HTTP, re.DOTALL)
    file = HttpGateFile.model_validate(tomllib.loads(second) | tomllib.loads(first))
    assert file.bounds == HttpGateFile.model_validate({"anonymous": {"key": "k"}}).bounds
    assert file.login[0].name == "shop"
    assert file.upstream.url == {"mailgun": "https://api.eu.mailgun.net"}


def test_every_provider_of_the_http_gate_is_named() -> None:
    named = {one.lower() for one in re.findall(r"^\| ([A-Z][A-Za-z]+) \| `\{", _HTTP, re.MULTILINE)}
    assert named == set(PROVIDERS)


def test_the_guards_file_is_read() -> None:
    file = GuardFile.model_validate(_shown(_MCP))
    asked = wanted("notify_order", {"order_id": 9, "to": "pat@example.com"}, file, b"k").ask
    assert (asked.kind, asked.fields["event_id"]) == ("notification", "9")
    assert file.rule("send_email").failed == "rejected"
    assert file.rule("send_invite").sends is False
