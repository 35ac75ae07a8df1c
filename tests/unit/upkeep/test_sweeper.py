"""Letting permits lapse: in rounds of 200, and no further where the store does not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from api.upkeep.sweeper import let_lapse
from ledger.application.answers import Answer
from ledger.application.commands import Lapse


class Ledger:
    """A ledger with so many permits whose time is up, and an engine that answers alike."""

    def __init__(self, lapsed: int, status: int) -> None:
        self.left = [str(number) for number in range(lapsed)]
        self.rounds: list[int] = []
        self.clock_suspect: str | None = None
        self._answer = Answer(status, b"{}")

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Any]:
        """A connection."""
        yield self

    async def execute(self, _: str, values: dict[str, int]) -> Any:
        """The permits whose time is up."""
        found = [(permit_id,) for permit_id in self.left[: values["limit"]]]

        async def fetchall() -> list[tuple[str]]:
            return found

        return SimpleNamespace(fetchall=fetchall)

    async def submit_all(self, lapses: list[Lapse]) -> list[Answer]:
        """Let them lapse, where the store answers."""
        self.rounds.append(len(lapses))
        if self._answer.status < 500:
            self.left = self.left[len(lapses) :]
        return [self._answer] * len(lapses)


@pytest.mark.parametrize(
    ("lapsed", "status", "rounds"),
    [(0, 200, [0]), (3, 200, [3]), (450, 200, [200, 200, 50]), (450, 503, [200])],
)
def test_permits_lapse_in_rounds_until_none_is_left_or_the_store_is_away(
    lapsed: int, status: int, rounds: list[int]
) -> None:
    ledger = Ledger(lapsed, status)
    context: Any = SimpleNamespace(engine=ledger, connections=ledger)
    asyncio.run(let_lapse(context))
    assert ledger.rounds == rounds


def test_nothing_lapses_by_a_clock_that_is_suspect() -> None:
    ledger = Ledger(3, 200)
    ledger.clock_suspect = "30 days off"
    context: Any = SimpleNamespace(engine=ledger, connections=ledger)
    asyncio.run(let_lapse(context))
    assert ledger.rounds == []
