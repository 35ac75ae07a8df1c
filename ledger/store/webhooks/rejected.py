"""Webhook bodies that could not be used: kept once each, alerted on once per kind, replayed (D10).

They are the only place beside `contacts` that may hold addresses, so they go after the policy's
days (design D18). Every function works on any psycopg connection in autocommit mode.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Json

from ledger.application.effects import Alert
from ledger.store.alerts.alerting import raise_alert
from ledger.store.statements import statement

_SECRET_HEADERS = ("authorization", "cookie", "proxy-authorization")
_FOLDER = "webhooks"

Connection = AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a body, or a part of it, could not be used; neither text holds a value of the body."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A kept body as it is listed; times are the ledger's (UTC), `size` is what is kept, in bytes.

    `fetched` names the kind of object where the body is what the provider's API answered.
    `resolution` is `replayed` or `dismissed`, None while it is open; the bytes of one that is
    resolved are gone.
    """

    rejected_id: int
    provider: str
    reasons: tuple[Reason, ...]
    size: int
    copies: int
    fetched: str | None
    received_at: datetime
    last_received_at: datetime
    replayed_at: datetime | None
    resolved_at: datetime | None
    resolution: str | None


@dataclass(frozen=True, slots=True)
class RejectedBody:
    """A kept body with what is needed to read it again."""

    row: RejectedRow
    headers: dict[str, str]
    body: bytes


async def keep_rejected(
    connection: Connection,
    provider: str,
    reasons: Sequence[Reason],
    headers: Mapping[str, str],
    body: bytes,
    fetched: str | None = None,
) -> int:
    """Keep a body with the headers that its replay needs; the same bytes are kept once.

    One alert per provider and kind, and another only after every body of the kind was resolved.
    """
    kept = {name: value for name, value in headers.items() if name not in _SECRET_HEADERS}
    values = {
        "provider": provider,
        **_reasons(reasons),
        "headers": Json(kept),
        "body": body,
        "fetched": fetched,
    }
    async with connection.transaction():
        cursor = await connection.execute(statement(_FOLDER, "keep"), values)
        row = await cursor.fetchone()
        assert row is not None
        rejected_id, is_open = row
        if is_open:
            await _alert(connection, provider, reasons)
    return int(rejected_id)


async def note_replay(connection: Connection, kept: RejectedRow, reasons: Sequence[Reason]) -> None:
    """Write down what a replay led to: used in full, then its bytes go; or the reasons left."""
    async with connection.transaction():
        await connection.execute(
            statement(_FOLDER, "replayed"),
            {"rejected_id": kept.rejected_id, "used": not reasons, **_reasons(reasons)},
        )
        if reasons:
            await _alert(connection, kept.provider, reasons)
        await connection.execute(statement(_FOLDER, "close_kinds"))


async def dismiss_rejected(connection: Connection, rejected_id: int) -> bool:
    """A person says that nothing needs to be done; false where no such body is open.

    Its bytes go; the same bytes are known again by their hash, and not kept a second time.
    """
    async with connection.transaction():
        cursor = await connection.execute(
            statement(_FOLDER, "dismiss"), {"rejected_id": rejected_id}
        )
        await connection.execute(statement(_FOLDER, "close_kinds"))
    return cursor.rowcount > 0


async def list_rejected(
    connection: Connection,
    *,
    limit: int,
    after: int = 0,
    provider: str | None = None,
    kind: str | None = None,
    resolved: bool = False,
) -> list[RejectedRow]:
    """Kept bodies by id, oldest first: those that are open, with `resolved` the others too."""
    cursor = await connection.execute(
        statement(_FOLDER, "list"),
        {"limit": limit, "after": after, "provider": provider, "kind": kind, "all": resolved},
    )
    return [_row(row) for row in await cursor.fetchall()]


async def get_rejected(connection: Connection, rejected_id: int) -> RejectedBody | None:
    """One kept body, None where there is none of that id."""
    cursor = await connection.execute(statement(_FOLDER, "get"), {"rejected_id": rejected_id})
    row = await cursor.fetchone()
    return RejectedBody(_row(row[:-2]), row[-2], bytes(row[-1])) if row is not None else None


async def clear_old_rejected(connection: Connection, days: int, limit: int = 1000) -> int:
    """Forget bodies that arrived more than `days` days ago, at most `limit`; answers how many."""
    async with connection.transaction():
        cursor = await connection.execute(
            statement(_FOLDER, "clear_old"), {"days": days, "limit": limit}
        )
        if cursor.rowcount:
            await connection.execute(statement(_FOLDER, "close_kinds"))
    return cursor.rowcount


async def _alert(connection: Connection, provider: str, reasons: Sequence[Reason]) -> None:
    for kind in sorted({reason.kind for reason in reasons}):
        cursor = await connection.execute(
            statement(_FOLDER, "open_kind"), {"provider": provider, "kind": kind}
        )
        row = await cursor.fetchone()
        assert row is not None
        key = f"ingest_rejected:{provider}:{kind}:{row[0]}"
        summary = f"a webhook of {provider} could not be used: {kind}"
        await raise_alert(connection, Alert("ingest_rejected", key, summary))


def _reasons(reasons: Sequence[Reason]) -> dict[str, Any]:
    told = list(dict.fromkeys(reasons))[:100]
    return {
        "kinds": sorted({reason.kind for reason in reasons}),
        "reasons": Json([{"kind": reason.kind, "detail": reason.detail} for reason in told]),
    }


def _row(row: Sequence[Any]) -> RejectedRow:
    reasons = tuple(Reason(told["kind"], told["detail"]) for told in row[2])
    return RejectedRow(row[0], row[1], reasons, *row[3:])
