"""The outbox: alerts are taken into pages, pages are claimed, delivered and settled (D8, D11).

Times: `claimed_until`, tries and `done_at` go by real time, so that a stopped test clock stops no
delivery. The summary's window and the escalation are over when either the ledger's clock or real
time says so. What people see of an alert (raised, delivered, acknowledged, escalated) is ledger
time. Every function works on any psycopg connection in autocommit mode.
"""

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
    """An alert as it is listed; times are the ledger's (UTC).

    `attempts` and `last_error` are those of the page that carries it.
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
    """Alerts, newest first, and the cursor for those after them (the last one's id)."""

    items: tuple[AlertRow, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class PagedAlert:
    """What a page says of one alert."""

    alert_id: int
    kind: str
    dedupe_key: str
    summary: str
    customer_id: str | None
    permit_id: str | None
    raised_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """A claimed message: why it leaves, its stable key, and the alerts in it.

    `reason` is alert, summary, escalation or drill. `alerts` are the first 20; `kinds` counts all
    of them by kind, most first. `delivered` has the fingerprints of the targets that had it.
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
    """`take`: alerts may have to become pages; `pending`: alerts and pages not with everybody."""

    take: bool
    pending: int


@dataclass(frozen=True, slots=True)
class DrillState:
    """How far the drills of a customer are: their number, those done, and who had all of them."""

    drills: int
    done: int
    last_error: str | None
    delivered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Backoff:
    """The wait before the next try, in seconds: `first`, doubled each time up to `longest`.

    Each wait is cut by up to half at random, so that pagers do not try in step. A drill is tried
    `drill_attempts` times, everything else until it has arrived.
    """

    first: float = 2.0
    longest: float = 600.0
    drill_attempts: int = 3


async def look(connection: Connection) -> Waiting:
    """What waits, without taking a lock."""
    row = await (await _execute(connection, "look")).fetchone()
    assert row is not None
    return Waiting(*row)


async def take_pages(connection: Connection, policy: Policy) -> None:
    """Put alerts into pages by the summary rule, and what nobody acknowledged into one more.

    Safe in several processes at once: one decides at a time, and what it took stays taken.
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
    """Claim a page that is due for `claim` seconds, or None. No lock is held afterwards."""
    return await _claimed(connection, await _execute(connection, "claim", claim=_seconds(claim)))


async def claim_drill(connection: Connection, customer_id: str, claim: float) -> Page | None:
    """Claim this customer's drill, unless it is done or claimed by somebody else."""
    return await _claimed(
        connection,
        await _execute(connection, "claim_drill", customer_id=customer_id, claim=_seconds(claim)),
    )


async def drill_state(connection: Connection, customer_id: str) -> DrillState:
    """How far the drills of this customer are."""
    row = await (await _execute(connection, "drill", customer_id=customer_id)).fetchone()
    assert row is not None
    return DrillState(row[0], row[1], row[2], frozenset(row[3]))


async def mark_delivered(connection: Connection, page: Page, target: str) -> None:
    """Note that a target, named by its fingerprint, has had the page."""
    await _execute(connection, "delivered", page_id=page.page_id, target=target)


async def settle(
    connection: Connection, page: Page, error: str | None, backoff: Backoff = Backoff()
) -> None:
    """End a claim: without an error every target has had the page, else it is tried again.

    The error is kept; it must hold no address and no credentials.
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
    """A human has seen the alert: it is not escalated. The first acknowledgement stays.

    False where there is no such alert.
    """
    cursor = await _execute(connection, "acknowledge", alert_id=alert_id, by=by)
    return await cursor.fetchone() is not None


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
    """Alerts, newest first, from behind the cursor: the `next` of an earlier list.

    `unacked` are those that wait for a human, so no drills.
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
    # Never prepared: a plan made while the tables were empty would stay (design, known traps).
    return await connection.execute(statement(_FOLDER, name), parameters, prepare=False)


def _seconds(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)
