"""The guard between a client and a server: what passes, what waits, what is reported."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from sendledger import AsyncLedger, Pace

from api.gates.mcp.guard import Guard, Message, encoded
from api.gates.mcp.guard_file import GuardFile
from api.gates.mcp.observed import Observed
from api.gates.mcp.stdio import messages_in

_PERMIT = {
    "permit_id": "p1",
    "state": "granted",
    "kind": "notification",
    "customer_id": "C1",
    "to": "pat@example.com",
    "granted_at": "2026-12-01T00:00:00Z",
    "send_by": "2026-12-01T00:10:00Z",
}
_NO = {"code": "paused", "detail": "paused by ann", "next_step": "Stop.", "title": "Paused"}
_TOOLS = [{"name": "send_email", "inputSchema": {"properties": {"to": {}, "body": {}}}}]
Play = Callable[["Between"], Awaitable[None]]


class Between:
    """A guard, what its client and its server have heard, and a ledger that says yes."""

    def __init__(self, file: GuardFile, observed: Observed | None, no: bool) -> None:
        self.client: list[Message] = []
        self.server: list[Message] = []
        self.outcomes: list[dict[str, Any]] = []
        self.asked = 0
        self.may_answer = asyncio.Event()
        """The ledger answers an ask once it is set."""
        self.may_answer.set()
        self._no = no
        self._ledger = AsyncLedger(
            "http://ledger.test",
            "slk_x",
            transport=httpx.MockTransport(self._answer),
            pace=Pace(deadline=0.1),
        )
        self.guard = Guard(file, self._ledger, b"k", self.client.append, self._to_server, observed)

    def call(self, id_: Any = 1, name: str = "send_email", **more: Any) -> None:
        """A call of a tool."""
        arguments = {"to": "pat@example.com", "body": "b"}
        params = {"name": name, "arguments": arguments} | more
        self.guard.from_client(
            {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
        )

    def answers(self, id_: Any = 1, **content: Any) -> None:
        """The server answers."""
        self.guard.from_server({"jsonrpc": "2.0", "id": id_, **content})

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the guard work until it holds."""
        for _ in range(2000):
            if holds():
                return
            await asyncio.sleep(0)
        raise AssertionError((self.client, self.server, self.outcomes))

    async def handed_over(self, count: int = 1) -> None:
        """Wait until the server has so many calls."""
        await self.until(lambda: len(self._calls()) == count)

    async def reported(self, *states: str) -> None:
        """Wait until these outcomes are reported."""
        await self.until(lambda: [one["outcome"] for one in self.outcomes] == list(states))

    def _calls(self) -> list[Message]:
        return [one for one in self.server if one.get("method") == "tools/call"]

    def _to_server(self, message: Message) -> None:
        self.server.append(message)
        if str(message.get("id")).startswith("send-ledger-guard-"):
            self.answers(message["id"], result={"tools": _TOOLS})

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/redeem"):
            return httpx.Response(200, json={**_PERMIT, "state": "redeemed"})
        if request.url.path.endswith("/outcome"):
            self.outcomes.append(json.loads(request.content))
            return httpx.Response(200, json={**_PERMIT, "state": "sent"})
        self.asked += 1
        await self.may_answer.wait()
        return httpx.Response(409, json=_NO) if self._no else httpx.Response(201, json=_PERMIT)


def play(
    script: Play,
    file: GuardFile | None = None,
    observed: Observed | None = None,
    no: bool = False,
) -> Between:
    """Play a script; the guard as it was left."""

    async def run() -> Between:
        between = Between(file or GuardFile(), observed, no)
        await script(between)
        await between.guard.end()
        return between

    return asyncio.run(run())


_DONE = {"result": {"content": [], "isError": False}}


@pytest.mark.parametrize(
    ("content", "state"),
    [
        (_DONE, "sent"),
        ({"result": {"content": [], "structuredContent": {"id": "m-1"}}}, "sent"),
        ({"result": {"content": [], "isError": True}}, "unknown"),
        ({"result": {"resultType": "input_required"}}, "rejected"),
        ({"result": {"task": {"taskId": "1"}}}, "unknown"),
        ({"error": {"code": -32602, "message": "no"}}, "rejected"),
        ({"error": {"code": -32603, "message": "no"}}, "unknown"),
    ],
)
def test_what_the_server_answers_is_passed_on_and_reported(
    content: dict[str, Any], state: str
) -> None:
    async def script(between: Between) -> None:
        between.call()
        await between.handed_over()
        between.answers(**content)
        await between.reported(state)
        assert between.client == [{"jsonrpc": "2.0", "id": 1, **content}]

    play(script)


def test_a_file_may_say_that_a_failure_sends_nothing() -> None:
    async def script(between: Between) -> None:
        between.call()
        await between.handed_over()
        between.answers(result={"isError": True})
        await between.reported("rejected")

    play(script, GuardFile.model_validate({"tool": {"send_email": {"failed": "rejected"}}}))


@pytest.mark.parametrize("modern", [True, False])
def test_a_no_is_an_error_of_the_tool_that_the_model_reads(modern: bool) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"} if modern else {}

    async def script(between: Between) -> None:
        between.call(_meta=meta)
        await between.until(lambda: len(between.client) == 1)
        result = between.client[0]["result"]
        assert result["isError"] is True
        assert result["content"][0]["text"] == "Not sent. paused: paused by ann. Stop."
        assert result.get("resultType") == ("complete" if modern else None)
        assert between._calls() == []

    play(script, no=True)


def test_a_server_that_ends_or_a_client_that_waits_no_more_leaves_a_doubt() -> None:
    async def script(between: Between) -> None:
        between.call(1)
        between.call(2)
        await between.handed_over(2)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        between.guard.from_client(cancel)
        await between.reported("unknown")
        assert between.server[-1] == cancel
        await between.guard.end()
        await between.reported("unknown", "unknown")
        assert between.client == []

    play(script)


def test_a_client_that_waits_no_more_before_the_hand_over_gets_no_mail() -> None:
    async def script(between: Between) -> None:
        between.may_answer.clear()
        between.call(1)
        await between.until(lambda: between.asked == 1)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        between.guard.from_client(cancel)
        between.may_answer.set()
        await between.reported("rejected")
        assert between._calls() == []

    play(script)


def test_what_still_waits_for_its_permit_when_all_ends_is_not_handed_over() -> None:
    async def script(between: Between) -> None:
        between.may_answer.clear()
        between.call()
        await between.until(lambda: between.asked == 1)
        asyncio.get_running_loop().call_soon(between.may_answer.set)

    between = play(script)
    assert [one["outcome"] for one in between.outcomes] == ["rejected"]
    assert between._calls() == []


def test_an_id_that_is_under_way_and_a_call_without_one_are_not_passed_on() -> None:
    async def script(between: Between) -> None:
        between.call(1)
        between.call(1)
        between.call(None)
        between.call(True)
        await between.handed_over()
        between.answers(1, **_DONE)
        await between.reported("sent")
        assert len(between._calls()) == 1
        assert between.client[0]["result"]["isError"] is True

    play(script)


def test_all_else_passes_in_both_directions() -> None:
    inward = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": "x", "result": {"roots": []}},
        {"jsonrpc": "2.0", "method": "notifications/progress"},
    ]
    outward = [
        {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}},
        {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage"},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700}},
    ]

    async def script(between: Between) -> None:
        for message in inward:
            between.guard.from_client(message)
        for message in outward:
            between.guard.from_server(message)
        assert between.server == inward
        assert between.client == outward
        between.call(2, "search_emails")
        await between.handed_over()
        assert between.asked == 0

    play(script)


def test_a_mail_for_another_address_than_the_permits_is_not_sent() -> None:
    async def script(between: Between) -> None:
        between.call(arguments={"to": "kim@example.com", "body": "b"})
        await between.until(lambda: len(between.client) == 1)
        assert "other_address: " in between.client[0]["result"]["content"][0]["text"]
        assert between._calls() == []

    play(script)


@pytest.mark.parametrize("no", [True, False])
def test_the_server_does_not_see_what_the_agent_says_to_the_ledger(no: bool) -> None:
    mail = {"to": "pat@example.com", "body": "b"}
    shipped = {"kind": "notification", "event_type": "shipped", "event_id": "9"}

    async def script(between: Between) -> None:
        between.call(arguments={**mail, "send_ledger": shipped})
        await between.handed_over()
        assert between._calls()[0]["params"]["arguments"] == mail

    play(script, observed=Observed() if no else None, no=no)


def test_the_file_decides_which_tools_send() -> None:
    file = GuardFile.model_validate(
        {"tool": {"send_email": {"sends": False}, "ping": {"sends": True}}}
    )

    async def script(between: Between) -> None:
        between.call(1)
        await between.handed_over()
        assert between.asked == 0
        between.call(2, "ping")
        await between.handed_over(2)
        assert between.asked == 1

    play(script, file)


def test_an_observer_passes_on_what_it_would_refuse() -> None:
    observed = Observed()

    async def script(between: Between) -> None:
        between.call()
        await between.handed_over()
        between.answers(**_DONE)
        assert len(between.client) == 1
        assert between.outcomes == []

    play(script, observed=observed, no=True)
    assert observed.report().splitlines() == [
        "1 sent, of which the ledger would have refused 1",
        "  1 x send_email: paused",
        "      paused: paused by ann. Stop.",
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "method": "tools/call"},
        {"id": 1, "method": "tools/call", "params": []},
        {"id": 1, "method": "tools/call", "params": {"name": 7}},
        {"id": 1, "method": "tools/call", "params": {"name": "send_email", "arguments": []}},
    ],
)
def test_a_call_that_is_none_is_refused(message: Message) -> None:
    async def script(between: Between) -> None:
        between.guard.from_client(message)
        await between.until(lambda: len(between.client) == 1)
        assert between.client[0]["result"]["isError"] is True
        assert between._calls() == []

    play(script)


def test_messages_of_no_shape_pass_and_harm_nothing() -> None:
    lists: list[Any] = [[1, {"name": 2}, {"name": "send", "inputSchema": 3}], "x", None]
    odd: list[Message] = [
        {"method": "notifications/cancelled", "params": []},
        {"method": "notifications/cancelled", "params": {"requestId": {}}},
        {"id": 5, "method": "tools/list", "params": "x"},
        {},
    ]

    async def script(between: Between) -> None:
        for message in odd:
            between.guard.from_client(message)
        assert between.server == odd
        for id_, tools in enumerate(lists):
            between.guard.from_client({"id": id_, "method": "tools/list"})
            between.answers(id_, result={"tools": tools})
        assert [one["result"]["tools"] for one in between.client] == lists

    play(script)


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        (b'{"a": 1}\n', [{"a": 1}]),
        (b'[{"a": 1}, {"b": 2}]\n', [{"a": 1}, {"b": 2}]),
        (b'{"a": 1e400}', None),
        (b'{"a": NaN}', None),
        (b'["a"]', None),
        (b'"\xff"', None),
        (b"{", None),
    ],
)
def test_a_line_holds_messages_or_is_none(line: bytes, messages: list[Message] | None) -> None:
    assert messages_in(line) == messages


def test_a_message_is_written_so_that_all_read_the_same() -> None:
    (found,) = messages_in(b'{"method": "x", "method": "tools/call", "id": "\\ud800"}') or []
    assert encoded(found) == b'{"method":"tools/call","id":"\\ud800"}\n'
