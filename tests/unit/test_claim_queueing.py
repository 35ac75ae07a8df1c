"""A claim is asked in slices: what becomes of those in the queue when something fails between."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from api.claimed_customers import Claim, ClaimedCustomers
from api.claims import ask_in_slices
from ledger.application.answers import Answer
from ledger.application.ports import StoreUnavailable
from ledger.application.requests import SYSTEM, Command
from projections.due import ReadyCustomer

GRANTED = Answer(201, b'{"permit_id":"p"}', (), "", 7, "p")
DENIED = Answer(409, b"{}")
DOWN = Answer(503, b"{}")


class Queue:
    """An engine's queue that answers when it is told to."""

    def __init__(self) -> None:
        self.futures: list[asyncio.Future[Answer]] = []
        self.claimed = ClaimedCustomers()
        self.claim = Claim(self.claimed)

    def enqueue(self, _: Command) -> "asyncio.Future[Answer]":
        """Put a command into the queue."""
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    async def until_asked(self, count: int) -> None:
        """Wait until so many commands are in it."""
        async with asyncio.timeout(5):
            while len(self.futures) < count:
                await asyncio.sleep(0)


async def slices(queue: Queue, *told: list[str] | Exception) -> AsyncIterator[list[ReadyCustomer]]:
    for one in told:
        if isinstance(one, Exception):
            raise one
        queue.claim.asks(one)
        yield [ReadyCustomer(name, (f"inv-{name}",)) for name in one]


def ask(queue: Queue, *told: list[str] | Exception) -> Any:
    context: Any = SimpleNamespace(engine=queue)
    return ask_in_slices(context, SYSTEM, queue.claim, slices(queue, *told), None)


def test_the_next_slice_is_queued_before_the_last_was_answered() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(ask(queue, ["a", "b"], ["c"]))
        await queue.until_asked(3)
        assert not any(future.done() for future in queue.futures)
        for future in queue.futures:
            future.set_result(GRANTED)
        assert await asked == [GRANTED] * 3

    asyncio.run(scenario())


def test_who_was_granted_is_passed_over_until_the_read_models_know_and_who_was_not_is_not() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(ask(queue, ["a", "b"]))
        await queue.until_asked(2)
        assert queue.claimed.asked == {"a", "b"}
        queue.futures[0].set_result(GRANTED)
        queue.futures[1].set_result(DENIED)
        await asked
        assert (queue.claimed.asked, queue.claimed.granted) == (set(), {"a": 7})

    asyncio.run(scenario())


def test_who_is_cancelled_takes_both_slices_back() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(ask(queue, ["a"], ["b"], ["c"]))
        await queue.until_asked(2)
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert [future.cancelled() for future in queue.futures] == [True, True]

    asyncio.run(scenario())


def test_an_error_of_ours_between_two_slices_takes_the_queued_one_back() -> None:
    async def scenario() -> None:
        queue = Queue()
        with pytest.raises(ValueError, match="ours"):
            await ask(queue, ["a"], ValueError("ours"))
        assert [future.cancelled() for future in queue.futures] == [True]

    asyncio.run(scenario())


def test_what_was_granted_before_the_store_failed_is_told() -> None:
    """Whether it fails to read the next slice, or to decide it."""

    async def scenario() -> None:
        reading, deciding = Queue(), Queue()
        unread = asyncio.create_task(ask(reading, ["a"], StoreUnavailable("down")))
        undecided = asyncio.create_task(ask(deciding, ["a"], ["b"], ["c"]))
        await reading.until_asked(1)
        await deciding.until_asked(2)
        reading.futures[0].set_result(GRANTED)
        deciding.futures[0].set_result(GRANTED)
        deciding.futures[1].set_result(DOWN)
        await deciding.until_asked(3)
        deciding.futures[2].set_result(GRANTED)
        assert await unread == [GRANTED]
        assert await undecided == [GRANTED, DOWN, GRANTED]

    asyncio.run(scenario())


def test_where_nothing_was_granted_the_failure_is_told() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(ask(queue, ["a"], StoreUnavailable("down")))
        await queue.until_asked(1)
        queue.futures[0].set_result(DOWN)
        with pytest.raises(StoreUnavailable):
            await asked

    asyncio.run(scenario())
