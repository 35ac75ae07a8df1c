"""Bounded pools of connections for reads, separate from the writer's: one for all, a reserve."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from select import POLLIN, POLLPRI, poll
from typing import Any

import orjson
import psycopg
from psycopg import AsyncConnection
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from ledger.application.ports import StoreUnavailable
from ledger.store.session_limits import session_options

_MAY_USE_RESERVE: ContextVar[bool] = ContextVar("may_use_reserve", default=False)


def use_the_reserve() -> None:
    """Let the running task have a connection of the reserve where the others are taken."""
    _MAY_USE_RESERVE.set(True)


class Connections:
    """A pool of `size` connections; a caller waits at most `wait` seconds for a free one.

    A reserve of `reserve` more is for tasks that called `use_the_reserve`. At most `waiting` wait.
    """

    def __init__(
        self,
        conninfo: str,
        size: int = 4,
        wait: float = 5.0,
        reserve: int = 2,
        waiting: int = 1_024,
    ) -> None:
        self.conninfo = conninfo
        self._size, self._used = size, 0
        self._pool = _pool(conninfo, size, wait, waiting)
        self._reserve = _pool(conninfo, reserve, wait, waiting)

    async def open(self) -> None:
        """Start the pools; they connect when they are first used."""
        await self._pool.open()
        await self._reserve.open()

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()
        await self._reserve.close()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection for a short read or write. Raises StoreUnavailable."""
        pool = self._pool
        if self._used >= self._size and _MAY_USE_RESERVE.get():
            pool = self._reserve
        self._used += pool is self._pool
        try:
            async with pool.connection() as connection:
                yield connection
        except (PoolTimeout, TooManyRequests, psycopg.OperationalError, OSError) as error:
            raise StoreUnavailable(type(error).__name__) from error
        finally:
            self._used -= pool is self._pool


def _pool(
    conninfo: str, size: int, wait: float, waiting: int
) -> AsyncConnectionPool[AsyncConnection[Any]]:
    return AsyncConnectionPool(
        conninfo,
        min_size=0,
        max_size=size,
        timeout=wait,
        max_waiting=waiting,
        open=False,
        kwargs={
            "autocommit": True,
            "application_name": "send-ledger reader",
            "client_encoding": "UTF8",
            "options": session_options(),
        },
        check=_check,
        configure=_read_json_fast,
    )


async def _check(connection: AsyncConnection[Any]) -> None:
    """Raises psycopg.Error where the server has closed the connection, so that another is taken.

    An idle connection has nothing to read unless it was closed or a notice came, so that in most
    cases no round trip is needed.
    """
    socket = poll()
    socket.register(connection.fileno(), POLLIN | POLLPRI)
    if socket.poll(0):
        await AsyncConnectionPool.check_connection(connection)


async def _read_json_fast(connection: AsyncConnection[Any]) -> None:
    """Parse JSON with orjson: a page of due invoices is mostly JSON."""
    set_json_loads(orjson.loads, connection)
