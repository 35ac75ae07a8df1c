"""Whether a synchronous standby has what was committed, where that is required.

PostgreSQL answers COMMIT with success and a warning where its wait for the standby was cancelled
(`pg_cancel_backend`): the batch is in this server's log and perhaps nowhere else. No time limit of
the server ends that wait, and the writer lock is held meanwhile.
"""

import asyncio
from typing import Any

import psycopg
from psycopg import AsyncConnection

from ledger.application.ports import StoreUnavailable
from ledger.store.statements import statement

NO_STANDBY = "LEDGER_REQUIRE_SYNC is on, and no synchronous standby confirms what is committed"
NOT_AWAITED = (
    "LEDGER_REQUIRE_SYNC is on, and this server waits for no standby: "
    "synchronous_standby_names is empty, or synchronous_commit is neither on nor remote_apply"
)


class StandbyGuard:
    """Hears the warnings of one connection after another; does nothing where not `required`."""

    def __init__(self, required: bool) -> None:
        self.required = required
        self._warned = False

    async def check(self, connection: AsyncConnection[Any], seconds: float) -> None:
        """On a new connection: has a standby everything that was committed so far?

        It shows, too, what became of a commit whose answer was lost. Raises StoreUnavailable.
        """
        if not self.required:
            return
        connection.add_notice_handler(self._noticed)
        self.expect()
        try:
            async with asyncio.timeout(seconds):
                await connection.execute(statement("standby", "confirm"))
        except (psycopg.Error, TimeoutError, OSError) as error:
            raise StoreUnavailable(f"{NO_STANDBY} ({type(error).__name__})") from error
        if not self.confirmed:
            raise StoreUnavailable(NO_STANDBY)

    def expect(self) -> None:
        """A commit is about to be sent."""
        self._warned = False

    @property
    def confirmed(self) -> bool:
        """Did the commits since `expect` end without a warning?"""
        return not (self.required and self._warned)

    def _noticed(self, notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._warned = True
