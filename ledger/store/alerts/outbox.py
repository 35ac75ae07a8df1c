"""The outbox: groups alerts into pages; claims, delivers and settles the pages (D8, D11).

Times: `claimed_until`, retries and `done_at` use real time, so that a stopped test clock does not
stop delivery. The summary window and the escalation delay end as soon as the ledger's clock or
real time has passed them. The times that people see (raised, delivered, acknowledged, escalated)
are ledger times. Every function works on any psycopg connection in autocommit mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import AsyncConnection, AsyncCursor

from ledger.domain.policy import Policy
from ledger.store.statements import statement

_LOCK = 7_203_412_882
_NAMED_ALERTS = 20
_WINDOWS_OF_PATIENCE = 12
_FOLDER = "outbox"

Connection = AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert as a list shows it; times are the ledger's (UTC).

    `attempts` and `last_error` are those of the page that contains the alert.
    """

    alert_id: int
    kind: str
    dedupe_key: str
    summary: str
    customer_id: str | None
    permit_id: str | None
    drill: bool
    raised_at: datetime
    delivered_at: datetime | None
    acked_at: datetime | None
    acked_by: str | None
    escalated_at: datetime | None
    attempts: int
    last_error: str | None


@dataclass(frozen=True, slots=True)
class AlertList:
    """A page of alerts, newest first, and the cursor for the next page (the last alert's id)."""

    items: tuple[AlertRow, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class PagedAlert:
    """One alert as a page contains it."""

    alert_id: int
    kind: str
    dedupe_key: str
    summary: str
    customer_id: str | None
    permit_id: str | None
    raised_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """A claimed page: why it is sent, its stable dedupe key, and the alerts in it.

    `reason` is alert, summary, escalation or drill. `alerts` are the first 20; `kinds` counts all
    of them by kind, most frequent first. `delivered` has the fingerprints of the targets that
    received the page.
    """

    page_id: int
    reason: str
    dedupe_key: str
    attempts: int
    alerts: tuple[PagedAlert, ...]
    kinds: tuple[tuple[str, int], ...]
    delivered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Waiting:
    """`take`: alerts may have to go into pages; `pending`: alerts and pages not yet delivered."""

    take: bool
    pending: int


@dataclass(frozen=True, slots=True)
class DrillState:
    """The drills of a customer: how many, how many are done, which targets received all of them."""

    drills: int
    done: int
    last_error: str | None
    delivered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Backoff:
    """The wait before the next retry, in seconds: `first`, doubled each time up to `longest`.

    Random jitter shortens each wait by up to half, so that pagers do not retry at the same moment.
    A drill is tried `drill_attempts` times, every other page until it is delivered.
    """

    first: float = 2.0
    longest: float = 600.0
    drill_attempts: int = 3


async def look(connection: Connection) -> Waiting:
    """Look whether alerts or pages are pending, without taking a lock."""
    row = await (await _execute(connection, "look")).fetchone()
    assert row is not None
    return Waiting(*row)


async def take_pages(connection: Connection, policy: Policy) -> None:
    """Put alerts into pages by the summary rule, and unacknowledged ones into an escalation page.

    Safe in several processes at once: a lock lets one process at a time group alerts, and an alert
    that is in a page is not grouped again.
    """
    window = timedelta(minutes=policy.alert_summary_minutes)
    async with connection.transaction():
        await _execute(connection, "lock", key=_LOCK)
        await _execute(connection, "take_drills")
        await _execute(
            connection, "take_due", window=window, patience=window * _WINDOWS_OF_PATIENCE
        )
        await _execute(
            connection,
            "take_escalations",
            escalation=timedelta(minutes=policy.alert_escalation_minutes),
        )


async def claim_page(connection: Connection, claim: float) -> Page | None:
    """Claim a due page for `claim` seconds; None where none is due. No lock stays held."""
    return await _claimed(connection, await _execute(connection, "claim", claim=_seconds(claim)))


async def claim_drill(connection: Connection, customer_id: str, claim: float) -> Page | None:
    """Claim this customer's drill, unless it is done or another process has claimed it."""
    return await _claimed(
        connection,
        await _execute(connection, "claim_drill", customer_id=customer_id, claim=_seconds(claim)),
    )


async def drill_state(connection: Connection, customer_id: str) -> DrillState:
    """The state of this customer's drills."""
    row = await (await _execute(connection, "drill", customer_id=customer_id)).fetchone()
    assert row is not None
    return DrillState(row[0], row[1], row[2], frozenset(row[3]))


async def mark_delivered(connection: Connection, page: Page, target: str) -> None:
    """Record that a target, named by its fingerprint, received the page."""
    await _execute(connection, "delivered", page_id=page.page_id, target=target)


async def settle(
    connection: Connection, page: Page, error: str | None, backoff: Backoff = Backoff()
) -> None:
    """End a claim: without an error every target received the page, else it is retried later.

    The error is stored; it must contain no address and no credentials.
    """
    await _execute(
        connection,
        "settle",
        page_id=page.page_id,
        attempts=page.attempts,
        error=error,
        drill_attempts=backoff.drill_attempts,
        wait=_seconds(backoff.first),
        longest_wait=_seconds(backoff.longest),
    )


async def acknowledge(connection: Connection, alert_id: int, by: str) -> bool:
    """Record that a person acknowledged the alert, so that it is not escalated.

    The first acknowledgement is kept. False where there is no such alert.
    """
    cursor = await _execute(connection, "acknowledge", alert_id=alert_id, by=by)
    return await cursor.fetchone() is not None


async def acknowledge_many(
    connection: Connection,
    by: str,
    *,
    ids: Sequence[int] | None = None,
    up_to: int | None = None,
    kind: str | None = None,
) -> int:
    """Acknowledge the alerts with these ids, or all (of a kind) up to an id; returns how many.

    Those that were acknowledged before stay as they are, and are not counted.
    """
    values = {"ids": list(ids) if ids is not None else None, "up_to": up_to, "kind": kind}
    return (await _execute(connection, "acknowledge_many", by=by, **values)).rowcount


async def find_alert(connection: Connection, alert_id: int) -> AlertRow | None:
    """One alert, or None."""
    rows = await _listed(connection, alert_id=alert_id, limit=1)
    return rows[0] if rows else None


async def list_alerts(
    connection: Connection,
    *,
    limit: int,
    cursor: int | None = None,
    kind: str | None = None,
    unacked: bool = False,
) -> AlertList:
    """Alerts, newest first, after the cursor: the `next` of an earlier list.

    `unacked` lists only alerts that nobody has acknowledged, without drills.
    """
    rows = await _listed(connection, before=cursor, kind=kind, unacked=unacked, limit=limit + 1)
    more = len(rows) > limit
    items = tuple(rows[:limit])
    return AlertList(items, items[-1].alert_id if more and items else None)


async def _listed(
    connection: Connection,
    *,
    limit: int,
    alert_id: int | None = None,
    before: int | None = None,
    kind: str | None = None,
    unacked: bool = False,
) -> list[AlertRow]:
    cursor = await _execute(
        connection,
        "list",
        alert_id=alert_id,
        before=before,
        kind=kind,
        unacked=unacked,
        limit=limit,
    )
    return [AlertRow(*row) for row in await cursor.fetchall()]


async def _claimed(connection: Connection, claim: AsyncCursor[Any]) -> Page | None:
    row = await claim.fetchone()
    if row is None:
        return None
    page_id, reason, dedupe_key, attempts = row
    alerts = await _execute(connection, "alerts_of_page", page_id=page_id, limit=_NAMED_ALERTS)
    kinds = await _execute(connection, "kinds_of_page", page_id=page_id)
    targets = await _execute(connection, "targets_of_page", page_id=page_id)
    return Page(
        page_id,
        reason,
        dedupe_key,
        attempts,
        tuple(PagedAlert(*alert) for alert in await alerts.fetchall()),
        tuple((kind, count) for kind, count in await kinds.fetchall()),
        frozenset(target for (target,) in await targets.fetchall()),
    )


async def _execute(connection: Connection, name: str, **parameters: Any) -> AsyncCursor[Any]:
    # Never prepared: a plan made while the tables were empty would be kept (design, known traps).
    return await connection.execute(statement(_FOLDER, name), parameters, prepare=False)


def _seconds(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)
