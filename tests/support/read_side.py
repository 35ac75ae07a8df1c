"""A read side on its own database: a log that a test extends, and projectors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from psycopg import AsyncConnection

from ledger.domain.policy import Policy
from projections.due import DuePage, due
from projections.projector import Alert, Projector, Rhythm
from projections.schema import prepare
from projections.status import ProjectionStatus, status
from tests.support import build
from tests.support.dunning_histories import START
from tests.support.given import Scenario
from tests.support.log_copy import copy_log

T = TypeVar("T")
BY_HAND = Rhythm(interval=600.0, idle=600.0, retry=600.0)
"""Intervals so long that the projector works only when a reader waits."""
SECONDS = 20.0
"""A timeout longer than any step here; a test that reaches it has failed."""


@dataclass
class ReadSide:
    """Its connection is in autocommit."""

    conninfo: str
    policy: Policy
    scenario: Scenario
    connection: AsyncConnection[Any]
    position: int = 0

    async def append(self, upto: int | None = None) -> int:
        """Append the scenario's events up to that position, by default all."""
        async with self.connection.transaction():
            self.position = await copy_log(
                self.connection, self.scenario.store, self.position, upto
            )
        return self.position

    async def append_one_more(self) -> int:
        """Append one event that changes nothing."""
        self.position += 1
        await self.rows(
            "INSERT INTO events VALUES (0, %s, gen_random_uuid(), 1, 'ledger:Job.LeaseGivenUp',"
            " '{}', '2026-10-20T10:00:00Z', '')",
            self.position,
        )
        return self.position

    @asynccontextmanager
    async def projecting(
        self, rhythm: Rhythm = BY_HAND, alert: Alert | None = None, most: int = 20_000
    ) -> AsyncIterator[Projector]:
        """A projector that runs during the block."""
        projector = Projector(self.conninfo, rhythm=rhythm, alert=alert, most=most)
        await projector.start()
        try:
            yield projector
        finally:
            await projector.stop()

    async def catch_up(self) -> None:
        """Apply the whole log to the read models."""
        async with self.projecting() as projector:
            assert await projector.wait_for(self.position, SECONDS) == 0

    async def due(self, now: datetime | None = None, **how: Any) -> DuePage:
        """What is due at the scenario's time."""
        now = now or self.scenario.store.now
        return await due(self.connection, now=now, policy=self.policy, **how)

    async def status(self) -> dict[str, ProjectionStatus]:
        """The position of each read model."""
        return {row.name: row for row in await status(self.connection)}

    async def rows(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement's result."""
        cursor = await self.connection.execute(text.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []

    async def generations(self) -> list[tuple[str, int, str]]:
        """Name, number and state of every generation."""
        return await self.rows(
            "SELECT name, generation, state FROM projection_generations ORDER BY name, generation"
        )

    async def schemas(self) -> list[str]:
        """The schemas of generations, by name."""
        found = await self.rows(
            r"SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'projection\_%' ORDER BY 1"
        )
        return [row[0] for row in found]


def story(customers: int = 20, policy: Policy | None = None) -> Scenario:
    """Overdue invoices, two to a customer, of which some are reminded of, paid, held or merged."""
    scenario = Scenario(policy or Policy(), START)
    facts = []
    for n in range(customers):
        for part in "ab":
            facts.append(
                build.invoice(
                    f"inv_{n}{part}", f"cus_{n}", due="2026-10-12", email=f"c{n}@example.com"
                )
            )
    scenario.when(*facts)
    scenario.submit(*[build.reminder(f"inv_{n}a", by=build.AGENT) for n in range(0, customers, 2)])
    scenario.when(
        build.report("sent", "$1", by=build.AGENT),
        build.report("rejected", "$2", by=build.AGENT),
        build.paid(30_000, "inv_1a"),
        build.hold(invoice_id="inv_1b"),
        build.customer_hold("cus_3"),
        build.merged("cus_4", "cus_5"),
        build.reminder("inv_6b", by=build.AGENT),
        build.notification("one more", customer="cus_6", by=build.AGENT),
    )
    return scenario


def with_read_side(
    conninfo: str,
    scenario: Scenario,
    steps: Callable[[ReadSide], Awaitable[T]],
) -> T:
    """Prepare the read side of the database, and run the steps on it."""

    async def run() -> T:
        await prepare(conninfo, scenario.policy)
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            return await steps(ReadSide(conninfo, scenario.policy, scenario, connection))

    return asyncio.run(run())


async def until(found: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the condition holds."""
    async with asyncio.timeout(SECONDS):
        while not await found():
            await asyncio.sleep(0.01)
