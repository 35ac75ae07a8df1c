"""Loaded aggregates and addresses, bounded, brought up to date by position inside the lock (D4)."""

from collections.abc import Iterable
from itertools import islice
from typing import Any
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.domain.customer import Customer

_UNKNOWN: Any = object()


class AggregateCache:
    """The aggregates that an engine keeps between batches; None marks one that does not exist.

    Correct as of `position`. The least recently used go first when there are more than `limit`.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.position = 0
        self.aggregates: dict[UUID, Aggregate | None] = {}
        self.addresses: dict[str, str] = {}

    def clear(self, position: int) -> None:
        """Forget everything: too much happened elsewhere, or nothing is known for sure."""
        self.aggregates.clear()
        self.addresses.clear()
        self.position = position

    def catch_up(self, events: Iterable[Any], position: int) -> None:
        """Apply what other engines wrote to the aggregates that are kept here."""
        for event in events:
            if event.originator_id in self.aggregates:
                held = self.aggregates[event.originator_id]
                self.aggregates[event.originator_id] = event.mutate(held)
            if isinstance(event, Customer.Erased):
                self.addresses.clear()
        self.position = position

    def evict(self, ids: Iterable[UUID]) -> None:
        """Forget aggregates that a failed batch may have touched."""
        for id_ in ids:
            self.aggregates.pop(id_, None)

    def used(self, ids: Iterable[UUID]) -> None:
        """Mark aggregates as just used, and let the longest unused go."""
        aggregates = self.aggregates
        # Mostly the same few objects: to hash a UUID takes longer than to tell them apart.
        for id_ in {id(each): each for each in ids}.values():
            held = aggregates.pop(id_, _UNKNOWN)
            if held is not _UNKNOWN:
                aggregates[id_] = held
        surplus = len(aggregates) - self.limit
        if surplus > 0:
            # Not list(aggregates)[:surplus]: copying a full cache costs more than a decision.
            for id_ in list(islice(aggregates, surplus)):
                del aggregates[id_]
        surplus = len(self.addresses) - self.limit
        if surplus > 0:
            for fingerprint in list(islice(self.addresses, surplus)):
                del self.addresses[fingerprint]
