"""What the engine needs of a store: a writer session that begins, loads, writes and looks again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.application.effects import Alert, NameClaim
from ledger.application.world import Binding, Name, NotLoaded
from ledger.domain.permit import Permit
from ledger.domain.value import value


class StoreUnavailable(Exception):
    """The store did not answer in time; nothing is known to have been granted (fail closed)."""


class NotBegun(StoreUnavailable):
    """No connection or no writer lock was to be had in time: no decision was even tried."""


class CommitUncertain(StoreUnavailable):
    """The connection was lost while committing: it may have happened; look again under the lock."""


class StoreRefused(Exception):
    """The store refused this batch: something in it is not acceptable to the database."""


@value
class Loss:
    """Why the database must be an older copy of the ledger's (design D13).

    What was sent from `import_from` (UTC) on is not in it; None where nothing is in it.
    """

    cause: str
    import_from: datetime | None


@value
class Head:
    """The end of the log as seen under the writer lock, and the time read after the lock (UTC).

    `rewritten` tells that the log is not the one that was seen before: nothing that was loaded from
    it holds. A `loss` is told again at each begin until a batch was written on top of it: the
    engine enters recovery mode in that batch, before it decides anything. `read_at` is what the
    database's clock showed (UTC), None where a test clock stands in for it; `log_at` is the time
    of the last event.
    """

    position: int
    hash: bytes
    now: datetime
    keys_version: int
    rewritten: bool = False
    loss: Loss | None = None
    read_at: datetime | None = None
    log_at: datetime | None = None


@dataclass(slots=True)
class Need:
    """What a batch of decisions has to load."""

    aggregates: set[UUID] = field(default_factory=set)
    permits: set[str] = field(default_factory=set)
    names: set[Name] = field(default_factory=set)
    bindings: set[bytes] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)
    fingerprints: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)

    @classmethod
    def of_missing(cls, missing: NotLoaded) -> "Need":
        """What to load so that a decision can go on."""
        need = cls()
        if missing.aggregate is not None:
            need.aggregates.add(missing.aggregate)
        if missing.permit is not None:
            need.permits.add(missing.permit)
        if missing.name is not None:
            need.names.add(missing.name)
        if missing.binding is not None:
            need.bindings.add(missing.binding)
        if missing.invoices_of is not None:
            need.owners.add(missing.invoices_of)
        return need

    def __bool__(self) -> bool:
        return bool(
            self.aggregates
            or self.permits
            or self.names
            or self.bindings
            or self.owners
            or self.fingerprints
            or self.answers
        )


@dataclass(slots=True)
class Loaded:
    """What was found; what was asked for and is missing does not exist. Time is UTC."""

    now: datetime
    position: int = 0
    aggregates: dict[UUID, Aggregate] = field(default_factory=dict)
    permits: dict[str, Permit] = field(default_factory=dict)
    names: dict[Name, str] = field(default_factory=dict)
    bindings: dict[bytes, Binding] = field(default_factory=dict)
    owned: dict[str, list[str]] = field(default_factory=dict)
    contacts: dict[str, str] = field(default_factory=dict)
    answers: dict[str, bytes] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Was anything found?"""
        return bool(
            self.aggregates
            or self.permits
            or self.names
            or self.bindings
            or self.owned
            or self.contacts
            or self.answers
        )


@value
class DecisionRow:
    """One row of the decision log (design D11)."""

    decision_id: str
    decided_at: datetime
    position: int
    operation: str
    key_id: str
    sender: str
    kind: str | None
    customer_id: str | None
    invoice_id: str | None
    thread_id: str | None
    status: int
    code: str | None
    replayed: bool
    policy: str
    request: bytes
    answer: bytes


@value
class BindingRow:
    """An Idempotency-Key to bind: to a permit, or to the stored answer of another write."""

    scope: bytes
    fingerprint: bytes
    permit_id: str | None
    status: int | None
    body: bytes | None
    created_at: datetime


@dataclass(slots=True)
class Batch:
    """Everything that one transaction writes.

    It may be sent in parts: events and decisions are kept, and counted in `events_sent` and
    `decisions_sent`; the rest is dropped once it was sent.
    """

    head: Head
    events: list[Any] = field(default_factory=list)
    decisions: list[DecisionRow] = field(default_factory=list)
    permits: dict[str, Permit] = field(default_factory=dict)
    names: dict[Name, NameClaim] = field(default_factory=dict)
    bindings: dict[bytes, BindingRow] = field(default_factory=dict)
    contacts: dict[tuple[str, str], str] = field(default_factory=dict)
    owners: set[tuple[str, str]] = field(default_factory=set)
    alerts: list[tuple[Alert, datetime]] = field(default_factory=list)
    snapshots: list[Any] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    events_sent: int = 0
    decisions_sent: int = 0
    in_parts: bool = False

    @property
    def position(self) -> int:
        """The position of the log after this batch's events so far."""
        return self.head.position + len(self.events)

    def part_sent(self) -> None:
        """Note that all that is in the batch so far was sent."""
        self.in_parts = True
        self.events_sent, self.decisions_sent = len(self.events), len(self.decisions)
        for rows in (self.permits, self.names, self.bindings, self.contacts, self.owners):
            rows.clear()
        for rows_in_order in (self.alerts, self.snapshots, self.forgotten):
            rows_in_order.clear()

    def __bool__(self) -> bool:
        return bool(
            self.in_parts
            or self.events
            or self.decisions
            or self.names
            or self.bindings
            or self.contacts
            or self.alerts
            or self.forgotten
        )


class WriterSession(Protocol):
    """One connection that writes; used by one engine at a time."""

    def anticipate(self) -> bool:
        """Start the transaction if that needs no wait. True if it is started: then call `begin`."""

    async def begin(self) -> Head:
        """Start a transaction, take the writer lock, and read head and time after it.

        Raises NotBegun.
        """

    async def load(self, need: Need) -> Loaded:
        """Load what is needed, within the transaction. Raises StoreUnavailable."""

    async def events_since(self, position: int, limit: int) -> Sequence[Any]:
        """The events after a position, oldest first, at most `limit`. Raises StoreUnavailable."""

    async def active_keys(self) -> frozenset[str]:
        """The ids of the API keys that are not revoked. Raises StoreUnavailable."""

    async def send_part(self, batch: Batch) -> None:
        """Start to write what the batch holds so far, and do not wait for it.

        The rest of the batch can be decided meanwhile. A failure is told by what comes next.
        Raises StoreUnavailable, StoreRefused.
        """

    async def write(self, batch: Batch) -> None:
        """Write the batch, or what is left of it, and commit.

        Raises CommitUncertain where the acknowledgement was lost, StoreRefused where the database
        refused the batch (it is rolled back), StoreUnavailable otherwise.
        """

    async def committed(self, batch: Batch) -> bool:
        """Under the lock of a new transaction: did that batch commit? Raises StoreUnavailable."""

    async def rollback(self) -> None:
        """Give the lock up without writing; never raises."""
