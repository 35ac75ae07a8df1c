"""The writer session on PostgreSQL: one connection that begins, loads, writes and looks again."""

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncClientCursor, AsyncConnection

from ledger.application.clock import decision_time
from ledger.application.ports import (
    Batch,
    CommitUncertain,
    Head,
    Loaded,
    Loss,
    Need,
    NotBegun,
    StoreRefused,
    StoreUnavailable,
)
from ledger.application.world import Binding, Name
from ledger.domain.permit import Permit
from ledger.store.encoding import encode_batch, name_hash
from ledger.store.hashchain import GENESIS
from ledger.store.lost_history import OtherLedger, compare
from ledger.store.statements import statement
from ledger.store.transcoding import SNAPSHOT_TOPICS, read_as, read_event, read_snapshot
from ledger.store.witness import START, Mark, Witness, WitnessError

_log = logging.getLogger("ledger.store")
_REFUSED = (
    psycopg.errors.DataError,
    psycopg.errors.IntegrityError,
    psycopg.errors.ProgrammingError,
)
_TOO_LONG = (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled, TimeoutError)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long the writer waits, in milliseconds; a silent lock holder must not block for ever."""

    connect: int = 5_000
    lock: int = 5_000
    statement: int = 10_000
    idle_in_transaction: int = 15_000
    answer: int = 20_000

    @property
    def options(self) -> str:
        """The session settings of the writer (design D4).

        Sequential scans are off because a statement that was planned while its table was empty
        would keep such a plan; every statement here has an index to use.
        """
        settings = {
            "lock_timeout": self.lock,
            "statement_timeout": self.statement,
            "idle_in_transaction_session_timeout": self.idle_in_transaction,
            "synchronous_commit": "on",
            # With another one the head would be read as it was before the wait for the lock.
            "default_transaction_isolation": r"read\ committed",
            "timezone": "UTC",
            "enable_seqscan": "off",
            "jit": "off",
        }
        return " ".join(f"-c {name}={value}" for name, value in settings.items())


class PostgresWriter:
    """Implements WriterSession; reconnects by itself at the next `begin` after a failure.

    Without a witness that has a file, a loss is noticed as long as this writer lives.
    """

    def __init__(
        self, conninfo: str, timeouts: Timeouts | None = None, witness: Witness | None = None
    ) -> None:
        self._conninfo = conninfo
        self._timeouts = timeouts or Timeouts()
        self._connection: AsyncConnection[Any] | None = None
        self._months: set[tuple[int, int]] = set()
        self._month_seen: tuple[int, int] | None = None
        self._last_hash = GENESIS
        self._open = False
        self._part: asyncio.Task[None] | None = None
        self._cursor: AsyncClientCursor[Any] | None = None
        self._witness = witness or Witness()
        self._head = START
        self._compared = False
        self._rewritten = False

    async def begin(self) -> Head:
        """Start a transaction, take the writer lock, and read head and time after it.

        Tried a second time where the connection had been idle and turned out to be broken.
        """
        reused = self._connection is not None and not self._connection.closed
        try:
            return await self._begin()
        except StoreUnavailable as error:
            if not reused or isinstance(error.__cause__, _TOO_LONG):
                raise NotBegun(str(error)) from error
        try:
            return await self._begin()
        except StoreUnavailable as error:
            raise NotBegun(str(error)) from error

    async def _begin(self) -> Head:
        connection = await self._connected()
        async with self._answering(self._timeouts.lock + self._timeouts.connect):
            cursor = self._cursor_of(connection)
            await cursor.execute(statement("log", "begin"))
            cursor.nextset()
            row = await cursor.fetchone()
        assert row is not None
        position, hash_, recorded_at, read_at, _, keys_version = row
        self._open = True
        self._head = Mark(position or 0, hash_ or GENESIS, recorded_at)
        self._last_hash = self._head.hash
        loss = await self._lost(connection)
        rewritten, self._rewritten = self._rewritten, False
        now = decision_time(read_at, recorded_at)
        await self._ensure_month(connection, now)
        return Head(self._head.position, self._head.hash, now, keys_version or 0, rewritten, loss)

    async def _lost(self, connection: AsyncConnection[Any]) -> Loss | None:
        """What the witness shows to be gone from the log (D13).

        Compared on each new connection, and whenever the log ends before what was seen.
        """
        if self._compared and not self._witness.contradicts(self._head):
            self._witness.note(self._head)
            return None
        self._compared = False
        try:
            async with self._answering():
                found = await compare(connection, self._head, self._witness.testimonies())
        except (OtherLedger, WitnessError) as error:
            _log.error("nothing is granted: %s", error)
            await self.rollback()
            raise StoreUnavailable(str(error)) from error
        self._witness.epoch = found.epoch
        self._rewritten = self._rewritten or found.contradicted
        if found.loss is None:
            self._compared = True
            self._witness.accept(self._head, back=found.contradicted)
        return found.loss

    async def load(self, need: Need) -> Loaded:
        """Load what is needed in one statement."""
        await self._part_written()
        connection = self._required()
        async with self._answering():
            return await load_need(connection, need)

    async def events_since(self, position: int, limit: int) -> Sequence[Any]:
        """The events after a position, oldest first."""
        async with self._answering():
            cursor = await self._required().execute(
                statement("log", "since"), {"position": position, "limit": limit}
            )
            rows = await cursor.fetchall()
        return [read_event(id_, v, topic, orjson.loads(state)) for id_, v, topic, state in rows]

    async def active_keys(self) -> frozenset[str]:
        """The ids of the API keys that are not revoked."""
        async with self._answering():
            cursor = await self._required().execute(statement("keys", "active"))
            return frozenset(row[0] for row in await cursor.fetchall())

    async def send_part(self, batch: Batch) -> None:
        """Start to write what the batch holds so far, and do not wait for it."""
        arguments, self._last_hash = encode_batch(batch, self._last_hash)
        batch.part_sent()
        await self._part_written()
        self._part = asyncio.create_task(self._write_part(self._required(), arguments))
        # The task begins, and sends what the socket takes at once.
        await asyncio.sleep(0)

    @staticmethod
    async def _write_part(connection: AsyncConnection[Any], arguments: dict[str, Any]) -> None:
        await connection.execute(statement("log", "write_part"), arguments, prepare=True)

    async def _part_written(self) -> None:
        """Wait for the part that is under way; nothing was committed where it fails."""
        part, self._part = self._part, None
        if part is not None:
            async with self._answering():
                await part

    async def write(self, batch: Batch) -> None:
        """Write the batch, or what is left of it, and commit: one round trip."""
        arguments, self._last_hash = encode_batch(batch, self._last_hash)
        await self._part_written()
        connection = self._required()
        try:
            async with asyncio.timeout(self._timeouts.answer / 1000):
                cursor = self._cursor_of(connection)
                await cursor.execute(statement("log", "write"), arguments)
        except _REFUSED as error:
            raise StoreRefused(str(error)) from error
        except (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable) as error:
            raise StoreUnavailable(str(error)) from error
        except (psycopg.Error, TimeoutError, OSError) as error:
            await self._drop()
            raise CommitUncertain(type(error).__name__) from error
        self._open = False
        self._wrote(batch)
        if self._month_seen is not None:
            self._months.add(self._month_seen)

    def _wrote(self, batch: Batch) -> None:
        """The batch is committed: from here on it must be found in the log (D13)."""
        if batch.events:
            self._head = Mark(batch.position, self._last_hash, batch.head.now)
        if self._compared:
            self._witness.note(self._head)
        else:
            self._compared = True
            self._witness.accept(self._head, back=True)

    async def committed(self, batch: Batch) -> bool:
        """Under the lock of a new transaction: did that batch commit?"""
        sought = self._last_hash
        self._rewritten = (await self.begin()).rewritten
        async with self._answering():
            cursor = await self._required().execute(
                statement("log", "committed"),
                {
                    "position": batch.position if batch.events else -1,
                    "hash": sought,
                    "decisions": [row.decision_id for row in batch.decisions[:1]],
                },
            )
            row = await cursor.fetchone()
        return bool(row and row[0])

    async def rollback(self) -> None:
        """Give the lock up without writing; a connection that cannot is dropped."""
        if not self._open or self._connection is None:
            return
        self._open = False
        try:
            await self._part_written()
        except (StoreUnavailable, StoreRefused) as error:
            _log.debug("a part of what is taken back had failed: %r", error)
        if self._connection is None:
            return
        try:
            async with asyncio.timeout(self._timeouts.answer / 1000):
                await self._connection.execute("ROLLBACK")
        except (psycopg.Error, TimeoutError, OSError):
            await self._drop()

    async def close(self) -> None:
        """Close the connection, and bring the witness up to date."""
        await self._drop()
        await self._witness.close()

    async def _connected(self) -> AsyncConnection[Any]:
        if self._connection is not None and not self._connection.closed:
            return self._connection
        try:
            async with asyncio.timeout(self._timeouts.connect / 1000):
                self._connection = await AsyncConnection.connect(
                    self._conninfo,
                    autocommit=True,
                    prepare_threshold=1,
                    options=self._timeouts.options,
                    tcp_user_timeout=self._timeouts.answer,
                    application_name="send-ledger writer",
                )
        except (psycopg.Error, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"no connection: {type(error).__name__}") from error
        self._compared = False
        return self._connection

    def _cursor_of(self, connection: AsyncConnection[Any]) -> AsyncClientCursor[Any]:
        """The one cursor of the connection: to make one costs as much as to use it."""
        if self._cursor is None or self._cursor.connection is not connection:
            self._cursor = AsyncClientCursor(connection)
        return self._cursor

    def _required(self) -> AsyncConnection[Any]:
        if self._connection is None:
            raise StoreUnavailable("the connection was lost")
        return self._connection

    @asynccontextmanager
    async def _answering(self, limit: int | None = None) -> AsyncIterator[None]:
        """Turn every failure within the transaction into StoreUnavailable, and start afresh."""
        try:
            async with asyncio.timeout((limit or self._timeouts.answer) / 1000):
                yield
        except _REFUSED as error:
            raise StoreRefused(str(error)) from error
        except (psycopg.Error, TimeoutError, OSError) as error:
            await self._drop()
            raise StoreUnavailable(f"{type(error).__name__}") from error

    async def _ensure_month(self, connection: AsyncConnection[Any], now: datetime) -> None:
        """Make the part of the decision log for this month, on demand (design D11).

        It counts as made only once a transaction committed: a rollback takes it away again.
        """
        self._month_seen = (now.year, now.month)
        if self._month_seen in self._months:
            return
        try:
            async with self._answering():
                await connection.execute(statement("log", "ensure_decision_part"), {"at": now})
        except StoreRefused:
            await self.rollback()
            raise

    async def _drop(self) -> None:
        connection, self._connection, self._open = self._connection, None, False
        self._part = None
        self._months.clear()
        if connection is not None:
            try:
                await connection.close()
            except (psycopg.Error, OSError) as error:
                _log.debug("closing a broken connection: %r", error)


async def load_need(connection: AsyncConnection[Any], need: Need) -> Loaded:
    """Load what is needed in one statement. Raises psycopg.Error."""
    kinds, digests = [], []
    names: dict[tuple[str, str], Name] = {}
    for name in need.names:
        digest = name_hash(name)
        kinds.append(name[0])
        digests.append(digest)
        names[(name[0], digest.hex())] = name
    cursor = await connection.execute(
        statement("log", "load"),
        {
            "aggregates": list(need.aggregates),
            "snapshot_topics": list(SNAPSHOT_TOPICS),
            "permits": list(need.permits),
            "name_kinds": kinds,
            "name_hashes": digests,
            "scopes": list(need.bindings),
            "owners": list(need.owners),
            "fingerprints": list(need.fingerprints),
            "answers": list(need.answers),
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    return _read_loaded(orjson.loads(row[0]), names)


def _read_loaded(found: dict[str, Any], names: dict[tuple[str, str], Name]) -> Loaded:
    loaded = Loaded(now=datetime.fromisoformat(found["now"]), position=found["position"] or 0)
    for id_text, version, topic, state in found["snapshots"] or ():
        if topic in SNAPSHOT_TOPICS:
            id_ = UUID(id_text)
            loaded.aggregates[id_] = read_snapshot(id_, version, topic, state)
    for id_text, version, topic, state in found["events"] or ():
        id_ = UUID(id_text)
        event = read_event(id_, version, topic, state)
        loaded.aggregates[id_] = event.mutate(loaded.aggregates.get(id_))
    for doc in found["permits"] or ():
        loaded.permits[doc["permit_id"]] = read_as(Permit, doc)
    for kind, digest, target in found["names"] or ():
        loaded.names[names[(kind, digest)]] = target
    for scope, fingerprint, permit_id, created_at, status, body in found["bindings"] or ():
        loaded.bindings[bytes.fromhex(scope)] = Binding(
            bytes.fromhex(fingerprint),
            permit_id,
            datetime.fromisoformat(created_at),
            status,
            base64.b64decode(body) if body is not None else None,
        )
    for customer_id, invoice_id in found["owned"] or ():
        loaded.owned.setdefault(customer_id, []).append(invoice_id)
    for fingerprint, _, address in found["contacts"] or ():
        loaded.contacts.setdefault(fingerprint, address)
    for decision_id, answer in found["answers"] or ():
        loaded.answers[decision_id] = orjson.dumps(answer)
    return loaded
