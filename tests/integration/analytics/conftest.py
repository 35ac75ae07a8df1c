"""A ledger with a history of sends, denials and payments, its read models caught up."""

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest

from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, Command, Redeem, ReportOutcome
from ledger.application.facts.fact import Fact
from ledger.domain.policy import Policy
from ledger.store.migrate import migrate
from projections.projector import Projector
from projections.schema import prepare
from tests.integration.store.engines import ask, engine_on, invoice
from tests.support import build
from tests.support.postgres import fresh_database


async def add_history(database: str, prefix: str, invoices: int = 12) -> None:
    """Invoices are told, reminded of, asked for twice, half of them sent, some paid."""
    names = [f"{prefix}-{number}" for number in range(invoices)]
    async with engine_on(database) as engine:
        await engine.submit_all([invoice(name) for name in names])
        answers = await engine.submit_all([ask(name) for name in names])
        permits = [answer.permit_id or "" for answer in answers]
        told: list[Command] = [Redeem(p, None, SYSTEM, str(uuid4()), b"{}") for p in permits[::2]]
        told += [ReportOutcome(p, "sent", SYSTEM) for p in permits[::2]]
        assert {answer.status for answer in await engine.submit_all(told)} == {200}
        denied = await engine.submit_all([ask(name) for name in names])
        assert {answer.status for answer in denied} == {409}
        paid = [ApplyFact(Fact(build.paid(1_000, name, f"pay-{name}")), SYSTEM) for name in names]
        await engine.submit_all(paid[::3])
    await caught_up(database)


async def caught_up(database: str) -> None:
    """Let the read models take the whole log in."""
    projector = Projector(database)
    await projector.start()
    try:
        while projector.head == 0 or projector.position < projector.head:
            await projector.wait_for(projector.head or 1, 20.0)
    finally:
        await projector.stop()


@pytest.fixture
def history(database: str) -> str:
    """The database of a ledger with a history; each test may add to it."""
    asyncio.run(prepare(database, Policy()))
    asyncio.run(add_history(database, "inv"))
    return database


@pytest.fixture(scope="module")
def kept_history(postgres: str) -> Iterator[str]:
    """The same for tests that only read."""
    with fresh_database(postgres) as database:
        migrate(database)
        asyncio.run(prepare(database, Policy()))
        asyncio.run(add_history(database, "inv"))
        yield database
