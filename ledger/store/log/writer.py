"""The writer session on PostgreSQL: one connection that locks, loads, appends and commits."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
import psycopg
from psycopg import AsyncConnection

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
from ledger.store.hashchain import GENESIS
from ledger.store.log.answering import REFUSED, Answering
from ledger.store.log.begun import read_begun
from ledger.store.log.encoding import encode_batch
from ledger.store.log.exchange import Exchange
from ledger.store.log.loading import load_arguments, read_loaded
from ledger.store.log.standby import NO_STANDBY, NOT_AWAITED, StandbyGuard
from ledger.store.log.timeouts import Timeouts
from ledger.store.log.transcoding import read_event
from ledger.store.statements import statement
from ledger.store.witness.lost_history import OtherLedger, compare
from ledger.store.witness.shared_witness import SharedWitness
from ledger.store.witness.witness_file import START, Mark, Witness, WitnessError, WitnessRecord

_log = logging.getLogger("ledger.store")
_STATEMENTS = ("begin", "head", "load", "append", "commit", "rollback")
_BEGIN = ((b"begin", ()), (b"head", ()))
_TOO_LONG = (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled, TimeoutError)


class PostgresWriter:
    """Implements WriterSession; reconnects by itself at the next `begin` after a failure.

    Without a witness file, lost history is detected only while this writer lives.
    """

    def __init__(
        self,
        conninfo: str,
        timeouts: Timeouts | None = None,
        witness: Witness | None = None,
        shared: SharedWitness | None = None,
        *,
        require_sync: bool = False,
    ) -> None:
        self._conninfo = conninfo
        self._timeouts = timeouts or Timeouts()
        self._connection: AsyncConnection[Any] | None = None
        self._months: set[tuple[int, int]] = set()
        self._month_seen: tuple[int, int] | None = None
        self._last_hash = GENESIS
        self._open = False
        self._exchange: Exchange | None = None
        self._witness = witness or Witness()
        self._shared = shared
        self._standby = StandbyGuard(require_sync)
        self._answers_wait = shared is not None or self._witness.precedes_answers
        self._head = START
        self._compared = False
        self._rewritten = False

    async def begin(self) -> Head:
        """Start a transaction, take the writer lock, then read the head of the log and the time.

        Retried once where an existing connection turns out to be broken. Raises NotBegun; then no
        lock is held and no transaction is open.
        """
        reused = self._connection is not None and not self._connection.closed
        try:
            return await self._begin()
        except StoreRefused as error:
            raise NotBegun(str(error)) from error
        except StoreUnavailable as error:
            if not reused or isinstance(error.__cause__, _TOO_LONG):
                raise NotBegun(str(error)) from error
        try:
            return await self._begin()
        except (StoreRefused, StoreUnavailable) as error:
            raise NotBegun(str(error)) from error

    def anticipate(self) -> bool:
        """Send the statements that begin a transaction before `begin` is called; True if sent."""
        exchange = self._exchange
        if self._open or exchange is None or exchange.under_way or exchange.connection.closed:
            return False
        try:
            exchange.send(*_BEGIN)
        except psycopg.Error:
            exchange.connection.pgconn.finish()
            return False
        return True

    async def _begin(self) -> Head:
        connection = await self._connected()
        self._open = True
        try:
            async with self._answering(self._timeouts.lock + self._timeouts.connect):
                exchange = self._exchange_on(connection)
                if not exchange.under_way:
                    exchange.send(*_BEGIN)
                _, found = await exchange.answers()
        except StoreRefused:
            await self.rollback()
            raise
        begun = read_begun(found)
        if self._standby.required and not begun.awaits_standby:
            await self.rollback()
            raise StoreUnavailable(NOT_AWAITED)
        self._head = begun.mark
        self._last_hash = self._head.hash
        loss = await self._lost(connection)
        now = decision_time(begun.read_at, self._head.at)
        await self._ensure_month(connection, now)
        # Reported once, so the flag is reset only after everything that can fail.
        rewritten, self._rewritten = self._rewritten, False
        return Head(
            self._head.position,
            self._head.hash,
            now,
            begun.keys_version,
            rewritten,
            loss,
            read_at=None if begun.is_test_clock else begun.read_at,
            log_at=self._head.at,
        )

    async def _lost(self, connection: AsyncConnection[Any]) -> Loss | None:
        """The history that the log has lost, according to the witness (D13).

        Compared on each new connection, and whenever the log ends before the last position seen.
        """
        if self._compared and not self._witness.contradicts(self._head):
            self._witness.note(self._head)
            return None
        self._compared = False
        try:
            async with self._answering():
                said = await self._records(connection)
                found = await compare(connection, self._head, said)
        except (OtherLedger, WitnessError) as error:
            _log.error("nothing is granted: %s", error)
            await self.rollback()
            raise StoreUnavailable(str(error)) from error
        self._witness.epoch = found.epoch
        self._rewritten = self._rewritten or found.contradicted
        if self._shared is not None:
            self._shared.accept(back=found.contradicted)
        if found.loss is None:
            self._compared = True
            self._witness.accept(self._head, back=found.contradicted)
        return found.loss

    async def _records(self, connection: AsyncConnection[Any]) -> list[WitnessRecord]:
        """What this process, its file and the shared witness have seen of the log."""
        said = self._witness.records()
        shared = await self._shared.look(connection) if self._shared is not None else None
        return [*said, shared] if shared is not None else said

    async def load(self, need: Need) -> Loaded:
        """Load everything in `need` in one statement."""
        await self._part_written()
        arguments, names = load_arguments(need)
        async with self._answering():
            exchange = self._exchange_on(self._required())
            exchange.send((b"load", arguments))
            (found,) = await exchange.answers()
        text = found.get_value(0, 0)
        assert text is not None
        return read_loaded(text, names)

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
        """Send the batch's contents so far without waiting for the server to insert them."""
        arguments, self._last_hash = encode_batch(batch, self._last_hash)
        batch.part_sent()
        await self._part_written()
        async with self._answering():
            exchange = self._exchange_on(self._required())
            exchange.send((b"append", arguments))
            await exchange.sent()

    async def _part_written(self) -> None:
        """Wait until the part that was sent is inserted; if it fails, nothing was committed."""
        if self._exchange is not None and self._exchange.under_way:
            async with self._answering():
                await self._exchange.answers()

    async def write(self, batch: Batch) -> None:
        """Write the batch, or its unsent rest, and commit in one round trip."""
        arguments, self._last_hash = encode_batch(batch, self._last_hash)
        await self._part_written()
        connection = self._required()
        self._standby.expect()
        try:
            async with asyncio.timeout(self._timeouts.answer / 1000):
                exchange = self._exchange_on(connection)
                exchange.send((b"append", arguments), (b"commit", ()))
                _, ended = await exchange.answers()
                if ended.command_status != b"COMMIT":
                    raise psycopg.OperationalError("the transaction was not committed")
        except REFUSED as error:
            raise StoreRefused(str(error)) from error
        except (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable) as error:
            raise StoreUnavailable(str(error)) from error
        except (psycopg.Error, TimeoutError, OSError) as error:
            await self._drop()
            raise CommitUncertain(type(error).__name__) from error
        self._open = False
        if not self._standby.confirmed:
            await self._drop()
            raise CommitUncertain(NO_STANDBY)
        self._wrote(batch)
        if self._month_seen is not None:
            self._months.add(self._month_seen)
        takes_back = self._shared is not None and self._shared.takes_back
        if self._answers_wait and (batch.events or takes_back):
            await self._confirm()

    async def _confirm(self) -> None:
        """Tell those witnesses that must know before the answers leave. Raises CommitUncertain."""
        try:
            if self._witness.precedes_answers:
                await self._witness.confirm()
            if self._shared is not None:
                async with asyncio.timeout(self._timeouts.answer / 1000):
                    await self._shared.move(self._head, self._required())
        except (WitnessError, psycopg.Error, TimeoutError, OSError) as error:
            _log.error("answers are held back: %s", error)
            await self._drop()
            raise CommitUncertain(str(error)) from error

    def _wrote(self, batch: Batch) -> None:
        """Tell the witness of a committed batch: the log must contain it from now on (D13)."""
        if batch.events:
            self._head = Mark(batch.position, self._last_hash, batch.head.now)
        if self._compared:
            self._witness.note(self._head)
        else:
            self._compared = True
            self._witness.accept(self._head, back=True)

    async def committed(self, batch: Batch) -> bool:
        """True where that batch committed; asked in a new transaction under the writer lock."""
        sought = self._last_hash
        head = await self.begin()
        self._rewritten = head.rewritten
        if head.loss is not None:
            return False
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
        found = bool(row and row[0])
        if found and self._answers_wait:
            await self._confirm()
        return found

    async def rollback(self) -> None:
        """Release the lock without writing; if the rollback fails, close the connection."""
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
                exchange = self._exchange_on(self._connection)
                exchange.send((b"rollback", ()))
                await exchange.answers()
        except (psycopg.Error, TimeoutError, OSError):
            await self._drop()

    async def close(self) -> None:
        """Close the connection, and bring the witness up to date."""
        await self._drop()
        if self._shared is not None:
            await self._shared.close()
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
                    client_encoding="UTF8",
                )
        except (psycopg.Error, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"no connection: {type(error).__name__}") from error
        self._compared = False
        try:
            await self._standby.check(self._connection, self._timeouts.lock / 1000)
        except StoreUnavailable:
            await self._drop()
            raise
        return self._connection

    def _exchange_on(self, connection: AsyncConnection[Any]) -> Exchange:
        """The exchange of this connection, with the statements that every batch uses."""
        if self._exchange is None or self._exchange.connection is not connection:
            texts = {name.encode(): statement("log", name).encode() for name in _STATEMENTS}
            self._exchange = Exchange(connection, texts)
        return self._exchange

    def _required(self) -> AsyncConnection[Any]:
        if self._connection is None:
            raise StoreUnavailable("the connection was lost")
        return self._connection

    def _answering(self, limit: int | None = None) -> "Answering":
        """Turn a failure in the transaction into StoreUnavailable, and close the connection."""
        return Answering((limit or self._timeouts.answer) / 1000, self._drop)

    async def _ensure_month(self, connection: AsyncConnection[Any], now: datetime) -> None:
        """Make the decision log's partition for this month, if it is missing (design D11).

        It is remembered as made only after a commit, since a rollback removes it.
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
        self._exchange = None
        self._months.clear()
        if connection is not None:
            try:
                await connection.close()
            except (psycopg.Error, OSError) as error:
                _log.debug("closing a broken connection: %r", error)
