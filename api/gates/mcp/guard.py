"""The MCP guard: stands between a client and an e-mail server, and lets mails through by permit.

It passes messages on as they come, in both directions. Only `tools/call` of a sending tool waits
for a permit, and such tools are listed with one argument more. It knows no version of the protocol.
"""

import asyncio
import contextlib
import copy
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from sendledger import AsyncLedger, Delivered, Denied, Granted, Permit, Refused, Unavailable

from api.gates.addresses import same_address
from api.gates.mcp.guard_file import GuardFile
from api.gates.mcp.observed import Observed
from api.gates.mcp.tool_asks import ARGUMENT, SCHEMA, Unclear, Wanted, wanted
from api.gates.mcp.tool_mail import is_sending

_log = logging.getLogger("ledger.gate")
Message = dict[str, Any]
_OWN_ID = "send-ledger-guard-"
_MODERN = "io.modelcontextprotocol/protocolVersion"
_NEVER_RAN = frozenset({-32601, -32602})
"""JSON-RPC errors that say that the tool did not run: no such method, wrong parameters."""
_PAGES = 50
_LIST_SECONDS = 30.0
_OTHER_ADDRESS = (
    "The ledger knows another address for this mail. "
    "Send it to that one, or have a person tell the ledger of the new one."
)


class Guard:
    """One client and one server; `to_client` and `to_server` send a message."""

    def __init__(
        self,
        file: GuardFile,
        ledger: AsyncLedger,
        key: bytes,
        to_client: Callable[[Message], None],
        to_server: Callable[[Message], None],
        observed: Observed | None,
    ) -> None:
        self._file, self._ledger, self._key = file, ledger, key
        self._to_client, self._to_server, self._observed = to_client, to_server, observed
        self._tools: dict[str, Message] = {}
        self._waiting: dict[Any, asyncio.Future[Message | None]] = {}
        self._lists: set[Any] = set()
        self._calls: dict[Any, asyncio.Task[None]] = {}
        self._stopped: set[Any] = set()
        self._own, self._is_over = 0, False

    def from_client(self, message: Message) -> None:
        """Pass a message on, or ask for its permit first."""
        method, id_ = message.get("method"), message.get("id")
        if method == "tools/call" and _hashable(id_):
            if id_ in self._calls:
                self._to_client(_refusal(message, "This id is of a call that is under way."))
                return
            task = asyncio.create_task(self._call(message))
            self._calls[id_] = task
            task.add_done_callback(lambda _: self._calls.pop(id_, None))
            return
        if method == "tools/call":
            # Without an id nobody hears the answer, so no permit could be reported on.
            return
        if method == "tools/list" and _hashable(id_):
            self._lists.add(id_)
        if method == "notifications/cancelled":
            self._call_off(_params(message).get("requestId"))
        self._to_server(message)

    def from_server(self, message: Message) -> None:
        """Pass a message on; what the guard itself waits for is noted."""
        id_ = message.get("id")
        if "method" in message or not _hashable(id_):
            if message.get("method") == "notifications/tools/list_changed":
                self._tools.clear()
            self._to_client(message)
            return
        waiting = self._waiting.pop(id_, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(message)
            return
        if isinstance(id_, str) and id_.startswith(_OWN_ID):
            return
        if id_ in self._lists:
            self._lists.discard(id_)
            message = self._listed(message)
        self._to_client(message)

    def stop(self) -> None:
        """Hand nothing over any more: client or server has gone."""
        self._is_over = True

    async def end(self) -> None:
        """The server says no more: what is under way is in doubt, and reported as that."""
        self.stop()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)
        if self._calls:
            await asyncio.wait(list(self._calls.values()))

    def _call_off(self, id_: Any) -> None:
        """The client waits no more for this call."""
        if not _hashable(id_) or id_ not in self._calls:
            return
        self._stopped.add(id_)
        waiting = self._waiting.get(id_)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def _call(self, message: Message) -> None:
        """One call of a tool, to its end."""
        params = _params(message)
        name = params.get("name")
        if not isinstance(name, str):
            self._to_client(_refusal(message, "The call names no tool."))
            return
        try:
            if await self._sends(name, params):
                await self._guarded(name, params, message)
            else:
                self._to_server(message)
        except Exception as error:
            _log.exception("the guard failed")
            self._to_client(_refusal(message, f"The guard failed ({type(error).__name__})."))
        finally:
            self._stopped.discard(message["id"])

    async def _sends(self, name: str, params: Mapping[str, Any]) -> bool:
        rule = self._file.rule(name)
        if rule.sends is not None:
            return rule.sends
        if name not in self._tools:
            await self._learn(params)
        return is_sending(self._tools.get(name, {"name": name}))

    async def _guarded(self, name: str, params: Mapping[str, Any], message: Message) -> None:
        given = params.get("arguments")
        arguments = given if isinstance(given, Mapping) else {}
        bare = _without_argument(message)
        try:
            want = wanted(name, arguments, self._file, self._key)
            granted = await self._granted(want)
            if _is_for_another(granted, want):
                raise Unclear("other_address", _OTHER_ADDRESS)
            async with self._ledger.redeem(granted) as permit:
                await self._handed_over(name, permit, bare)
        except Refused:
            return
        except Denied as denied:
            said = f"{denied.code}: {denied.detail or denied.title}. {denied.next_step}"
            self._no(name, message, bare, denied.code, said)
        except Unclear as error:
            self._no(name, message, bare, error.code, f"{error.code}: {error}")
        except Unavailable as error:
            said = f"The ledger cannot be asked ({error.why}): send nothing, and try again later."
            self._no(name, message, bare, "unavailable", said)

    async def _granted(self, want: Wanted) -> Granted:
        try:
            return await self._ledger.ask(want.ask)
        except Denied as denied:
            if denied.code != "unknown_message" or want.instead is None:
                raise
        return await self._ledger.ask(want.instead)

    async def _handed_over(self, name: str, permit: Permit, message: Message) -> None:
        """Let the server send; the client hears of it at once, the ledger as the block ends."""
        id_ = message["id"]
        if self._is_over or id_ in self._stopped:
            raise Refused("the client waits no more")
        answer = await self._answered(message)
        if self._observed is not None:
            self._observed.granted(name)
        _tell(permit, answer, self._file.rule(name).failed)
        if answer is not None:
            self._to_client(answer)

    async def _answered(self, message: Message) -> Message | None:
        """The server's answer; None where it will not come."""
        if self._is_over:
            return None
        waiting: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        self._waiting[message["id"]] = waiting
        try:
            self._to_server(message)
            return await waiting
        finally:
            self._waiting.pop(message["id"], None)

    def _no(self, name: str, message: Message, bare: Message, code: str, said: str) -> None:
        """Refuse the call; an observer only notes that."""
        if self._observed is None:
            _log.info("refused: %s", code)
            self._to_client(_refusal(message, f"Not sent. {said}"))
            return
        self._observed.refused(name, code, said)
        self._to_server(bare)

    async def _learn(self, params: Mapping[str, Any]) -> None:
        """Ask the server for its tools, as the client of this call would."""
        cursor: Any = None
        for _ in range(_PAGES):
            self._own += 1
            asked: Message = {} if cursor is None else {"cursor": cursor}
            meta = params.get("_meta")
            if isinstance(meta, Mapping):
                asked["_meta"] = {n: v for n, v in meta.items() if n != "progressToken"}
            request = {
                "jsonrpc": "2.0",
                "id": f"{_OWN_ID}{self._own}",
                "method": "tools/list",
                "params": asked,
            }
            answer = None
            with contextlib.suppress(TimeoutError):
                answer = await asyncio.wait_for(self._answered(request), _LIST_SECONDS)
            result = (answer or {}).get("result")
            if not isinstance(result, Mapping):
                return
            self._note(result)
            cursor = result.get("nextCursor")
            if cursor is None:
                return

    def _note(self, result: Mapping[str, Any]) -> None:
        for tool in _tools_in(result):
            self._tools[tool["name"]] = tool

    def _listed(self, message: Message) -> Message:
        """A list of tools, in which those that send have one argument more."""
        result = message.get("result")
        if not isinstance(result, Mapping):
            return message
        self._note(result)
        changed = copy.deepcopy(message)
        for tool in _tools_in(changed["result"]):
            rule = self._file.rule(tool["name"])
            sends = is_sending(tool) if rule.sends is None else rule.sends
            schema = tool.get("inputSchema")
            properties = schema.setdefault("properties", {}) if isinstance(schema, dict) else None
            if sends and isinstance(properties, dict):
                properties[ARGUMENT] = SCHEMA
        return changed


def _tell(permit: Permit, answer: Message | None, failed: str) -> None:
    """What became of the mail, by the server's answer; doubt is `unknown`."""
    result = (answer or {}).get("result")
    if answer is None:
        permit.unknown("no answer of the e-mail server")
    elif not isinstance(result, Mapping):
        error = answer.get("error")
        code = error.get("code") if isinstance(error, Mapping) else None
        if code in _NEVER_RAN:
            permit.rejected(f"JSON-RPC error {code}")
        else:
            permit.unknown(f"JSON-RPC error {code}")
    elif result.get("resultType", "complete") == "input_required":
        permit.rejected("the tool asks for more first")
    elif result.get("resultType", "complete") != "complete" or "task" in result:
        permit.unknown("the tool goes on by itself")
    elif result.get("isError"):
        tell = permit.rejected if failed == "rejected" else permit.unknown
        tell("the tool says that it failed")
    else:
        permit.sent(Delivered(_provider_id(result)))


def _provider_id(result: Mapping[str, Any]) -> str | None:
    found = result.get("structuredContent")
    names = ("message_id", "messageId", "id")
    values = [found.get(name) for name in names] if isinstance(found, Mapping) else []
    return next((value for value in values if isinstance(value, str) and value), None)


def _is_for_another(granted: Granted, want: Wanted) -> bool:
    """Would the mail go to somebody else than its permit says?"""
    to = granted.body.get("to")
    if not isinstance(to, str) or not want.recipients:
        return False
    return same_address(to) != same_address(want.recipients[0])


def _without_argument(message: Message) -> Message:
    """The call as the server knows it."""
    params = dict(message["params"])
    if isinstance(params.get("arguments"), Mapping):
        params["arguments"] = {n: v for n, v in params["arguments"].items() if n != ARGUMENT}
    return {**message, "params": params}


def _refusal(message: Message, text: str) -> Message:
    """The answer to a call that is not passed on: a failure of the tool, which models read."""
    result: Message = {"content": [{"type": "text", "text": text}], "isError": True}
    meta = _params(message).get("_meta")
    if isinstance(meta, Mapping) and _MODERN in meta:
        result["resultType"] = "complete"
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _params(message: Message) -> Mapping[str, Any]:
    found = message.get("params")
    return found if isinstance(found, Mapping) else {}


def _tools_in(result: Mapping[str, Any]) -> list[Message]:
    """The tools of a list that are such."""
    found = result.get("tools")
    tools = found if isinstance(found, list) else []
    return [one for one in tools if isinstance(one, dict) and isinstance(one.get("name"), str)]


def _hashable(id_: Any) -> bool:
    """Is it an id of JSON-RPC? A bool is a number to Python only."""
    return isinstance(id_, str | int) and not isinstance(id_, bool)


def encoded(message: Message) -> bytes:
    """One line of the stdio transport."""
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"
