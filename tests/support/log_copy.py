"""Copies the log of an in-memory ledger to PostgreSQL, for tests of the read side."""

from typing import Any

from psycopg import AsyncConnection

from tests.support.memory import MemoryStore

_EVENT = b"INSERT INTO events VALUES (0, %s, %s, %s, %s, %s, %s, '')"
_CONTACT = b"INSERT INTO contacts VALUES (0, %s, %s, %s) ON CONFLICT DO NOTHING"


async def copy_log(
    connection: AsyncConnection[Any], store: MemoryStore, after: int = 0, upto: int | None = None
) -> int:
    """Insert the events of positions (after, upto], and the contacts; answers the last position."""
    last = len(store.rows) if upto is None else min(upto, len(store.rows))
    events = [
        (position, row.originator_id, row.version, row.topic, row.state.decode(), row.recorded_at)
        for position, row in enumerate(store.rows, start=1)
        if after < position <= last
    ]
    contacts = [(*key, address) for key, address in store.contacts.items()]
    async with connection.cursor() as cursor:
        if events:
            await cursor.executemany(_EVENT, events)
        if contacts:
            await cursor.executemany(_CONTACT, contacts)
    return last
