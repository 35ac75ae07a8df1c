"""The ledger's time without a query for each reading, for checking signature age (D16)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from ledger.application.clock import stopwatch

_FRESH_SECONDS = 5.0
"""How long a reading of the database's clock is extrapolated by a stopwatch, in seconds."""


class RecentTime:
    """The database's clock, read every few seconds; a test clock is read at every call."""

    def __init__(self, read: Callable[[], Awaitable[datetime]], *, always_read: bool) -> None:
        self._read = read
        self._fresh_seconds = 0.0 if always_read else _FRESH_SECONDS
        self._lock = asyncio.Lock()
        self._reading: datetime | None = None
        self._read_at = 0.0

    async def now(self) -> datetime:
        """The ledger's time (UTC), exact to a few milliseconds. Raises StoreUnavailable."""
        known = self._carried_on()
        if known is not None:
            return known
        async with self._lock:
            known = self._carried_on()
            if known is None:
                known = self._reading = await self._read()
                self._read_at = stopwatch()
            return known

    def _carried_on(self) -> datetime | None:
        passed = stopwatch() - self._read_at
        if self._reading is None or passed >= self._fresh_seconds:
            return None
        return self._reading + timedelta(seconds=passed)
