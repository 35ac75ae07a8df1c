"""Turns what goes wrong within a transaction into the errors that the engine knows."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

import psycopg

from ledger.application.ports import StoreRefused, StoreUnavailable

REFUSED = (
    psycopg.errors.DataError,
    psycopg.errors.IntegrityError,
    psycopg.errors.ProgrammingError,
)
"""Errors by which the database says that it does not accept what was sent."""


class Answering:
    """A context manager as a class, because a generator costs twice the time.

    Raises StoreRefused, and StoreUnavailable after `drop` has closed the connection.
    """

    def __init__(self, seconds: float, drop: Callable[[], Awaitable[None]]) -> None:
        self._timeout = asyncio.timeout(seconds)
        self._drop = drop

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError as late:
            error = late
        if isinstance(error, REFUSED):
            raise StoreRefused(str(error)) from error
        if isinstance(error, (psycopg.Error, TimeoutError, OSError)):
            await self._drop()
            raise StoreUnavailable(f"{type(error).__name__}") from error
