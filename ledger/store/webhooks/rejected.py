"""Rejected webhook bodies: stored once each, one alert per kind, replayed or dismissed (D10).

Apart from `contacts` this is the only table that may contain addresses, so rows are deleted after
the policy's number of days (design D18). Every function works on any psycopg connection in
autocommit mode.
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
    """Why a body or a part of it was rejected; neither text contains a value from the body."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A rejected body as a list shows it; times are the ledger's (UTC), `size` is in bytes.

    `fetched` is the kind of object if the body is a response of the provider's API, else None.
    `resolution` is `replayed` or `dismissed`, None while open. A resolved body's bytes are deleted.
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
    """A rejected body with the headers and bytes that a replay needs."""

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
    """Store a body with the headers that its replay needs; the same bytes are stored once.

    Raises one alert per provider and kind, and the next only after all bodies of that kind were
    resolved.
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
    """Record a replay's result: without reasons the body is resolved and its bytes are deleted."""
    async with connection.transaction():
        await connection.execute(
            statement(_FOLDER, "replayed"),
            {"rejected_id": kept.rejected_id, "used": not reasons, **_reasons(reasons)},
        )
        if reasons:
            await _alert(connection, kept.provider, reasons)
        await connection.execute(statement(_FOLDER, "close_kinds"))


async def dismiss_rejected(connection: Connection, rejected_id: int) -> bool:
    """Resolve a body by a person's decision that nothing is to be done; False if none is open.

    Its bytes are deleted; its hash stays, so that the same bytes are not stored a second time.
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
    """Rejected bodies by id, oldest first: the open ones, with `resolved` all of them."""
    cursor = await connection.execute(
        statement(_FOLDER, "list"),
        {"limit": limit, "after": after, "provider": provider, "kind": kind, "all": resolved},
    )
    return [_row(row) for row in await cursor.fetchall()]


async def get_rejected(connection: Connection, rejected_id: int) -> RejectedBody | None:
    """One rejected body, None where there is none with that id."""
    cursor = await connection.execute(statement(_FOLDER, "get"), {"rejected_id": rejected_id})
    row = await cursor.fetchone()
    return RejectedBody(_row(row[:-2]), row[-2], bytes(row[-1])) if row is not None else None


async def clear_old_rejected(connection: Connection, days: int, limit: int = 1000) -> int:
    """Delete at most `limit` bodies that arrived more than `days` days ago; returns how many."""
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
