"""The ledger as an MCP server: an agent asks, reports, and reads why and what is due."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Annotated, Any, Literal
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field
from sendledger import Ask, AsyncLedger, Delivered, Denied, Outcome, Unavailable

from api.contract.fields import Kind
from api.gates.mcp.answers import AWAY, Answer, away, no, not_read, reported, yes
from api.gates.mcp.mails import mails_in

_HOW = """Ask this ledger before you send any mail to a customer: it grants each real-world mail
once, whoever asks, however often. Call ask_to_send, send only where it says may_send, then call
report. Every answer has `next`: do that."""
_READS = ToolAnnotations(read_only_hint=True)
_MOST = 100
_PAGE = 1000
_PAGES = 5


def server_of(ledger: AsyncLedger) -> MCPServer[Any]:
    """The server, with its tools."""
    server: MCPServer[Any] = MCPServer(
        "send-ledger", instructions=_HOW, version=version("send-ledger"), log_level="WARNING"
    )
    _add_sending(server, ledger)
    _add_reading(server, ledger)
    return server


def _add_sending(server: MCPServer[Any], ledger: AsyncLedger) -> None:
    @server.tool()
    async def ask_to_send(
        kind: Annotated[Kind, Field(description="what the mail is")],
        customer_id: str | None = None,
        to: Annotated[str | None, Field(description="the address")] = None,
        cc: Annotated[list[str] | None, Field(description="further recipients")] = None,
        thread_id: Annotated[str | None, Field(description="of a mail in a thread")] = None,
        in_reply_to: Annotated[str | None, Field(description="reply: Message-ID answered")] = None,
        intent: Annotated[str | None, Field(description="message: what it is for")] = None,
        step: Annotated[int | None, Field(description="follow_up: its number")] = None,
        event_type: Annotated[str | None, Field(description="notification: what happened")] = None,
        event_id: Annotated[str | None, Field(description="its id where it happened")] = None,
        invoices: Annotated[list[str] | None, Field(description="reminder: the invoices")] = None,
        stage: Annotated[str | None, Field(description="reminder: the stage")] = None,
        invoice_id: Annotated[str | None, Field(description="payment_failed: the invoice")] = None,
        inbox_id: Annotated[str | None, Field(description="digest: the inbox")] = None,
        date: Annotated[str | None, Field(description="digest: YYYY-MM-DD")] = None,
        incident_id: Annotated[str | None, Field(description="apology: the incident")] = None,
    ) -> dict[str, Any]:
        """May this mail be sent? Call it right before you send; send only where may_send is true.

        The same mail is granted once. Name it by what it is about (an event, an intent, the message
        that it answers), not by its text.
        """
        fields = {
            "customer_id": customer_id,
            "to": to,
            "cc": cc,
            "thread_id": thread_id,
            "in_reply_to": in_reply_to,
            "intent": intent,
            "step": step,
            "event_type": event_type,
            "event_id": event_id,
            "invoices": invoices,
            "stage": stage,
            "invoice_id": invoice_id,
            "inbox_id": inbox_id,
            "date": date,
            "incident_id": incident_id,
        }
        try:
            granted = await ledger.ask(Ask(kind, fields))
            # Its block is left open: the agent reports by another call, perhaps to another process.
            permit = await ledger.redeem(granted).__aenter__()
        except Denied as denied:
            return no(denied)
        except Unavailable as error:
            return away(error)
        return yes(permit)

    @server.tool()
    async def report(
        permit_id: str,
        outcome: Annotated[
            Literal["sent", "rejected", "unknown"],
            Field(description="rejected: it certainly did not go out; in doubt: unknown"),
        ],
        provider_message_id: Annotated[str | None, Field(description="if you know it")] = None,
        detail: Annotated[str | None, Field(description="why, without addresses")] = None,
    ) -> dict[str, Any]:
        """Say what became of a mail that ask_to_send allowed. Call it once for each permit."""
        told = Outcome(outcome, detail, Delivered(provider_message_id))
        try:
            return reported(await ledger.report(permit_id, told), outcome)
        except Denied as denied:
            return not_read(denied)
        except Unavailable:
            return {"code": "unavailable", "next": "Do not send again; call report again later."}


def _add_reading(server: MCPServer[Any], ledger: AsyncLedger) -> None:
    @server.tool(annotations=_READS)
    async def what_is_due(
        stage: Annotated[str | None, Field(description="only this stage")] = None,
        limit: Annotated[int, Field(ge=1, le=_MOST)] = 25,
    ) -> dict[str, Any]:
        """Which customers have a reminder newly due, and who cannot be mailed now."""

        async def read() -> Answer:
            page = await ledger.read("/v1/due", stage=stage, limit=limit)
            ready = [one for one in page["items"] if one.get("withheld") is None]
            step = "Nothing is due: send no reminder."
            if ready:
                step = "Call ask_to_send with kind reminder and all invoices of one customer."
            elif page["items"]:
                step = "Send no reminder now: withheld says from when on each may be mailed."
            return {"customers": page["items"], "more": page["next"] is not None, "next": step}

        return await _read(read)

    @server.tool(annotations=_READS)
    async def why_not(
        decision_id: Annotated[str, Field(description="from the answer of ask_to_send")],
    ) -> dict[str, Any]:
        """Why a mail was refused or granted: the rule that spoke, and the rules before it."""

        async def read() -> Answer:
            found = await ledger.read(f"/v1/decisions/{quote(decision_id, safe='')}")
            guards = (found.get("explanation") or {}).get("guards", [])
            told = [one for one in guards if one["verdict"] == "denied"]
            answer = found.get("answer") or {}
            step = answer.get("next_step") or "It was granted; nothing is to be done."
            return {
                "asked": found["request"],
                "asked_by": found["sender"],
                "at": found["decided_at"],
                "code": found["code"],
                "why": answer.get("detail"),
                "denied_by": told,
                "passed": [one["guard"] for one in guards if one["verdict"] == "passed"],
                "next": step,
            }

        return await _read(read)

    @server.tool(annotations=_READS)
    async def mails_of_late(
        customer_id: str | None = None,
        address: Annotated[str | None, Field(description="instead of customer_id")] = None,
        limit: Annotated[int, Field(ge=1, le=_MOST)] = 20,
    ) -> dict[str, Any]:
        """What a customer was or should be mailed of late, and how many more mails may go."""

        async def read() -> Answer:
            name = customer_id
            if name is None and address is not None:
                found = await ledger.read("/v1/customers/search", {"address": address})
                name = next((one["customer_id"] for one in found["items"]), None)
            if name is None:
                return {"mails": [], "next": "The ledger knows no such customer: just ask_to_send."}
            customer = await ledger.read(f"/v1/customers/{quote(name, safe='')}")
            entries = await _timeline(ledger, name)
            step = "Call ask_to_send before you send anything; what is listed as sent is done."
            if customer["breaker"]["state"] == "open":
                step = "Send nothing: a person must look at this customer and reset the breaker."
            return {
                "customer_id": customer["customer_id"],
                "windows": customer["windows"],
                "breaker": customer["breaker"]["state"],
                "mails": mails_in(entries)[:limit],
                "next": step,
            }

        return await _read(read)


async def _timeline(ledger: AsyncLedger, customer_id: str) -> list[Any]:
    """What happened to the customer, oldest first."""
    path, cursor, found = f"/v1/customers/{quote(customer_id, safe='')}/timeline", None, []
    for _ in range(_PAGES):
        page = await ledger.read(path, limit=_PAGE, cursor=cursor)
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    return found


async def _read(read: Callable[[], Awaitable[Answer]]) -> Answer:
    try:
        return await read()
    except Denied as denied:
        return not_read(denied)
    except Unavailable:
        return {"code": "unavailable", "next": AWAY}
