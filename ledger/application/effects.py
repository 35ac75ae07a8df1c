"""What a decision wants done: events, look-ups to claim, alerts to raise, the answer to give."""

from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.domain.identity import Address, aggregate_id
from ledger.domain.permit import Permit
from ledger.domain.reasons import Denial
from ledger.domain.value import value


@value
class Change:
    """An event to be: the engine numbers it and stamps the time when it applies it."""

    aggregate_id: UUID
    event: type[Aggregate.Event]
    fields: dict[str, Any]


@value
class NameClaim:
    """An outside name to bind; the first claim wins unless it `replaces`."""

    kind: str
    name: str
    target: str
    replaces: bool = False


@value
class Contact:
    """An address to keep outside the log, under its fingerprint and its customer (design D18)."""

    customer_id: str
    address: Address


@value
class Alert:
    """A page for a human: at least once, with a dedupe key that is stable per happening (D11)."""

    kind: str
    dedupe_key: str
    summary: str
    customer_id: str | None = None
    permit_id: str | None = None
    drill: bool = False


@dataclass(slots=True)
class Outcome:
    """The answer to one command and everything that comes with it."""

    status: int = 200
    body: dict[str, Any] = field(default_factory=dict)
    denial: Denial | None = None
    result: str = ""
    changes: list[Change] = field(default_factory=list)
    permits: list[Permit] = field(default_factory=list)
    names: list[NameClaim] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    alerts: list[Alert] = field(default_factory=list)
    granted: Permit | None = None
    address: str | None = None
    forget_addresses_of: str | None = None
    warnings: list[str] = field(default_factory=list)
    replayed: bool = False
    customer_id: str | None = None
    invoice_id: str | None = None
    thread_id: str | None = None

    def change(
        self, kind: str, external_id: str, event: type[Aggregate.Event], **fields: Any
    ) -> None:
        """Add an event of the aggregate with that outside id."""
        self.changes.append(Change(aggregate_id(kind, external_id), event, fields))

    def register(
        self, kind: str, external_id: str, event: type[Aggregate.Event], topic: str, **fields: Any
    ) -> None:
        """Add the first event of a new aggregate, unless this outcome has it already."""
        id_ = aggregate_id(kind, external_id)
        if any(change.aggregate_id == id_ for change in self.changes):
            return
        fields["originator_topic"] = topic
        self.changes.append(Change(id_, event, fields))


class Ids(TypedDict, total=False):
    """The ids by which a decision is found again."""

    customer_id: str | None
    invoice_id: str | None
    thread_id: str | None


def ids_of(permit: Permit) -> Ids:
    """The ids of a permit's customer, first invoice and thread."""
    return Ids(
        customer_id=permit.customer_id,
        invoice_id=permit.items[0].invoice_id if permit.items else permit.invoice_id,
        thread_id=permit.thread_id,
    )


def ids_of_outcome(outcome: Outcome) -> Ids:
    """The ids by which a decision is found again that turned out another way."""
    return Ids(
        customer_id=outcome.customer_id,
        invoice_id=outcome.invoice_id,
        thread_id=outcome.thread_id,
    )


def denied(denial: Denial, **ids: Unpack[Ids]) -> Outcome:
    """A no, and nothing else."""
    return Outcome(status=denial.reason.status, denial=denial, **ids)
