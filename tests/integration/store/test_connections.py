"""A connection of the pool that the server closed meanwhile is exchanged before it is used."""

import asyncio
from contextlib import closing

import psycopg
import pytest

from ledger.application.ports import StoreUnavailable
from ledger.store.connections import Connections


async def _backend(connections: Connections) -> int:
    async with connections.use() as connection:
        row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
        assert row is not None
        return int(row[0])


def _end(database: str, backend: int) -> None:
    """Have the server end a session, and wait until it has."""
    with closing(psycopg.connect(database, autocommit=True)) as other:
        ended = other.execute("SELECT pg_terminate_backend(%s, 10000)", (backend,)).fetchone()
        assert ended == (True,)


def test_a_connection_that_the_server_closed_is_exchanged(database: str) -> None:
    async def scenario() -> None:
        connections = Connections(database, size=1)
        await connections.open()
        try:
            first = await _backend(connections)
            assert await _backend(connections) == first
            _end(database, first)
            second = await _backend(connections)
            assert second != first
            assert await _backend(connections) == second
        finally:
            await connections.close()

    asyncio.run(scenario())


def test_a_connection_that_the_server_closes_in_use_is_an_error_once(database: str) -> None:
    async def ended_in_use(connections: Connections) -> None:
        async with connections.use() as connection:
            _end(database, connection.info.backend_pid)
            await connection.execute("SELECT 1")

    async def scenario() -> None:
        connections = Connections(database, size=1)
        await connections.open()
        try:
            first = await _backend(connections)
            with pytest.raises(StoreUnavailable):
                await ended_in_use(connections)
            assert await _backend(connections) != first
        finally:
            await connections.close()

    asyncio.run(scenario())
