"""A witness that several machines share: a row in another PostgreSQL, moved by compare-and-set.

Every batch moves it to the batch's end before the answers leave, and only from an end that is in
the same log. So two primaries cannot both be heard: the first to move it after their logs part
wins, and the other is told no. It holds without any clock or lease time, and does not lag.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg
from psycopg import AsyncConnection

from ledger.store.session_limits import session_options
from ledger.store.statements import statement
from ledger.store.witness.witness_file import Mark, WitnessError, WitnessRecord

_MOST_TRIES = 50


class Server(NamedTuple):
    """Which server holds a log; a promoted standby has the same `system` and a later `timeline`."""

    system: int
    timeline: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What the row says: how far the log had come, and on which server."""

    mark: Mark
    server: Server


class SharedWitness:
    """The row of one ledger, as one process reads and moves it.

    `conninfo` is the shared database's. All methods raise WitnessError: nothing may be answered.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: AsyncConnection[Any] | None = None
        self._epoch = ""
        self._server = Server(0, 0)
        self._expected: Kept | None = None
        self._back = False

    @property
    def takes_back(self) -> bool:
        """Must it be moved to this log's end although it names an event that is not in it?"""
        return self._back

    async def look(self, ledger: AsyncConnection[Any]) -> WitnessRecord | None:
        """What it says of this ledger's log, None where it has no row yet; psycopg.Error too."""
        row = await (await ledger.execute(statement("witness", "server"))).fetchone()
        assert row is not None, "the ledger has no epoch: migrate it"
        self._epoch, self._server = row[0], Server(row[1], row[2])
        self._expected = await self._read()
        return WitnessRecord(self._epoch, self._expected.mark) if self._expected else None

    def accept(self, *, back: bool) -> None:
        """Move it to this log's end next, also (`back`) where it says something else: a loss."""
        self._back = back

    async def move(self, mark: Mark, ledger: AsyncConnection[Any]) -> None:
        """Say that the log ends there, or further by the same log."""
        new = Kept(mark, self._server)
        for _ in range(_MOST_TRIES):
            if await self._moved(self._expected, new):
                self._expected, self._back = new, False
                return
            kept = await self._read()
            self._expected = kept
            if kept is None or self._back:
                continue
            if not await _holds(ledger, kept.mark):
                raise WitnessError(
                    f"another server's log of this ledger had come to position "
                    f"{kept.mark.position}, which is not in this one: two primaries"
                )
            if kept.mark.position >= mark.position:
                return
        raise WitnessError("the shared witness moved too often")

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _read(self) -> Kept | None:
        row = await self._asked("read", {"epoch": self._epoch})
        if row is None:
            return None
        position, digest, at, system, timeline = row
        if system == self._server.system and timeline > self._server.timeline:
            raise WitnessError(
                f"this server is on timeline {self._server.timeline}, and the ledger was seen on "
                f"timeline {timeline}: it is an old primary that should have been stopped"
            )
        return Kept(Mark(position, bytes(digest), at), Server(system, timeline))

    async def _moved(self, old: Kept | None, new: Kept) -> bool:
        values = {
            "epoch": self._epoch,
            "position": new.mark.position,
            "hash": new.mark.hash,
            "at": new.mark.at,
            "system": new.server.system,
            "timeline": new.server.timeline,
        }
        if old is None:
            return await self._asked("begin", values) is not None
        values |= {
            "old_position": old.mark.position,
            "old_hash": old.mark.hash,
            "old_system": old.server.system,
            "old_timeline": old.server.timeline,
        }
        return await self._asked("move", values) is not None

    async def _asked(self, name: str, values: dict[str, Any]) -> tuple[Any, ...] | None:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = await AsyncConnection.connect(
                    self._conninfo,
                    autocommit=True,
                    prepare_threshold=1,
                    connect_timeout=3,
                    tcp_user_timeout=5_000,
                    options=session_options(lock_timeout="2s", statement_timeout="3s"),
                    application_name="send-ledger witness",
                )
            cursor = await self._connection.execute(statement("shared_witness", name), values)
            return await cursor.fetchone()
        except (psycopg.Error, OSError) as error:
            await self._drop()
            raise WitnessError(
                f"the shared witness does not answer: {type(error).__name__}"
            ) from error

    async def _drop(self) -> None:
        try:
            await self.close()
        except (psycopg.Error, OSError):
            self._connection = None


async def _holds(ledger: AsyncConnection[Any], mark: Mark) -> bool:
    """Is that end in the log? The end of an empty log is in every one."""
    if mark.position == 0:
        return True
    values = {"position": mark.position, "hash": mark.hash}
    row = await (await ledger.execute(statement("witness", "holds"), values)).fetchone()
    return bool(row and row[0])


def prepare_shared_witness(conninfo: str) -> None:
    """Make its table, if it is missing. Raises WitnessError."""
    try:
        with psycopg.connect(
            conninfo, autocommit=True, connect_timeout=5, options=session_options()
        ) as db:
            db.execute(statement("shared_witness", "create"))
    except psycopg.Error as error:
        raise WitnessError(
            f"the shared witness (LEDGER_WITNESS_URL) cannot be used: {error}"
        ) from error
