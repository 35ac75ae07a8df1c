"""The ledger of a random history on PostgreSQL, with a new database for each history."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ledger.application.answers import Answer
from ledger.application.commands import Command
from ledger.application.engine import Engine
from ledger.domain.permit import Permit
from ledger.domain.policy import Policy
from ledger.store.embedded.cluster import ROLE
from ledger.store.log.transcoding import read_as, read_event
from ledger.store.log.writer import PostgresWriter
from tests.support.build import CALLERS, IDENTITY
from tests.support.history_ledgers import FEW, often_snapshotted
from tests.support.postgres import superuser


class PostgresLedger:
    """The engine and its writer on a real database: a copy of an empty one, dropped at the end."""

    def __init__(self, empty: str, now: datetime) -> None:
        self._until_closed = ExitStack()
        self._until_closed.enter_context(often_snapshotted())
        conninfo = self._until_closed.enter_context(_copy_of(empty))
        self._connection = psycopg.connect(conninfo, autocommit=True)
        self._connection.execute("UPDATE clock SET test_now = %s", [now])
        for caller in CALLERS:
            self._connection.execute(
                "INSERT INTO keys VALUES (0, %s, %s, %s, %s, %s, NULL, %s, %s, NULL)",
                [
                    caller.key_id,
                    caller.name,
                    caller.key_id.encode(),
                    sorted(caller.scopes),
                    caller.redeem_required,
                    caller.transactional,
                    now,
                ],
            )
        self._runner = asyncio.Runner()
        self._writer = PostgresWriter(conninfo)
        self._engine = Engine(self._writer, Policy(), IDENTITY, FEW)
        self._runner.run(self._engine.start())

    def submit(self, commands: list[Command]) -> list[Answer]:
        """The answers to commands that wait together."""
        return self._runner.run(self._engine.submit_all(commands))

    def set_clock(self, now: datetime) -> None:
        """Move the ledger's clock."""
        self._connection.execute("UPDATE clock SET test_now = %s", [now])

    def events(self, after: int = 0) -> list[Any]:
        """The events of the log after a position, oldest first."""
        rows = self._connection.execute(
            "SELECT originator_id, originator_version, topic, state FROM events "
            "WHERE position > %s ORDER BY position",
            [after],
        )
        return [read_event(*row) for row in rows]

    def position(self) -> int:
        """How many events there are."""
        row = self._connection.execute("SELECT count(*), max(position) FROM events").fetchone()
        assert row is not None
        assert row[0] == (row[1] or 0), "the log has a gap"
        return int(row[0])

    def permit(self, permit_id: str) -> Permit:
        """A permit as it is stored."""
        return self.permits([permit_id])[permit_id]

    def permits(self, ids: list[str] | None = None) -> dict[str, Permit]:
        """Every permit as it is stored, or the named ones."""
        rows = self._connection.execute(
            "SELECT permit_id::text, doc FROM permits "
            "WHERE %(ids)s::uuid[] IS NULL OR permit_id = ANY (%(ids)s)",
            {"ids": ids},
        )
        return {permit_id: read_as(Permit, doc) for permit_id, doc in rows}

    def decision_ids(self) -> list[str]:
        """The ids of the rows of the decision log."""
        rows = self._connection.execute("SELECT decision_id::text FROM decisions")
        return [decision_id for (decision_id,) in rows]

    def in_memory(self) -> dict[UUID, Any]:
        """The aggregates that the engine holds."""
        kept = self._engine._cache.aggregates
        return {id_: aggregate for id_, aggregate in kept.items() if aggregate is not None}

    def close(self) -> None:
        """End the engine and its connections."""
        self._runner.run(self._engine.stop())
        self._runner.run(self._writer.close())
        self._runner.close()
        self._connection.close()
        self._until_closed.close()


@contextmanager
def _copy_of(conninfo: str) -> Iterator[str]:
    """A database like the one that nobody is connected to, for the length of the block."""
    origin = str(conninfo_to_dict(conninfo)["dbname"])
    name = f"copy_{uuid4().hex}"
    with superuser(conninfo) as connection:
        create = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
        connection.execute(create.format(*map(sql.Identifier, (name, ROLE, origin))))
    try:
        yield make_conninfo(conninfo, dbname=name)
    finally:
        with superuser(conninfo) as connection:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
            connection.execute(drop.format(sql.Identifier(name)))
