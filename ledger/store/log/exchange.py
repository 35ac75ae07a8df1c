"""Prepared statements of one connection, several of them in one round trip (libpq's pipeline mode).

psycopg's own cursors and pipelines do the same and more around it, on the way of every permit
(ADR 0002). This stands on the same connection, by `psycopg.pq`.
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
    """Sends statements without waiting, and takes their answers later; one exchange at a time.

    Between two exchanges the connection may be used as any other, but for a ROLLBACK by psycopg,
    which would have it forget all prepared statements. `texts` are the statements by the names
    that they are prepared under: with the first exchange, in the same round trip.
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
        """Was something sent whose answers were not taken yet?"""
        return self._expected > 0

    def send(self, *calls: tuple[bytes, Sequence[bytes | None]]) -> None:
        """Send these statements with their arguments (text format), as far as the socket takes it.

        Where one fails, those after it are not executed. Raises psycopg.Error.
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
        """Wait until all of it was sent. Raises psycopg.Error."""
        while self._unsent:
            await self._ready()
            self._pgconn.consume_input()
            self._unsent = bool(self._pgconn.flush())

    async def answers(self) -> list[PGresult]:
        """The results of what was sent, in order. Raises psycopg.Error for the first that failed.

        Who gives up waiting must close the connection.
        """
        results: list[PGresult] = []
        failed: psycopg.Error | None = None
        # They may be there already: then nothing else gets a turn.
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
            # Some of the statements are known and some are not: only another connection helps.
            raise psycopg.OperationalError(str(failed)) from failed
        if failed is not None:
            raise failed
        if len(results) != expected:
            raise psycopg.InternalError(f"{len(results)} answers, not {expected}")
        return results

    def _next_result(self) -> PGresult | None:
        """The next result that is there, None where the server has to be waited for."""
        pgconn = self._pgconn
        nothing = 0
        while not pgconn.is_busy():
            result = pgconn.get_result()
            if result is not None:
                return result
            # One stands between any two statements.
            nothing += 1
            if nothing > 1 or pgconn.status == ConnStatus.BAD:
                raise psycopg.OperationalError("the connection was lost")
        return None

    async def _ready(self) -> None:
        """Wait until the server said something, or takes more where not all was sent."""
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
        # Somebody had the connection forget its statements: only another one helps.
        kind = psycopg.OperationalError
    return kind(result.get_error_message())
