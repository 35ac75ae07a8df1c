"""Who got more mails within a window than the policy allows, and how many (design D8, D14)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from ledger.store.log.transcoding import read_as
from projections.generations import entered
from projections.statements import statement

_FOLDER = "affected"
_MOST_LISTED = 100
"""Permits and decisions of one customer that are listed; more are counted only."""
BEFORE_ALL = (2**63 - 1, "")
"""The place in the list before the first customer."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which mails to count: those within [from_, to) (UTC), as they stand `now`.

    A customer is affected who got more than `outreach_per_day` in any 24 hours of it.
    """

    from_: datetime
    to: datetime
    now: datetime
    outreach_per_day: int

    @property
    def values(self) -> dict[str, Any]:
        """The values that every statement takes."""
        return {
            "from": self.from_,
            "to": self.to,
            "now": self.now,
            "outreach_per_day": self.outreach_per_day,
        }


@dataclass(frozen=True, slots=True)
class AffectedCustomer:
    """A customer over policy; `observed` of the `mails` went out past the ledger.

    `most` is the largest number in 24 hours, `over_at` the first mail that was one too many;
    `also_known_as` are ids that were merged into this one.
    """

    customer_id: str
    mails: int
    observed: int
    most: int
    first_at: datetime
    last_at: datetime
    over_at: datetime
    also_known_as: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Details:
    """What the ledger decided for a customer: the first few, and how many there are."""

    permits: list[dict[str, Any]]
    permit_count: int
    decisions: list[dict[str, Any]]
    decision_count: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All affected customers together; what nobody got is None."""

    customers: int
    mails: int
    observed: int
    most_mails: int | None
    most_in_a_day: int | None
    first_at: datetime | None
    last_at: datetime | None
    over_at: datetime | None
    first_customer: str | None


@dataclass(frozen=True, slots=True)
class SenderShare:
    """How many of the affected customers' mails a sender sent, and between when."""

    sender: str
    mails: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class AlertsOfKind:
    """Alerts about affected customers: how many, the first, and whether people had them."""

    kind: str
    count: int
    first_at: datetime
    first_customer: str | None
    delivered: int
    first_delivered_at: datetime | None
    first_acked_at: datetime | None
    acked_by: str | None


@dataclass(frozen=True, slots=True)
class Overview:
    """What a report tells of the affected customers, those who got most first.

    `series` has the mails per span of time, by customer for those who got most, and under None of
    all others; spans without a mail are left out.
    """

    summary: Summary
    customers: list[AffectedCustomer]
    senders: list[SenderShare]
    series: dict[str | None, dict[int, int]]
    alerts: list[AlertsOfKind]


async def affected_customers(
    connection: AsyncConnection[Any],
    window: Window,
    limit: int,
    after: tuple[int, str] = BEFORE_ALL,
) -> list[AffectedCustomer]:
    """Those who got most come first; from behind `after`: mails and id. Raises psycopg.Error."""
    more = {"limit": limit, "after_mails": after[0], "after_id": after[1]}
    rows = await _rows(connection, "customers", window, more)
    return [AffectedCustomer(*(*row[:-1], tuple(row[-1]))) for row in rows]


async def details_of(
    connection: AsyncConnection[Any], window: Window, customer_ids: Sequence[str]
) -> dict[str, Details]:
    """The permits and decisions of these customers within the window. Raises psycopg.Error."""
    values = window.values | {"owners": list(customer_ids), "most": _MOST_LISTED}
    async with entered(connection):
        cursor = await connection.execute(statement(_FOLDER, "details"), values)
        rows = await cursor.fetchall()
    return {row[0]: Details(*row[1:]) for row in rows}


async def overview_of(
    connection: AsyncConnection[Any],
    window: Window,
    *,
    until: datetime,
    customers: int,
    senders: int,
    top: int,
    seconds: int,
) -> Overview:
    """All that a report tells, of one moment; bounded by the numbers given. Raises psycopg.Error.

    Alerts are those raised up to `until` (UTC), mails are counted per span of `seconds`, apart for
    the `top` customers who got most.
    """
    bounds = {"customers": customers, "senders": senders, "top": top, "seconds": seconds}
    rows = await _rows(connection, "overview", window, bounds | {"until": until})
    summary, listed, shares, spans, alerts = rows[0]
    series: dict[str | None, dict[int, int]] = {}
    for customer_id, span, count in spans or ():
        series.setdefault(customer_id, {})[span] = count
    return Overview(
        read_as(Summary, summary),
        [read_as(AffectedCustomer, row) for row in listed or ()],
        [read_as(SenderShare, row) for row in shares or ()],
        series,
        [read_as(AlertsOfKind, row) for row in alerts or ()],
    )


async def _rows(
    connection: AsyncConnection[Any], name: str, window: Window, more: dict[str, Any]
) -> list[tuple[Any, ...]]:
    text = statement(_FOLDER, "received") + statement(_FOLDER, name)
    async with entered(connection):
        await connection.execute(statement(_FOLDER, "plan"))
        cursor = await connection.execute(text, window.values | more)
        return await cursor.fetchall()
