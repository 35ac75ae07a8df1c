"""What the ledger did in a time: duplicates prevented, mails, payments after reminders, caution.

The figures are those of the views for analysts; `projections/sql/effect` has their definitions.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg import AsyncConnection

from projections.statements import statement

MOST_PREVENTED = 10_000
"""How many rows of prevented sends are read; a row is a week, a sender and a code."""


@dataclass(frozen=True, slots=True)
class Prevented:
    """Requests of a sender in a week (its Monday, UTC) that were denied with a code."""

    week: date
    sender: str
    code: str
    requests: int


@dataclass(frozen=True, slots=True)
class MailsADay:
    """How many times a customer got so many mails on one UTC day."""

    mails: int
    customer_days: int


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """After so many days: reminders that were still looked at and unpaid, paid on this day, left.

    `unpaid` is the share that is unpaid after the day, from 1 to 0 (Kaplan and Meier 1958).
    """

    days: int
    at_risk: int
    paid: int
    censored: int
    unpaid: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The time from the reminders of a stage to the first payment after each."""

    stage: str
    reminders: int
    points: tuple[CurvePoint, ...]

    @property
    def median_days(self) -> int | None:
        """The first day after which half of them or fewer are unpaid, None where it never came."""
        return next((point.days for point in self.points if point.unpaid <= 0.5), None)


@dataclass(frozen=True, slots=True)
class End:
    """Reminded invoices by their last reminder, status and currency; the balance in minor units."""

    stage: str
    status: str
    currency: str | None
    invoices: int
    balance: int


@dataclass(frozen=True, slots=True)
class Caution:
    """Sends that were first denied with a code, and those that never went out later."""

    code: str
    sends: int
    never_sent: int


@dataclass(frozen=True, slots=True)
class Effect:
    """All of it, for [from_, to) (UTC), as the log was at `position`."""

    from_: datetime
    to: datetime
    generated_at: datetime
    position: int
    prevented: tuple[Prevented, ...]
    mails: tuple[MailsADay, ...]
    curves: tuple[Curve, ...]
    ends: tuple[End, ...]
    caution: tuple[Caution, ...]


async def effect_of(connection: AsyncConnection[Any], from_: datetime, to: datetime) -> Effect:
    """The effect in [from_, to) (UTC), all from one snapshot. Raises psycopg.Error.

    A `to` that lies ahead is now: what has not happened yet is not unpaid.
    """
    async with connection.transaction():
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        ((now, position),) = await _rows(connection, "looked_at", {})
        end = min(to, now)
        values = {"from": from_, "to": end, "most": MOST_PREVENTED}
        prevented = await _rows(connection, "prevented", values)
        mails = await _rows(connection, "mails", values)
        times = await _rows(connection, "payment_times", values)
        ends = await _rows(connection, "ends", values)
        caution = await _rows(connection, "caution", values)
    return Effect(
        from_=from_,
        to=end,
        generated_at=now,
        position=position,
        prevented=tuple(Prevented(*row) for row in prevented),
        mails=tuple(MailsADay(*row) for row in mails),
        curves=curves_of(times),
        ends=tuple(End(*row) for row in ends),
        caution=tuple(Caution(*row) for row in caution),
    )


def curves_of(times: Iterable[tuple[str, int, bool, int]]) -> tuple[Curve, ...]:
    """The curve of each stage, from (stage, whole days, paid, number of reminders).

    Of a day the payments are counted first, then those of which nothing later is known leave.
    """
    stages: dict[str, dict[int, list[int]]] = {}
    for stage, days, paid, count in times:
        counts = stages.setdefault(stage, {}).setdefault(days, [0, 0])
        counts[0 if paid else 1] += count
    return tuple(_curve(stage, days) for stage, days in stages.items())


def _curve(stage: str, days: dict[int, list[int]]) -> Curve:
    total = at_risk = sum(paid + left for paid, left in days.values())
    unpaid, points = 1.0, []
    for day, (paid, left) in sorted(days.items()):
        unpaid *= 1 - paid / at_risk
        points.append(CurvePoint(day, at_risk, paid, left, unpaid))
        at_risk -= paid + left
    return Curve(stage, total, tuple(points))


async def _rows(
    connection: AsyncConnection[Any], name: str, values: dict[str, Any]
) -> list[tuple[Any, ...]]:
    cursor = await connection.execute(statement("effect", name), values)
    return await cursor.fetchall()
