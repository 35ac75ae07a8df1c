"""The client's README, guide and recipes: the code in them is Python, and what it calls exists."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from clients.python.tests.test_smtp import Server
from tests.support.receivers import free_port
from tests.support.service import ROOT, Service

from sendledger import AsyncLedger, Denied, Ledger, Permit, kinds

README = ROOT / "clients/python/README.md"
PAGES = [
    README,
    ROOT / "docs/guides/python-client.md",
    *sorted(p for p in (ROOT / "docs/recipes").glob("*.md") if "```python" in p.read_text("utf-8")),
]
OBJECTS: dict[str, Any] = {"ledger": Ledger, "permit": Permit, "kinds": kinds}
KINDS = frozenset(
    {"reminder", "payment_failed", "reply", "message", "follow_up", "notification", "digest"}
)


def blocks(page: Path) -> list[str]:
    """The page's pieces of Python."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def calls(tree: ast.AST) -> Iterator[tuple[list[str], ast.Call]]:
    """Calls of dotted names, with the names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            dotted = ast.unparse(node.func)
            if re.fullmatch(r"[\w.]+", dotted):
                yield dotted.split("."), node


def takes(function: Any, call: ast.Call, name: str) -> None:
    """Fails where the function takes no argument of a name that the call uses."""
    signature = inspect.signature(function)
    common = {*kinds.Timely.__annotations__, *kinds.Common.__annotations__}
    known = set(signature.parameters) | (common if "more" in signature.parameters else set())
    open_ended = any(
        p.kind is p.VAR_KEYWORD and p.name != "more" for p in signature.parameters.values()
    )
    given = {keyword.arg for keyword in call.keywords if keyword.arg}
    assert open_ended or given <= known, f"{name} takes no {given - known}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_imports_and_calls_is_there(page: Path) -> None:
    found = blocks(page)
    assert found
    for block in found:
        tree = ast.parse(textwrap.dedent(block))
        imported: dict[str, Any] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sendledger"):
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    imported[alias.name] = getattr(module, alias.name)
        for names, call in calls(tree):
            _check(names, call, imported)


def _check(names: list[str], call: ast.Call, imported: dict[str, Any]) -> None:
    first, *rest = names
    if first == "ledger" and rest[:1] == ["permit"]:
        assert rest[1] in KINDS
        takes(getattr(kinds, rest[1]), call, rest[1])
    elif first in OBJECTS and rest:
        takes(getattr(OBJECTS[first], rest[0]), call, ".".join(names))
    elif first in imported and not rest:
        takes(imported[first], call, first)


def test_the_check_of_pages_can_fail() -> None:
    for text in (
        "ledger.permit.replay(thread_id=1)",
        "ledger.permit.reply(thread=1)",
        "ledger.send_twice(1)",
        "kinds.digest(day=1)",
    ):
        ((names, call),) = calls(ast.parse(text))
        with pytest.raises((AssertionError, AttributeError)):
            _check(names, call, {})
    assert {name for name in vars(AsyncLedger) if not name.startswith("_")} >= {"send_once", "due"}


@pytest.fixture
def mails() -> Iterator[tuple[Server, int]]:
    """An SMTP server, and its port."""
    server, port = Server(), free_port()
    controller = Controller(server, hostname="127.0.0.1", port=port)
    controller.start()
    yield server, port
    controller.stop()


def test_the_agent_of_the_readme_sends_twice_and_guarded_once(
    service: Service, mails: tuple[Server, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, port = mails
    monkeypatch.setenv("LEDGER_URL", str(service.http.base_url))
    monkeypatch.setenv("LEDGER_KEY", service.client("send").key)
    unguarded, guarded = blocks(README)[:2]
    assert len([line for line in unguarded.splitlines() if line.strip()]) <= 10
    incoming = {
        "from": "pat@example.com",
        "subject": "Where is it?",
        "thread_id": "readme-1",
        "message_id": "<readme-1@example.com>",
    }
    world: dict[str, Any] = {"write": lambda mail: "It is on its way.", "fact": _fact}
    counted = Counter[str]()
    for name, block in (("unguarded", unguarded), ("guarded", guarded)):
        exec(block.replace('"localhost"', f'"127.0.0.1", {port}'), world)
        for _ in range(2):
            try:
                world["answer"](incoming)
            except Denied as denied:
                counted[denied.code] += 1
        counted[name] = len(server.mails)
        server.mails.clear()
    world["ledger"].close()
    assert counted == {"unguarded": 2, "guarded": 1, "already_replied": 1}


def _fact(mail: dict[str, str]) -> dict[str, Any]:
    """The incoming mail as the ledger takes it."""
    return {
        "thread_id": mail["thread_id"],
        "message_id": mail["message_id"],
        "direction": "inbound",
        "from": mail["from"],
        "to": "help@acme.example",
        "headers": {"Auto-Submitted": "no"},
    }
