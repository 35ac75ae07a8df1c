"""What the endpoints share in one process: engine, reader, projector, pager and keys."""

from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fastapi import Request

from api.claimed_customers import ClaimedCustomers
from api.paging import Pager
from api.refreshing import Refresher
from api.settings import Settings
from api.supervision import Supervisor
from api.translate import Translator
from api.webhook_intake import Intake
from ledger.application.caller import Caller
from ledger.application.engine import Engine
from ledger.application.world import Identity
from ledger.domain.policy import Policy
from ledger.store.connections import Connections
from ledger.store.keys import find_key
from ledger.store.reader import LedgerReader
from ledger.store.twins import Twins
from ledger.store.writer import PostgresWriter
from projections.projector import Projector

_MOST_KEYS = 10_000


class KeyRing:
    """The keys that were seen, by their secret; a revocation anywhere empties it."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._known: dict[bytes, Caller] = {}
        self._version = 0

    def known(self, authorization: bytes, version: int) -> Caller | None:
        """The caller of a header that was seen before, under this version of the keys."""
        if version != self._version:
            self._known.clear()
            self._version = version
        return self._known.get(authorization)

    def forget(self) -> None:
        """Look every key up again."""
        self._known.clear()

    async def find(self, authorization: bytes) -> Caller | None:
        """The caller of an `Authorization` header, None where there is none."""
        scheme, _, secret = authorization.partition(b" ")
        if scheme.lower() != b"bearer" or not 8 <= len(secret.strip()) <= 200:
            return None
        try:
            text = secret.strip().decode("ascii")
        except UnicodeDecodeError:
            return None
        async with self._connections.use() as connection:
            caller = await find_key(connection, text)
        if caller is not None:
            if len(self._known) >= _MOST_KEYS:
                self._known.clear()
            self._known[authorization] = caller
        return caller


@dataclass
class Context:
    """One process's parts; made at start-up, kept on `app.state`."""

    settings: Settings
    policy: Policy
    identity: Identity
    translator: Translator
    engine: Engine
    connections: Connections
    reader: LedgerReader
    projector: Projector
    pager: Pager
    keys: KeyRing
    writer: PostgresWriter
    supervisor: Supervisor
    intake: Intake
    refresher: Refresher
    twins: Twins
    claimed: ClaimedCustomers
    test_clock: bool
    conninfo: str = field(repr=False, default="")
    draining: bool = False

    def in_background(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Do something that outlives its request, and log how it ended."""
        self.supervisor.once(name, work)

    async def close(self) -> None:
        """Close the connections of the writer and of what keeps twins apart."""
        await self.writer.close()
        await self.twins.close()

    async def now(self) -> datetime:
        """The ledger's time (UTC)."""
        return await self.reader.now()


def context_of(request: Request) -> Context:
    """The context of the application that serves this request."""
    context: Any = request.app.state.context
    assert isinstance(context, Context)
    return context
