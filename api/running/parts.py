"""The parts of one process that every package may use: engine, reader, projector, connections."""

from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from api.running.supervision import Supervisor
from ledger.application.engine import Engine
from ledger.application.world import Identity
from ledger.domain.policy import Policy
from ledger.store.connections import Connections
from ledger.store.log.reader import LedgerReader
from projections.projector import Projector


@dataclass(kw_only=True)
class Parts:
    """The parts of a running process; packages extend it. `read_wait` is in seconds."""

    policy: Policy
    identity: Identity
    engine: Engine
    connections: Connections
    reader: LedgerReader
    projector: Projector
    supervisor: Supervisor
    read_wait: float
    witness_path: Path
    test_clock: bool
    conninfo: str = field(repr=False, default="")

    def in_background(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run work that continues after its request, and log errors."""
        self.supervisor.once(name, work)

    async def now(self) -> datetime:
        """The ledger's time (UTC). Raises StoreUnavailable."""
        return await self.reader.now()
