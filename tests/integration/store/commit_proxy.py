"""A proxy between a writer and PostgreSQL that breaks the connection at a COMMIT."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_SOCKET = ".s.PGSQL.5432"
_BIND = b"B"
_SYNC = b"S"
_COMMIT = b"\0commit\0"
"""How a message names the prepared statement."""
_READY = b"Z"


class At(Enum):
    """What happens to the connection at a COMMIT."""

    PASS = "pass"
    ANSWER_LOST = "answer lost"
    """The server commits, and its answer never arrives."""
    NEVER_SENT = "never sent"
    """The connection is lost before the server hears of the COMMIT."""
    ON_ITS_WAY = "on its way"
    """The client's connection is lost first; the server hears of the COMMIT only on `deliver`."""
    ANSWER_LATE = "answer late"
    """The server commits, and its answer arrives only on `deliver`."""


class CommitProxy:
    """Passes everything on but what `plan` says; an empty plan passes."""

    def __init__(self, upstream: str) -> None:
        self.plan: list[At] = []
        self.done: list[At] = []
        self.refuse_after = 0
        """How many connections are refused after the loss."""
        self.deliver = asyncio.Event()
        self._upstream = upstream
        self._refusing = 0
        self._tasks: list[asyncio.Task[None]] = []

    def accept_again(self) -> None:
        """Let new connections in again."""
        self._refusing = 0

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one client's connection on."""
        self._tasks.append(asyncio.create_task(self._link(reader, writer)))

    async def close(self) -> None:
        """End every connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing > 0:
            self._refusing -= 1
            await _closed(writer)
            return
        try:
            server_reader, server_writer = await asyncio.open_unix_connection(self._upstream)
        except OSError:
            await _closed(writer)
            return
        try:
            await _Link(self, reader, writer, server_reader, server_writer).run()
        finally:
            await _closed(writer)
            await _closed(server_writer)

    def next_plan(self) -> At:
        """What is to happen at this COMMIT."""
        at = self.plan.pop(0) if self.plan else At.PASS
        self.done.append(at)
        if at is not At.PASS:
            self._refusing = self.refuse_after
        return at


class _Link:
    def __init__(
        self,
        proxy: CommitProxy,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._client, self._to_client = client, to_client
        self._server, self._to_server = server, to_server
        self._swallowing = False
        self._late = False

    async def run(self) -> None:
        """Both directions, until either ends."""
        up = asyncio.create_task(self._upwards())
        down = asyncio.create_task(self._downwards())
        try:
            await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (up, down):
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)

    async def _upwards(self) -> None:
        start_length = await self._client.readexactly(4)
        rest = await self._client.readexactly(int.from_bytes(start_length, "big") - 4)
        self._to_server.write(start_length + rest)
        while True:
            kind, message = await _message(self._client)
            if kind == _BIND and _COMMIT in message:
                while kind != _SYNC:
                    kind, more = await _message(self._client)
                    message += more
                at = self._proxy.next_plan()
                if at is At.NEVER_SENT:
                    return
                if at is At.ON_ITS_WAY:
                    self._to_client.close()
                    await self._proxy.deliver.wait()
                self._swallowing = at is At.ANSWER_LOST
                self._late = at is At.ANSWER_LATE
                self._to_server.write(message)
                if at is At.ON_ITS_WAY:
                    await self._to_server.drain()
                    await asyncio.sleep(60)
            else:
                self._to_server.write(message)
            await self._to_server.drain()

    async def _downwards(self) -> None:
        while True:
            kind, message = await _message(self._server)
            if self._swallowing:
                if kind == _READY:
                    return
                continue
            if self._late:
                await self._proxy.deliver.wait()
                self._late = False
            self._to_client.write(message)
            await self._to_client.drain()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    return head[:1], head + await reader.readexactly(int.from_bytes(head[1:], "big") - 4)


@asynccontextmanager
async def commit_proxy(database: str) -> AsyncIterator[tuple[CommitProxy, str]]:
    """A proxy for this database, and the conninfo that goes through it."""
    host = conninfo_to_dict(database)["host"]
    proxy = CommitProxy(f"{host}/{_SOCKET}")
    with tempfile.TemporaryDirectory(prefix="ledger-proxy-") as folder:
        server = await asyncio.start_unix_server(proxy.serve, str(Path(folder) / _SOCKET))
        try:
            yield proxy, make_conninfo(database, host=folder, requirepeer="")
        finally:
            server.close()
            await proxy.close()
            await server.wait_closed()
