"""Lists newly due invoices by customer, and why a customer cannot be mailed now (contract: due)."""

import base64
import binascii
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from psycopg import AsyncConnection

from ledger.application.key_limits import ANY_END, KeyLimits
from ledger.domain.policy import Policy
from projections.generations import entered
from projections.statements import nested

READ_MODELS = ("customers", "invoices")
"""The read models that this query reads."""


class BadCursor(ValueError):
    """The cursor does not come from an earlier page."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Why a customer cannot be mailed now, and from when they can (UTC) if that is known.

    `code` is `on_hold`, `address_on_hold`, `breaker_open`, `reminded_recently` or `cap_reached`:
    the first that applies in the order of the guards (design D12).
    """

    code: str
    available_at: datetime | None


@dataclass(frozen=True, slots=True)
class DueCustomer:
    """A customer with newly due invoices.

    Each of `invoices` has `invoice_id`, `cycle`, `stage`, `days_past_due`, `amount_remaining`
    (minor units) and `currency`; the invoice that has been due longest comes first.
    """

    customer_id: str
    email: str | None
    withheld: Withheld | None
    invoices: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class DuePage:
    """A page; `next` is the cursor of the next page, `as_of` the log position of its data."""

    items: list[DueCustomer]
    next: str | None
    as_of: int


@dataclass(frozen=True, slots=True)
class ReadyCustomer:
    """A customer who can be mailed now, and their newly due invoices, the longest due first."""

    customer_id: str
    invoices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadyPage:
    """A page of customers who can be mailed now; `next` is the cursor of the next page."""

    items: list[ReadyCustomer]
    next: str | None


async def due(
    connection: AsyncConnection[Any],
    *,
    now: datetime,
    policy: Policy,
    stage: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
    ready: bool = False,
    limits: KeyLimits | None = None,
) -> DuePage:
    """Up to `limit` customers with invoices newly due at `now` (UTC), the longest due first.

    `stage` lists only invoices for which that stage is due; `ready` leaves out customers who cannot
    be mailed now; `limits` are those of the key that asks. Raises BadCursor, psycopg.Error.
    """
    values = _values(now, policy, stage, limit, cursor, limits=limits)
    async with entered(connection):
        found = await connection.execute(
            nested("due", "page", "picked"), {**values, "ready": ready}, prepare=True
        )
        rows = await found.fetchall()
    as_of = rows[0][0] or 0
    listed = [row[1:] for row in rows if row[1] is not None]
    items = [_customer(*row) for row in listed[:limit]]
    return DuePage(items, _next(listed, limit), as_of)


async def ready(
    connection: AsyncConnection[Any],
    *,
    now: datetime,
    policy: Policy,
    stage: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
    passing_over: Iterable[str] = (),
    limits: KeyLimits | None = None,
) -> ReadyPage:
    """As `due`, in the same order, but only customers who can be mailed now, and only their ids.

    A claim needs no more than ids. `passing_over` are customers to leave out. It makes one round
    trip, since claims wait for it in a busy service. Raises BadCursor, psycopg.Error.
    """
    values = _values(now, policy, stage, limit, cursor, passing_over, limits)
    async with connection.pipeline(), entered(connection):
        found = await connection.execute(
            nested("due", "ready", "picked"), {**values, "ready": True}, prepare=True
        )
        rows = await found.fetchall()
    items = [ReadyCustomer(customer, tuple(invoices)) for _, customer, invoices in rows[:limit]]
    return ReadyPage(items, _next(rows, limit))


def _values(
    now: datetime,
    policy: Policy,
    stage: str | None,
    limit: int,
    cursor: str | None,
    passing_over: Iterable[str] = (),
    limits: KeyLimits | None = None,
) -> dict[str, Any]:
    """The parameters of the query; it reads one row more than `limit`, to detect a next page."""
    after_at, after_id = read_cursor(cursor)
    return {
        "now": now,
        "after_at": after_at,
        "after_id": after_id,
        "outreach_per_day": policy.outreach_per_day,
        "reminder_gap_days": policy.days_between_reminder_mails,
        "stages": [stage] if stage is not None else _stages(limits),
        "customers": _customers(limits),
        "limit": limit + 1,
        "passing_over": orjson.dumps(list(passing_over)).decode(),
    }


def _stages(limits: KeyLimits | None) -> list[str] | None:
    return None if limits is None or limits.stages is None else sorted(limits.stages)


def _customers(limits: KeyLimits | None) -> list[str] | None:
    """The customers of a key as patterns for LIKE, None for all."""
    if limits is None or limits.customers is None:
        return None
    return [_pattern(customer) for customer in limits.customers]


def _pattern(limit: str) -> str:
    """The pattern of a customer's id, or with `*` at its end of every id that begins like it."""
    name = limit.removesuffix(ANY_END)
    for special in ("\\", "%", "_"):
        name = name.replace(special, f"\\{special}")
    return f"{name}%" if limit.endswith(ANY_END) else name


def _next(rows: Sequence[Sequence[Any]], limit: int) -> str | None:
    return write_cursor(*rows[limit - 1][:2]) if len(rows) > limit else None


def _customer(
    due_at: datetime,
    customer_id: str,
    email: str | None,
    code: str | None,
    available_at: datetime | None,
    invoices: list[dict[str, Any]],
) -> DueCustomer:
    withheld = None if code is None else Withheld(code, available_at)
    return DueCustomer(customer_id, email, withheld, invoices)


def write_cursor(due_at: datetime, customer_id: str) -> str:
    """The cursor of the page after this customer, whose first invoice became due at `due_at`."""
    text = orjson.dumps([due_at.astimezone(UTC).isoformat(), customer_id])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def read_cursor(cursor: str | None) -> tuple[datetime | str, str]:
    """Decode a cursor: the due time and the id of the last customer on the previous page.

    Raises BadCursor.
    """
    if cursor is None:
        return "-infinity", ""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        due_at, customer_id = orjson.loads(text)
        at = datetime.fromisoformat(due_at)
    except (ValueError, TypeError, binascii.Error) as error:
        raise BadCursor("this cursor was not given out by the list of what is due") from error
    if at.tzinfo is None or not isinstance(customer_id, str) or "\0" in customer_id:
        raise BadCursor("this cursor was not given out by the list of what is due")
    return at, customer_id
