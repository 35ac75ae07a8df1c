"""Since when the log holds but claims of this engine: not over a log that was another one."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from ledger.application.commands import ApplyFact, RequestPermit
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.application.ports import Head, Loss
from ledger.domain.policy import Policy
from tests.support.build import IDENTITY, POLLER, at, invoice, reminder
from tests.support.memory import MemorySession, MemoryStore

NOW = at("2026-12-04T09:00:00Z")


class Restored(MemorySession):
    """A session that can tell of a database that is not the one seen before, at the same length."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.found: dict[str, Any] = {}

    async def begin(self) -> Head:
        """The end of the log, with what was found out about it."""
        return replace(await super().begin(), **self.found)


def claim(number: int) -> RequestPermit:
    """What a claim asks for one customer."""
    asked = reminder(f"inv_{number}", claim=True)
    return replace(asked, decision_id=f"00000000-0000-4000-8000-{number:012}")


@pytest.mark.parametrize(
    ("found", "is_news"),
    [
        ({}, False),
        ({"rewritten": True}, True),
        ({"loss": Loss("the log ends before what was seen", None)}, True),
    ],
    ids=["the same", "rewritten", "lost"],
)
def test_a_log_that_is_not_the_one_seen_before_is_news(
    found: dict[str, Any], is_news: bool
) -> None:
    async def scenario() -> None:
        session = Restored(MemoryStore(NOW, keys=frozenset({POLLER.key_id})))
        engine = Engine(session, Policy(), IDENTITY)
        await engine.start()
        for number in (1, 2):
            told = ApplyFact(Fact(invoice(f"inv_{number}", f"cus_{number}")), POLLER)
            assert (await engine.submit(told)).status == 200
        told_at = engine.position
        assert (await engine.submit(claim(1))).status == 201
        assert engine.only_claims_since == told_at
        session.found = found
        await engine.submit(claim(2))
        await engine.stop()
        assert engine.position > told_at + 2
        assert engine.only_claims_since == (engine.position if is_news else told_at)

    asyncio.run(scenario())
