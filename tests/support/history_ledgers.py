"""The ledger of a random history: its engine, its clock, and its stored data."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from ledger.application import batch
from ledger.application.answers import Answer
from ledger.application.commands import Command
from ledger.application.engine import Engine
from ledger.application.limits import Limits
from ledger.domain.permit import Permit
from ledger.domain.policy import Policy
from tests.support.build import CALLERS, IDENTITY
from tests.support.memory import MemorySession, MemoryStore

FEW = Limits(aggregates=6, part=1)
"""So few aggregates are kept that histories meet an empty cache, a full one and snapshots.

On PostgreSQL every command of a batch is written by itself, before the next is decided.
"""


@contextmanager
def often_snapshotted() -> Iterator[None]:
    """Let snapshots be written every few events, so that short histories read them too."""
    usual = batch.SNAPSHOT_EVERY
    batch.SNAPSHOT_EVERY = 4
    try:
        yield
    finally:
        batch.SNAPSHOT_EVERY = usual


class HistoryLedger(Protocol):
    """What a history needs of a ledger."""

    def submit(self, commands: list[Command]) -> list[Answer]:
        """The answers to commands that wait together."""

    def set_clock(self, now: datetime) -> None:
        """Move the ledger's clock."""

    def events(self, after: int = 0) -> list[Any]:
        """The events of the log after a position, oldest first."""

    def position(self) -> int:
        """How many events there are."""

    def permit(self, permit_id: str) -> Permit:
        """A permit as it is stored."""

    def permits(self) -> dict[str, Permit]:
        """Every permit as it is stored."""

    def decision_ids(self) -> list[str]:
        """The ids of the rows of the decision log."""

    def in_memory(self) -> dict[UUID, Any]:
        """The aggregates that the engine holds."""

    def close(self) -> None:
        """End the engine."""


class MemoryLedger:
    """The engine over a store in memory."""

    def __init__(self, now: datetime) -> None:
        self.store = MemoryStore(now, keys=frozenset(caller.key_id for caller in CALLERS))
        self._until_closed = ExitStack()
        self._until_closed.enter_context(often_snapshotted())
        self._runner = asyncio.Runner()
        self._engine = Engine(MemorySession(self.store), Policy(), IDENTITY, FEW)
        self._runner.run(self._engine.start())

    def submit(self, commands: list[Command]) -> list[Answer]:
        """The answers to commands that wait together."""
        return self._runner.run(self._engine.submit_all(commands))

    def set_clock(self, now: datetime) -> None:
        """Move the ledger's clock."""
        self.store.now = now

    def events(self, after: int = 0) -> list[Any]:
        """The events of the log after a position, oldest first."""
        return [row.event() for row in self.store.rows[after:]]

    def position(self) -> int:
        """How many events there are."""
        return len(self.store.rows)

    def permit(self, permit_id: str) -> Permit:
        """A permit as it is stored."""
        return self.store.permit(permit_id)

    def permits(self) -> dict[str, Permit]:
        """Every permit as it is stored."""
        return {permit_id: self.store.permit(permit_id) for permit_id in self.store.permits}

    def decision_ids(self) -> list[str]:
        """The ids of the rows of the decision log."""
        return [row.decision_id for row in self.store.decisions]

    def in_memory(self) -> dict[UUID, Any]:
        """The aggregates that the engine holds."""
        kept = self._engine._cache.aggregates
        return {id_: aggregate for id_, aggregate in kept.items() if aggregate is not None}

    def close(self) -> None:
        """End the engine."""
        self._runner.run(self._engine.stop())
        self._runner.close()
        self._until_closed.close()
