"""The ledger's own MCP server: an agent asks, reports and reads, and is told what to do next."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client
from sendledger import AsyncLedger, Pace

from api.cli.main import main
from api.gates.mcp.server import server_of
from tests.support.receivers import free_port
from tests.support.service import ROOT, Service
from tests.support.service import Client as Key


def _run(service: Service, key: str, use: Any, url: str | None = None) -> None:
    """Use the server, in this process."""

    async def connected() -> None:
        pace = Pace(deadline=0.2)
        ledger = AsyncLedger(url or str(service.http.base_url), key, pace=pace if url else None)
        try:
            async with Client(server_of(ledger)) as client:

                async def call(name: str, **arguments: Any) -> dict[str, Any]:
                    result = await client.call_tool(name, arguments)
                    assert not result.is_error, result
                    found = result.structured_content
                    assert isinstance(found, dict)
                    assert found["next"].endswith("."), found
                    return found

                await use(call)
        finally:
            await ledger.close()

    asyncio.run(connected())


def test_an_agent_asks_sends_and_reports(service: Service, key: Key, name: str) -> None:
    to = f"pat-{name}@example.com"
    shipped = {"kind": "notification", "event_type": "shipped", "event_id": name, "to": to}

    async def use(call: Any) -> None:
        yes = await call("ask_to_send", **shipped)
        assert (yes["may_send"], yes["to"]) == (True, to)
        assert yes["headers"]["X-Ledger-Send"]
        assert "call report" in yes["next"]
        held = await call("ask_to_send", **shipped)
        assert (held["may_send"], held["code"]) == (False, "permit_held")
        told = await call(
            "report", permit_id=yes["permit_id"], outcome="sent", provider_message_id=f"re-{name}"
        )
        assert (told["state"], told["next"]) == ("sent", "Done: do not send this mail again.")
        no = await call("ask_to_send", **shipped)
        assert (no["may_send"], no["code"], no["sent_by"]) == (False, "already_sent", key.name)
        assert no["next"] == "Do not send: this mail went out already."
        wrong = await call("report", permit_id=yes["permit_id"], outcome="rejected")
        assert wrong["code"] == "already_settled"
        found = await call("why_not", decision_id=no["decision_id"])
        assert found["code"] == "forbidden"
        assert "scope audit" in found["next"]

    _run(service, key.key, use)
    sent = service.get("/v1/permits", state="sent", limit=1000).ok()["items"]
    assert f"re-{name}" in {one["provider_message_id"] for one in sent}


def test_an_agent_reads_why_what_is_due_and_what_a_customer_had(
    service: Service, key: Key, name: str
) -> None:
    reader = service.client("send", "audit")
    to, customer = f"pat-{name}@example.com", f"c-{name}"
    key.put_invoice(name, customer_id=customer, email=to, due_on="2026-11-27").ok()
    event = {"kind": "notification", "event_type": "e", "event_id": name, "customer_id": customer}
    key.send(**event)

    async def use(call: Any) -> None:
        due = await call("what_is_due")
        invoices = [i["invoice_id"] for c in due["customers"] for i in c["invoices"]]
        assert name in invoices
        assert due["next"].startswith("Call ask_to_send with kind reminder")
        no = await call("ask_to_send", **event)
        why = await call("why_not", decision_id=no["decision_id"])
        assert (why["code"], why["denied_by"][0]["code"]) == ("already_sent", "already_sent")
        assert why["next"] == no["next"]
        mails = await call("mails_of_late", address=to)
        assert mails["customer_id"] == customer
        assert mails["windows"]["outreach_24h"]["used"] == 1
        assert [one.get("denied") or one["state"] for one in mails["mails"]] == [
            "already_sent",
            "sent",
        ]
        assert {one["kind"] for one in mails["mails"]} == {"notification"}
        nobody = await call("mails_of_late", address=f"nobody-{name}@example.com")
        assert nobody["mails"] == []

    _run(service, reader.key, use)


def test_without_a_ledger_or_a_key_nothing_may_be_sent(service: Service) -> None:
    codes = []

    async def use(call: Any) -> None:
        no = await call("ask_to_send", kind="message", thread_id="t", intent="i")
        assert no["may_send"] is False
        codes.append(no["code"])
        assert "code" in await call("what_is_due")

    _run(service, "slk_nobody", use)
    _run(service, "slk_nobody", use, "http://127.0.0.1:9")
    assert codes == ["unauthorized", "unavailable"]


@contextmanager
def _served(service: Service, key: Key, port: int) -> Iterator[None]:
    command = [sys.executable, "-m", "api.cli.main", "mcp", "--http", f"127.0.0.1:{port}"]
    env = {"LEDGER_URL": str(service.http.base_url), "LEDGER_KEY": key.key}
    with subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.DEVNULL) as process:
        try:
            give_up = time.monotonic() + 60
            while True:
                assert process.poll() is None
                assert time.monotonic() < give_up
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield
        finally:
            process.terminate()


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_it_is_served_by_both_transports(
    service: Service, key: Key, name: str, transport: str
) -> None:
    env = {"LEDGER_URL": str(service.http.base_url), "LEDGER_KEY": key.key}

    async def use(way: Any) -> list[str]:
        async with Client(way) as client:
            event = {"event_type": "e", "event_id": name, "to": f"pat-{name}@example.com"}
            answer = await client.call_tool("ask_to_send", {"kind": "notification", **event})
            assert answer.structured_content is not None
            assert answer.structured_content["may_send"] is True
            return sorted(tool.name for tool in (await client.list_tools()).tools)

    if transport == "stdio":
        arguments = ["-m", "api.cli.main", "mcp"]
        started = StdioServerParameters(command=sys.executable, args=arguments, env=env, cwd=ROOT)
        names = asyncio.run(use(stdio_client(started)))
    else:
        port = free_port()
        with _served(service, key, port):
            names = asyncio.run(use(f"http://127.0.0.1:{port}/mcp"))
    assert names == ["ask_to_send", "mails_of_late", "report", "what_is_due", "why_not"]


def test_it_listens_on_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_KEY", "slk_x")
    answer = CliRunner().invoke(main, ["mcp", "--http", "0.0.0.0:8000"])
    assert answer.exit_code == 1
    assert "listen on this machine only" in answer.output
