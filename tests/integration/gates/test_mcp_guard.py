"""The guard before an e-mail MCP server, as the SDK's own client sees it."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

from tests.support.service import ROOT, Service
from tests.support.service import Client as Key

_SERVER = str(ROOT / "tests" / "support" / "email_mcp_server.py")


def guarded(
    service: Service, key: Key, outbox: Path, *options: str, errlog: Any = sys.stderr
) -> Any:
    """The way to a guarded server, for `Client`."""
    arguments = ["-m", "api.cli.main", "mcp", "guard", *options, "--"]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*arguments, sys.executable, _SERVER, str(outbox)],
        env={
            "LEDGER_URL": str(service.http.base_url),
            "LEDGER_KEY": key.key,
            "PYTHONPATH": str(ROOT),
        },
        cwd=ROOT,
    )
    return stdio_client(parameters, errlog=errlog)


def sent(outbox: Path) -> list[dict[str, Any]]:
    """The mails that went out."""
    return [json.loads(line) for line in outbox.read_text().splitlines()] if outbox.exists() else []


def text_of(result: Any) -> str:
    """What the model reads."""
    return str(result.content[0].text)


def test_a_sending_tool_needs_a_permit_and_all_else_passes(
    service: Service, key: Key, tmp_path: Path, name: str
) -> None:
    outbox, to = tmp_path / "outbox", f"pat-{name}@example.com"
    mail = {"to": [to], "subject": "Your order", "body": "It is on its way."}
    again = {**mail, "subject": "  YOUR order", "body": "It is on  its way.\n"}
    shipped = {"kind": "notification", "event_type": "shipped", "event_id": name}

    async def use() -> None:
        async with Client(guarded(service, key, outbox)) as client:
            first = await client.call_tool("send_email", mail)
            assert not first.is_error
            assert first.structured_content == {"id": "mail-1"}
            refused = await client.call_tool("send_email", again)
            assert refused.is_error
            assert text_of(refused).startswith("Not sent. already_sent: ")
            assert text_of(refused).endswith("Do not send: this mail went out already.")

            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert "send_ledger" in tools["send_email"].input_schema["properties"]
            assert "send_ledger" in tools["reply_to_email"].input_schema["properties"]
            assert "send_ledger" not in tools["search_emails"].input_schema["properties"]
            for words in ("One wording.", "Another wording."):
                await client.call_tool(
                    "send_email", {**mail, "body": words, "send_ledger": shipped}
                )

            fails = {**mail, "to": [f"kim-{name}@example.com"], "subject": "fail"}
            failed = await client.call_tool("send_email", fails)
            assert failed.is_error
            assert "the provider timed out" in text_of(failed)
            repeat = await client.call_tool("send_email", fails)
            assert text_of(repeat).startswith("Not sent. outcome_unknown: ")

            unknown = await client.call_tool("reply_to_email", {"message_id": "<q@x>", "body": "a"})
            assert text_of(unknown).startswith("Not sent. unknown_message: ")
            found = await client.call_tool("search_emails", {"to": to, "subject": "x"})
            assert text_of(found) == f"{to}: x"
            prompt = await client.get_prompt("greeting", {"name": "Pat"})
            assert prompt.messages[0].content.text == "Dear Pat,"

    asyncio.run(use())
    assert [one["body"] for one in sent(outbox)] == ["It is on its way.", "One wording."]
    permits = service.get("/v1/permits", state="sent", limit=1000).ok()["items"]
    assert {one["provider_message_id"] for one in permits} >= {"mail-1", "mail-2"}


def test_two_agents_that_race_for_one_send_make_one_mail(
    service: Service, key: Key, tmp_path: Path, name: str
) -> None:
    outbox = tmp_path / "outbox"
    shipped = {"kind": "notification", "event_type": "shipped", "event_id": name}
    other = service.client("send")

    async def agent(client: Client, words: str) -> str:
        mail = {"to": [f"pat-{name}@example.com"], "subject": words, "body": words}
        return text_of(await client.call_tool("send_email", {**mail, "send_ledger": shipped}))

    async def race() -> list[str]:
        async with (
            Client(guarded(service, key, outbox)) as one,
            Client(guarded(service, other, outbox)) as two,
        ):
            racing = [agent(client, f"{n}") for n in range(3) for client in (one, two)]
            return list(await asyncio.gather(*racing))

    heard = asyncio.run(race())
    assert len(sent(outbox)) == 1
    refused = [text for text in heard if text.startswith("Not sent. ")]
    assert len(refused) == 5
    assert {text.split(": ")[0] for text in refused} <= {
        "Not sent. permit_held",
        "Not sent. already_sent",
    }


def test_an_observer_lets_all_through_and_says_what_it_would_have_refused(
    service: Service, key: Key, tmp_path: Path, name: str
) -> None:
    outbox = tmp_path / "outbox"
    mail = {"to": [f"pat-{name}@example.com"], "subject": "s", "body": "b"}

    async def use(told: Any) -> None:
        async with Client(guarded(service, key, outbox, "--observe", errlog=told)) as client:
            for _ in range(3):
                assert not (await client.call_tool("send_email", mail)).is_error

    with tempfile.TemporaryFile("w+") as told:
        asyncio.run(use(told))
        told.seek(0)
        lines = told.read().splitlines()
    assert len(sent(outbox)) == 3
    assert lines[-3] == "3 sent, of which the ledger would have refused 2"
    assert lines[-2] == "  2 x send_email: already_sent"
    assert "@" not in lines[-1]
