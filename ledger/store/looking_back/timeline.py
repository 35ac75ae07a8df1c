"""Reads the timeline of a customer or an invoice: events, decisions and alerts in order."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from ledger.domain.identity import aggregate_id
from ledger.store.statements import statement

_EVENT, _DECISION, _ALERT = 0, 1, 2
_FIRST = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

_KINDS = {
    "permit": "MailPermitted ReminderPermitted NoticePermitted SendPermitted MailRedeemed "
    "SendRedeemed",
    "outcome": "MailSettled ReminderSent ReminderOutcomeUnknown ReminderBounced ReminderFreed "
    "NoticeSettled SendSettled",
    "guard": "BreakerOpened CapRefused AddressHeld LoopGuardTripped",
    "action": "BreakerReset AddressReleased Erased OutcomeCorrected",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_NOT_DATA = ("timestamp", "originator_topic", "class_version")


class Place(NamedTuple):
    """The sort key of an entry: its position in the log, its time, then its type and id."""

    position: int
    at: datetime
    rank: int
    id: str


BEGINNING = Place(0, _FIRST, _EVENT, "")


@dataclass(frozen=True, slots=True)
class TimelineScope:
    """What a timeline covers: event streams, by (kind, outside id), and customer ids.

    `invoice_id` and `permits` restrict decisions and alerts to those of one invoice.
    """

    streams: tuple[tuple[str, str], ...]
    customers: tuple[str, ...]
    invoice_id: str | None = None
    permits: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One timeline entry. `kind`: fact, permit, outcome, guard, action, decision or alert."""

    place: Place
    kind: str
    what: str
    about: dict[str, str]
    data: dict[str, Any]


async def scope_of_customer(
    connection: AsyncConnection[Any], customer_ids: tuple[str, ...]
) -> TimelineScope:
    """The timeline's scope for a customer with these ids: invoices, threads and addresses too."""
    cursor = await connection.execute(
        statement("timeline", "customer_streams"),
        {
            "customers": list(customer_ids),
            "streams": [aggregate_id("customer", name) for name in customer_ids],
        },
    )
    others = [(kind, name) for kind, name in await cursor.fetchall()]
    return TimelineScope((*(("customer", name) for name in customer_ids), *others), customer_ids)


class InvoiceLinks(NamedTuple):
    """The customers that an invoice ever named, and all permits granted for it."""

    owners: tuple[str, ...]
    permits: tuple[str, ...]


async def links_of_invoice(connection: AsyncConnection[Any], invoice_id: str) -> InvoiceLinks:
    """The customers and permits of an invoice; empty where the ledger does not know it."""
    cursor = await connection.execute(
        statement("timeline", "invoice_ties"), {"invoice": aggregate_id("invoice", invoice_id)}
    )
    row = await cursor.fetchone()
    assert row is not None
    customers, permits = row
    return InvoiceLinks(tuple(customers or ()), tuple(permits or ()))


async def read_timeline(
    connection: AsyncConnection[Any], scope: TimelineScope, after: Place, limit: int
) -> list[Entry]:
    """The entries after a place, in order, at most `limit`."""
    values = {**after._asdict(), "limit": limit, "customers": list(scope.customers)}
    values |= {"invoice_id": scope.invoice_id, "permits": None}
    if scope.permits is not None:
        values["permits"] = list(scope.permits)
    found = await _events(connection, scope, values)
    by = "customer_decisions" if scope.invoice_id is None else "invoice_decisions"
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(statement("timeline", by), values)
        found += [_decision(row) for row in await cursor.fetchall()]
        await cursor.execute(statement("timeline", "alerts"), values)
        found += [_alert(row) for row in await cursor.fetchall()]
    return sorted(found, key=lambda entry: entry.place)[:limit]


async def _events(
    connection: AsyncConnection[Any], scope: TimelineScope, values: dict[str, Any]
) -> list[Entry]:
    names = {aggregate_id(kind, name): (kind, name) for kind, name in scope.streams}
    cursor = await connection.execute(
        statement("timeline", "events"), values | {"streams": list(names)}
    )
    return [_event(row, names) for row in await cursor.fetchall()]


def _event(row: tuple[Any, ...], names: dict[UUID, tuple[str, str]]) -> Entry:
    position, at, id_, version, topic, state = row
    what = topic.removeprefix("ledger:")
    kind, name = names[id_]
    data = {field: value for field, value in state.items() if field not in _NOT_DATA}
    return Entry(
        Place(position, at, _EVENT, ""),
        _KIND_OF.get(what.partition(".")[2], "fact"),
        what,
        {f"{kind}_id": name},
        {"version": version, **data},
    )


def _decision(row: dict[str, Any]) -> Entry:
    place = Place(row.pop("position"), row.pop("decided_at"), _DECISION, row["decision_id"])
    about = _about(row, "customer_id", "invoice_id", "thread_id")
    return Entry(place, "decision", row.pop("operation"), about, row)


def _alert(row: dict[str, Any]) -> Entry:
    id_ = f"{row['alert_id']:020d}"
    place = Place(row.pop("position"), row.pop("raised_at"), _ALERT, id_)
    about = _about(row, "customer_id", "permit_id")
    return Entry(place, "alert", row.pop("kind"), about, row)


def _about(row: dict[str, Any], *names: str) -> dict[str, str]:
    found = {name: row.pop(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}
