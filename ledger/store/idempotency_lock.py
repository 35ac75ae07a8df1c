"""The lock that runs requests with the same Idempotency-Key one at a time, in all processes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import AsyncConnection

from ledger.application.clock import stopwatch
from ledger.application.ports import StoreUnavailable
from ledger.store.statements import statement

_LOOK_AGAIN_SECONDS = 0.02
_OPTIONS = "-c statement_timeout=5000 -c timezone=UTC -c jit=off"


@dataclass(slots=True)
class _Waiting:
    """The requests with one key in this process: the lock's holder runs, the others wait."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    count: int = 0


class IdempotencyLock:
    """Locks by idempotency scope: a request runs after the one before it has been answered.

    Within a process it is a lock in memory, between processes an advisory lock of the database.
    The advisory lock is polled, not waited for, so that one connection serves all requests. If
    that connection breaks, its locks are released, and another process may then run a request
    with the same key before the first has ended.
    """

    def __init__(self, conninfo: str, patience: float = 30.0) -> None:
        self._conninfo = conninfo
        self._patience = patience
        self._waiting: dict[bytes, _Waiting] = {}
        self._connection: AsyncConnection[Any] | None = None
        self._using = asyncio.Lock()

    @asynccontextmanager
    async def hold(self, scope: bytes) -> AsyncIterator[None]:
        """Wait, at most `patience` seconds, until no other request of that scope is running.

        Raises StoreUnavailable where it takes longer, or the database does not answer.
        """
        waiting = self._waiting.setdefault(scope, _Waiting())
        waiting.count += 1
        try:
            async with waiting.lock:
                await self._take(scope)
                try:
                    yield
                finally:
                    with suppress(StoreUnavailable):
                        await self._call("release", scope)
        finally:
            waiting.count -= 1
            if not waiting.count:
                del self._waiting[scope]

    async def close(self) -> None:
        """Close the connection, which releases every advisory lock still held."""
        async with self._using:
            await self._drop()

    async def _take(self, scope: bytes) -> None:
        give_up = stopwatch() + self._patience
        while not await self._call("take", scope):
            if stopwatch() >= give_up:
                raise StoreUnavailable("the same request is still running")
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def _call(self, name: str, scope: bytes) -> bool:
        number = int.from_bytes(scope[:8], "big", signed=True)
        async with self._using:
            try:
                connection = await self._connected()
                cursor = await connection.execute(
                    statement("idempotency_lock", name), {"number": number}
                )
                row = await cursor.fetchone()
            except (psycopg.Error, OSError) as error:
                await self._drop()
                raise StoreUnavailable(type(error).__name__) from error
            except asyncio.CancelledError:
                # Whether the lock is held is unknown now: closing the connection releases it.
                await self._drop()
                raise
        return bool(row and row[0])

    async def _connected(self) -> AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = await AsyncConnection.connect(
                self._conninfo,
                autocommit=True,
                connect_timeout=5,
                application_name="send-ledger twins",
                options=_OPTIONS,
            )
        return self._connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error, OSError):
                await connection.close()
