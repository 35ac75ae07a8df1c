"""A bounded pool of connections for reads, separate from the writer's connection."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import psycopg
from psycopg import AsyncConnection
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from ledger.application.ports import StoreUnavailable
from ledger.store.session_limits import session_options


class Connections:
    """A pool of `size` connections; a caller waits at most `wait` seconds for a free one."""

    def __init__(self, conninfo: str, size: int = 4, wait: float = 5.0) -> None:
        self.conninfo = conninfo
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            conninfo,
            min_size=0,
            max_size=size,
            timeout=wait,
            max_waiting=256,
            open=False,
            kwargs={
                "autocommit": True,
                "application_name": "send-ledger reader",
                "client_encoding": "UTF8",
                "options": session_options(),
            },
            check=AsyncConnectionPool.check_connection,
            configure=_read_json_fast,
        )

    async def open(self) -> None:
        """Start the pool; it connects when it is first used."""
        await self._pool.open()

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection for a short read or write. Raises StoreUnavailable."""
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, TooManyRequests, psycopg.OperationalError, OSError) as error:
            raise StoreUnavailable(type(error).__name__) from error


async def _read_json_fast(connection: AsyncConnection[Any]) -> None:
    """Parse JSON with orjson: a page of due invoices is mostly JSON."""
    set_json_loads(orjson.loads, connection)
