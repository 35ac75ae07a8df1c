"""A trial: what was decided since it began can be taken back, as if it had not been decided."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.application.cache import AggregateCache
from ledger.application.copies import copied
from ledger.application.ports import Batch
from ledger.application.world import World


@dataclass(slots=True)
class Trial:
    """What a transaction being put together was when the trial began.

    `before` has each aggregate that was changed since, as it was: the change is made to a copy.
    `around` is the trial within which this one began: what is kept of this one, that can take back.
    """

    world: World
    batch: Batch
    cache: AggregateCache
    events: int
    alerts: int
    kept: dict[str, Any]
    around: "Trial | None" = None
    before: dict[UUID, Aggregate | None] = field(default_factory=dict)
    addresses: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def begin(
        cls, world: World, batch: Batch, cache: AggregateCache, around: "Trial | None" = None
    ) -> "Trial":
        """Note what everything is now."""
        kept = {
            "permits": dict(batch.permits),
            "names": dict(batch.names),
            "contacts": dict(batch.contacts),
            "owners": set(batch.owners),
            "known_permits": dict(world.permits),
            "known_names": dict(world.names),
        }
        return cls(world, batch, cache, len(batch.events), len(batch.alerts), kept, around)

    def to_change(self, id_: UUID, aggregate: Aggregate | None) -> Aggregate | None:
        """The aggregate to apply an event to: a copy, where it is the first of the trial."""
        if id_ in self.before:
            return aggregate
        if self.around is not None:
            aggregate = self.around.to_change(id_, aggregate)
        self.before[id_] = aggregate
        copy: Aggregate | None = copied(aggregate)
        return copy

    def address(self, fingerprint: str) -> None:
        """The text of an address is about to be kept."""
        if self.around is not None:
            self.around.address(fingerprint)
        self.addresses.setdefault(fingerprint, self.cache.addresses.get(fingerprint))

    def take_back(self) -> None:
        """Make everything what it was; what was loaded meanwhile is loaded again if needed."""
        self.world.aggregates.update(self.before)
        self.world.permits, self.world.names = self.kept["known_permits"], self.kept["known_names"]
        self.world.invoices_by_customer.clear()
        batch = self.batch
        del batch.events[self.events :], batch.alerts[self.alerts :]
        batch.permits, batch.names = self.kept["permits"], self.kept["names"]
        batch.contacts, batch.owners = self.kept["contacts"], self.kept["owners"]
        for fingerprint, text in self.addresses.items():
            if text is None:
                self.cache.addresses.pop(fingerprint, None)
            else:
                self.cache.addresses[fingerprint] = text
