"""Runs several prepared statements in one round trip, by libpq's pipeline mode.

psycopg's cursors and pipelines do this too, with overhead that every permit would pay (ADR 0002).
This module calls `psycopg.pq` on the same connection instead.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

_YES = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


class Exchange:
    """Sends statements without waiting and reads their results later; one exchange at a time.

    Between two exchanges the connection may be used normally, except for a ROLLBACK by psycopg,
    which would deallocate all prepared statements. `texts` has the text of each statement by its
    name; the first exchange prepares them all in its own round trip.
    """

    def __init__(self, connection: AsyncConnection[Any], texts: Mapping[bytes, bytes]) -> None:
        self.connection = connection
        self._pgconn = connection.pgconn
        self._texts = texts
        self._prepared = False
        self._expected = 0
        self._unsent = False

    @property
    def under_way(self) -> bool:
        """True where statements were sent and their results have not been read."""
        return self._expected > 0

    def send(self, *calls: tuple[bytes, Sequence[bytes | None]]) -> None:
        """Send these statements with their arguments (text format); `sent` waits for the rest.

        Does not block: a full socket buffer leaves bytes unsent. If one statement fails, those
        after it are not executed. Raises psycopg.Error.
        """
        if self._expected:
            raise psycopg.InternalError("an exchange is already under way")
        pgconn = self._pgconn
        pgconn.enter_pipeline_mode()
        self._expected = len(calls)
        if not self._prepared:
            for name, text in self._texts.items():
                pgconn.send_prepare(name, text)
            self._expected += len(self._texts)
        for name, arguments in calls:
            pgconn.send_query_prepared(name, arguments)
        pgconn.pipeline_sync()
        self._unsent = bool(pgconn.flush())

    async def sent(self) -> None:
        """Wait until every byte has been sent. Raises psycopg.Error."""
        while self._unsent:
            await self._ready()
            self._pgconn.consume_input()
            self._unsent = bool(self._pgconn.flush())

    async def answers(self) -> list[PGresult]:
        """The results of the statements, in order. Raises psycopg.Error for the first failure.

        A caller that stops waiting (timeout, cancellation) must close the connection.
        """
        results: list[PGresult] = []
        failed: psycopg.Error | None = None
        # The results may have arrived already: then this task need not yield to the event loop.
        self._pgconn.consume_input()
        while True:
            result = self._next_result()
            if result is None:
                await self._ready()
                self._pgconn.consume_input()
                if self._unsent:
                    self._unsent = bool(self._pgconn.flush())
            elif result.status == ExecStatus.PIPELINE_SYNC:
                break
            elif result.status in _YES:
                results.append(result)
            elif failed is None and result.status != ExecStatus.PIPELINE_ABORTED:
                failed = _error(result)
        self._pgconn.exit_pipeline_mode()
        expected, self._expected = self._expected, 0
        if not self._prepared and len(results) >= len(self._texts):
            self._prepared = True
            expected -= len(self._texts)
            del results[: len(self._texts)]
        if failed is not None and not self._prepared:
            # Some statements are prepared and some are not: only a new connection helps.
            raise psycopg.OperationalError(str(failed)) from failed
        if failed is not None:
            raise failed
        if len(results) != expected:
            raise psycopg.InternalError(f"{len(results)} answers, not {expected}")
        return results

    def _next_result(self) -> PGresult | None:
        """The next result that has arrived, None where the server has not sent it yet."""
        pgconn = self._pgconn
        nothing = 0
        while not pgconn.is_busy():
            result = pgconn.get_result()
            if result is not None:
                return result
            # libpq returns one None between two statements.
            nothing += 1
            if nothing > 1 or pgconn.status == ConnStatus.BAD:
                raise psycopg.OperationalError("the connection was lost")
        return None

    async def _ready(self) -> None:
        """Wait until the socket is readable, or writable where bytes are unsent."""
        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def wake() -> None:
            if not ready.done():
                ready.set_result(None)

        socket = self._pgconn.socket
        loop.add_reader(socket, wake)
        if self._unsent:
            loop.add_writer(socket, wake)
        try:
            await ready
        finally:
            loop.remove_reader(socket)
            if self._unsent:
                loop.remove_writer(socket)


def _error(result: PGresult) -> psycopg.Error:
    state = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
    try:
        kind: type[psycopg.Error] = psycopg.errors.lookup(state)
    except KeyError:
        kind = psycopg.OperationalError
    if kind is psycopg.errors.InvalidSqlStatementName:
        # The connection's prepared statements were deallocated: only a new connection helps.
        kind = psycopg.OperationalError
    return kind(result.get_error_message())
