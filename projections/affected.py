"""Finds the customers who got more mails in a window than the policy allows (design D8, D14)."""

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
"""How many permits and decisions of one customer are listed; further ones are only counted."""
BEFORE_ALL = (2**63 - 1, "")
"""The cursor before the first customer of the list."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which mails to count: those within [from_, to) (UTC), in their state at `now`.

    A customer is affected if they got more than `outreach_per_day` mails in any 24 hours of it.
    """

    from_: datetime
    to: datetime
    now: datetime
    outreach_per_day: int

    @property
    def values(self) -> dict[str, Any]:
        """The parameters that every statement has."""
        return {
            "from": self.from_,
            "to": self.to,
            "now": self.now,
            "outreach_per_day": self.outreach_per_day,
        }


@dataclass(frozen=True, slots=True)
class AffectedCustomer:
    """A customer above the policy's limit; `observed` of the `mails` were sent without the ledger.

    `most` is the highest number of mails in 24 hours, `over_at` the time of the first mail above
    the limit; `also_known_as` are the ids merged into this one.
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
    """A customer's permits and decisions: the first few of each, and the number of each."""

    permits: list[dict[str, Any]]
    permit_count: int
    decisions: list[dict[str, Any]]
    decision_count: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Totals over all affected customers; None where there is no mail to compute a value from."""

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
    """A sender's mails to the affected customers: how many, and the first and last time."""

    sender: str
    mails: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class AlertsOfKind:
    """Alerts of one kind about affected customers: number, first time, delivery state."""

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
    """Everything that a report shows about the affected customers, those with most mails first.

    `series` has the mails per time span: by customer for those with most mails, and under None
    for all others together. Spans without a mail are left out.
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
    """The customers with most mails first, after the cursor (mails, id). Raises psycopg.Error."""
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
    """Everything that a report shows, from one snapshot. Raises psycopg.Error.

    Lists at most `customers` and `senders`. Alerts are those raised up to `until` (UTC). Mails are
    counted per span of `seconds`, separately for the `top` customers with most mails.
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
