"""An in-memory writer session, only for unit tests of the pure core; nothing is durable."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from eventsourcing.utils import get_topic

from ledger.application.clock import decision_time
from ledger.application.effects import Alert
from ledger.application.ports import Batch, DecisionRow, Head, Loaded, Need
from ledger.application.world import Binding, Name
from ledger.domain.permit import Permit
from ledger.store.hashchain import GENESIS
from ledger.store.log.transcoding import (
    SNAPSHOT_TOPICS,
    read_as,
    read_event,
    read_snapshot,
    write_permit,
    write_snapshot,
    write_state,
)


@dataclass(frozen=True, slots=True)
class StoredRow:
    """An event as the log keeps it: JSON state, read back by its topic."""

    originator_id: UUID
    version: int
    topic: str
    state: bytes
    recorded_at: datetime

    def event(self) -> Any:
        """The event that was stored."""
        return read_event(self.originator_id, self.version, self.topic, orjson.loads(self.state))


@dataclass(slots=True)
class MemoryStore:
    """The tables of the ledger as plain collections; `now` is the clock of the database."""

    now: datetime
    rows: list[StoredRow] = field(default_factory=list)
    permits: dict[str, bytes] = field(default_factory=dict)
    names: dict[Name, str] = field(default_factory=dict)
    bindings: dict[bytes, Binding] = field(default_factory=dict)
    owners: set[tuple[str, str]] = field(default_factory=set)
    contacts: dict[tuple[str, str], str] = field(default_factory=dict)
    decisions: list[DecisionRow] = field(default_factory=list)
    alerts: dict[str, Alert] = field(default_factory=dict)
    snapshots: dict[UUID, tuple[int, str, bytes]] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()

    def permit(self, permit_id: str) -> Permit:
        """The permit as it is stored."""
        permit: Permit = read_as(Permit, orjson.loads(self.permits[permit_id]))
        return permit

    def all_permits(self) -> list[Permit]:
        """Every permit, oldest first."""
        return [self.permit(permit_id) for permit_id in self.permits]

    def replay(self) -> dict[UUID, Any]:
        """Every aggregate, built from the first event on."""
        found: dict[UUID, Any] = {}
        for row in self.rows:
            found[row.originator_id] = row.event().mutate(found.get(row.originator_id))
        return found


class MemorySession:
    """Implements WriterSession over a MemoryStore; a batch is seen only once it is written."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def anticipate(self) -> bool:
        """False: nothing can be sent ahead."""
        return False

    async def begin(self) -> Head:
        """The end of the log, and the time."""
        rows = self.store.rows
        now = decision_time(self.store.now, rows[-1].recorded_at if rows else None)
        return Head(len(rows), GENESIS, now, 0)

    async def active_keys(self) -> frozenset[str]:
        """The keys that the test made."""
        return self.store.keys

    async def load(self, need: Need) -> Loaded:
        """Load what earlier batches wrote."""
        store, found = self.store, Loaded(self.store.now, len(self.store.rows))
        for id_ in need.aggregates:
            aggregate = self._aggregate(id_)
            if aggregate is not None:
                found.aggregates[id_] = aggregate
        found.permits = {p: store.permit(p) for p in need.permits if p in store.permits}
        found.names = {n: store.names[n] for n in need.names if n in store.names}
        found.bindings = {b: store.bindings[b] for b in need.bindings if b in store.bindings}
        for customer_id, invoice_id in sorted(store.owners):
            if customer_id in need.owners:
                found.owned.setdefault(customer_id, []).append(invoice_id)
        for (fingerprint, _), address in store.contacts.items():
            if fingerprint in need.fingerprints:
                found.contacts[fingerprint] = address
        rows = {row.decision_id: row.answer for row in store.decisions}
        found.answers = {d: rows[d] for d in need.answers if d in rows}
        return found

    def _aggregate(self, id_: UUID) -> Any:
        aggregate, after = None, 0
        if id_ in self.store.snapshots:
            after, topic, state = self.store.snapshots[id_]
            aggregate = read_snapshot(id_, after, topic, orjson.loads(state))
        for row in self.store.rows:
            if row.originator_id == id_ and row.version > after:
                aggregate = row.event().mutate(aggregate)
        return aggregate

    async def events_since(self, position: int, limit: int) -> Sequence[Any]:
        """The events after a position, oldest first."""
        return [row.event() for row in self.store.rows[position : position + limit]]

    async def send_part(self, batch: Batch) -> None:
        """Does nothing: the batch is stored as a whole by `write`."""

    async def write(self, batch: Batch) -> None:
        """Store the batch by the rules of the SQL: first claims win, other rows are replaced."""
        store = self.store
        for event in batch.events:
            store.rows.append(_row(event))
        store.decisions.extend(batch.decisions)
        for permit in batch.permits.values():
            store.permits[permit.permit_id] = write_permit(permit)
        for name, claim in batch.names.items():
            if claim.replaces or name not in store.names:
                store.names[name] = claim.target
        for row in batch.bindings.values():
            store.bindings[row.scope] = Binding(row.fingerprint, row.permit_id, row.created_at)
        store.owners |= batch.owners
        store.contacts.update(batch.contacts)
        for alert, _ in batch.alerts:
            store.alerts.setdefault(alert.dedupe_key, alert)
        topics = {kind: topic for topic, kind in SNAPSHOT_TOPICS.items()}
        for aggregate in batch.snapshots:
            if type(aggregate) in topics:
                topic = topics[type(aggregate)]
                state = write_snapshot(aggregate)
                store.snapshots[aggregate.id] = (aggregate.version, topic, state)
        gone = set(batch.forgotten)
        store.contacts = {k: a for k, a in store.contacts.items() if k[1] not in gone}

    async def committed(self, batch: Batch) -> bool:
        """Always True: a commit in memory is never uncertain."""
        return True

    async def rollback(self) -> None:
        """Does nothing: nothing was written."""


def _row(event: Any) -> StoredRow:
    topic = get_topic(type(event))
    return StoredRow(
        event.originator_id, event.originator_version, topic, write_state(event), event.timestamp
    )
