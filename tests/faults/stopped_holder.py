"""A process that takes the writer lock in one of the ledger's ways and stops (SIGSTOP) there."""

import asyncio
import os
import signal
import sys
from typing import Any
from uuid import uuid4

import psycopg
from eventsourcing.persistence import StoredEvent
from psycopg import AsyncConnection

from ledger.application.ports import Batch
from ledger.domain.policy import Policy
from ledger.store.connections import Connections
from ledger.store.keys import revoke_key
from ledger.store.log.recorder import LedgerRecorder
from ledger.store.log.writer import PostgresWriter
from ledger.store.setup import move_test_clock, prepare_ledger
from tests.integration.store.engines import IDENTITY, NOON

_LOCK = ("take_writer_lock", "begin_batch")


def _stop_after(query: Any) -> None:
    """The statement that takes the lock was answered: the process stops, with the lock held."""
    if any(name in str(query) for name in _LOCK):
        os.kill(os.getpid(), signal.SIGSTOP)


def _stop_all_connections() -> None:
    """Every connection of this process stops it once it has the lock."""
    asynchronous, synchronous = AsyncConnection.execute, psycopg.Connection.execute

    async def execute(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        result = await asynchronous(self, query, *args, **kwargs)
        _stop_after(query)
        return result

    def execute_now(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        result = synchronous(self, query, *args, **kwargs)
        _stop_after(query)
        return result

    AsyncConnection.execute = execute  # type: ignore[method-assign]
    psycopg.Connection.execute = execute_now  # type: ignore[method-assign]


async def _pooled(database: str, way: str) -> None:
    connections = Connections(database)
    await connections.open()
    async with connections.use() as connection:
        if way == "key revocation":
            await revoke_key(connection, "key_nobody")
        else:
            await move_test_clock(connection, NOON)


async def _unbounded(database: str) -> None:
    """A connection without any setting of ours, as the command line of an older version had."""
    async with await AsyncConnection.connect(database, autocommit=True) as connection:
        await revoke_key(connection, "key_nobody")


async def _writer(database: str) -> None:
    writer = PostgresWriter(database)
    head = await writer.begin()
    os.kill(os.getpid(), signal.SIGSTOP)
    await writer.write(Batch(head))


def main(way: str, database: str) -> None:
    """Take the lock that way."""
    if way == "writer":
        asyncio.run(_writer(database))
        return
    _stop_all_connections()
    if way == "start-up":
        prepare_ledger(database, IDENTITY.secret, Policy(), None)
    elif way == "recorder":
        event = StoredEvent(uuid4(), 1, "ledger:Control.Created", b"{}")
        LedgerRecorder(database).insert_events([event])
    elif way == "unbounded connection":
        asyncio.run(_unbounded(database))
    else:
        asyncio.run(_pooled(database, way))


if __name__ == "__main__":
    main(*sys.argv[1:])
