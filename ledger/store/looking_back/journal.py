"""Reads decisions and events for people: each request, its answer and what was recorded."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from ledger.store.statements import statement

FIRST = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
LAST = datetime.fromisoformat("2201-01-01T00:00:00+00:00")
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Which decisions to list; times are UTC, half-open, None means any.

    `customers` are all ids of one customer. A filter with `invoice_id` also needs `debtors` (all
    ids of every customer that the invoice ever named) and `permits` (all that were granted for
    it): the decision log has a column for the first invoice of a reminder only, and has the others
    only in the request.
    """

    customers: tuple[str, ...] | None = None
    invoice_id: str | None = None
    debtors: tuple[str, ...] = ()
    permits: tuple[str, ...] = ()
    thread_id: str | None = None
    sender: str | None = None
    code: str | None = None
    from_: datetime | None = None
    to: datetime | None = None


async def list_decisions(
    connection: AsyncConnection[Any],
    wanted: DecisionFilter,
    limit: int,
    before: tuple[datetime, str] | None,
) -> list[dict[str, Any]]:
    """Decisions, newest first."""
    at, id_ = before or (LAST, _LAST_ID)
    values = {
        "customers": list(wanted.customers) if wanted.customers is not None else None,
        "invoice_id": wanted.invoice_id,
        "debtors": list(wanted.debtors),
        "permits": list(wanted.permits),
        "thread_id": wanted.thread_id,
        "sender": wanted.sender,
        "code": wanted.code,
        "from": wanted.from_ or FIRST,
        "to": wanted.to or LAST,
        "before": at,
        "before_id": id_,
        "limit": limit,
    }
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(statement("decisions", "list"), values)
        return await cursor.fetchall()


async def get_decision(connection: AsyncConnection[Any], decision_id: str) -> dict[str, Any] | None:
    """One decision with its request, its answer and the text of its policy; None if unknown."""
    cursor = await connection.execute(statement("decisions", "get"), {"decision_id": decision_id})
    row = await cursor.fetchone()
    if row is None:
        return None
    names = (
        "decision_id decided_at operation key_id sender kind customer_id invoice_id thread_id "
        "status code replayed policy position request answer policy_text"
    ).split()
    found = dict(zip(names, row, strict=True))
    return found | {"repeats": found["answer"].get("repeats", 0)}


async def list_events(
    connection: AsyncConnection[Any], aggregates: list[UUID] | None, limit: int, after: int
) -> list[dict[str, Any]]:
    """Events in log order, of these aggregates or (None) of all, after a position."""
    name = "events" if aggregates is None else "events_of"
    values: dict[str, Any] = {"limit": limit, "after": after, "aggregates": aggregates}
    rows = await (await connection.execute(statement("decisions", name), values)).fetchall()
    names = ("position", "aggregate_id", "version", "topic", "state", "recorded_at", "hash")
    return [dict(zip(names, row, strict=True)) for row in rows]


async def ledger_status(
    connection: AsyncConnection[Any],
) -> tuple[int, datetime, dict[str, int]]:
    """The log's last position, the ledger's time (UTC), and counts of what needs attention."""
    row = await (await connection.execute(statement("ledger", "status"))).fetchone()
    assert row is not None
    position, now, live, unknown, undelivered, unseen = row
    counts = {
        "live permits": live,
        "permits with unknown outcome": unknown,
        "alerts to be delivered": undelivered,
        "alerts nobody has seen": unseen,
    }
    return position, now, counts
