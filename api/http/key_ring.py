"""The live API keys in memory, so that neither a known nor an unknown key costs a connection."""

import asyncio
import hashlib
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import AsyncConnection

from ledger.application.caller import Caller
from ledger.application.ports import StoreUnavailable
from ledger.store.live_keys import keys_version, live_keys
from ledger.store.session_limits import session_options

_PERIOD = 0.5
"""Seconds between two looks at the version of the keys."""
_GAP = 0.05
"""Seconds between two looks that unknown keys ask for: so many callers share one."""
_WHOLE_EVERY = 20
"""Every so many looks the table is read whole: a restored database may have an old version."""
_PATIENCE = 5.0
_MOST_WAITING = 256
_MOST_KNOWN = 10_000


class KeyRing:
    """A table of the live keys by their hash, kept fresh over one connection of its own.

    A key that another process has made is unknown here until the next look, which its first
    request asks for and waits for. Where very many wait already, that is a flood of wrong keys:
    a new one is then refused at once, and a key made meanwhile is known half a second later.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._table: dict[bytes, Caller] = {}
        self._table_version: int | None = None
        self._looks = 0
        self._known: dict[bytes, Caller] = {}
        self._version = 0
        self._asked = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._connection: AsyncConnection[Any] | None = None

    def known(self, authorization: bytes, version: int) -> Caller | None:
        """The caller of an `Authorization` header that was seen under this version of the keys."""
        if version != self._version:
            self._known.clear()
            self._version = version
        return self._known.get(authorization)

    def forget(self, key_id: str) -> None:
        """Drop a key that was revoked by this process."""
        self._known.clear()
        self._table = {h: each for h, each in self._table.items() if each.key_id != key_id}

    async def find(self, authorization: bytes) -> Caller | None:
        """The caller of an `Authorization` header, None for an unknown key.

        Raises StoreUnavailable where the key is not in the table and the store cannot be asked.
        """
        secret = secret_of(authorization)
        if secret is None:
            return None
        digest = hashlib.sha256(secret).digest()
        caller = self._table.get(digest)
        if caller is None:
            await self._next_look()
            caller = self._table.get(digest)
        if caller is not None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[authorization] = caller
        return caller

    async def run(self) -> None:
        """Look for ever whether keys were made or revoked."""
        try:
            while True:
                await self._look_once()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._asked.wait(), _PERIOD)
        finally:
            await self._drop()

    async def _look_once(self) -> None:
        self._asked.clear()
        waiting, self._waiting = self._waiting, []
        failure: Exception | None = None
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._refresh()
        except (psycopg.Error, OSError) as error:
            await self._drop()
            failure = StoreUnavailable(type(error).__name__)
        finally:
            for each in waiting:
                if not each.done():
                    if failure is None:
                        each.set_result(None)
                    else:
                        each.set_exception(failure)
        await asyncio.sleep(_GAP)

    async def _next_look(self) -> None:
        """Wait for a look that begins after this call, unless a flood waits already."""
        if self._table_version is not None and len(self._waiting) >= _MOST_WAITING:
            return
        seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(seen)
        self._asked.set()
        await seen

    async def _refresh(self) -> None:
        """Read the table if the version is another one. Raises psycopg.Error or OSError."""
        connection = await self._connected()
        version = await keys_version(connection)
        self._looks += 1
        if version == self._table_version and self._looks % _WHOLE_EVERY:
            return
        # The version is read first: what changes in between is read again with the next look.
        table = await live_keys(connection)
        if table != self._table:
            self._table = table
            self._known.clear()
        self._table_version = version

    async def _connected(self) -> AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = await AsyncConnection.connect(
                self._conninfo,
                autocommit=True,
                connect_timeout=5,
                application_name="send-ledger keys",
                options=session_options(),
            )
        return self._connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error, OSError):
                await connection.close()


def secret_of(authorization: bytes) -> bytes | None:
    """The secret in an `Authorization` header; None where there can be none."""
    scheme, _, secret = authorization.partition(b" ")
    secret = secret.strip()
    if scheme.lower() != b"bearer" or not 8 <= len(secret) <= 200 or not secret.isascii():
        return None
    return secret
