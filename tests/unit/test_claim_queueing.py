"""A claim is asked in slices: what becomes of those in the queue when something fails between."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from api.claims import claim_permits
from ledger.application.answers import Answer
from ledger.application.ports import StoreUnavailable
from ledger.application.requests import SYSTEM, Command

GRANTED = Answer(201, b'{"permit_id":"p"}', (), "", 7, "p")
DOWN = Answer(503, b"{}")


class Queue:
    """An engine's queue that answers when it is told to, and a projector that is hurried."""

    def __init__(self) -> None:
        self.futures: list[asyncio.Future[Answer]] = []
        self.position = 1
        self.hurried = 0

    def enqueue(self, _: Command) -> "asyncio.Future[Answer]":
        """Put a command into the queue."""
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    def hurry(self) -> None:
        """Count the calls."""
        self.hurried += 1


async def slices(*told: list[tuple[str, ...]] | Exception) -> AsyncIterator[list[tuple[str, ...]]]:
    for one in told:
        if isinstance(one, Exception):
            raise one
        yield one


def claim(queue: Queue, *told: list[tuple[str, ...]] | Exception) -> Any:
    context: Any = SimpleNamespace(engine=queue, projector=queue)
    return claim_permits(context, SYSTEM, slices(*told), None, None)


async def until_queued(queue: Queue, count: int) -> None:
    async with asyncio.timeout(5):
        while len(queue.futures) < count:
            await asyncio.sleep(0)


def test_the_next_slice_is_queued_before_the_last_was_answered() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(claim(queue, [("a",), ("b",)], [("c",)]))
        await until_queued(queue, 3)
        assert not any(future.done() for future in queue.futures)
        for future in queue.futures:
            future.set_result(GRANTED)
        content = orjson.loads((await asked).body)
        assert [permit["permit_id"] for permit in content["permits"]] == ["p"] * 3
        assert (content["position"], queue.hurried) == ("7", 2)

    asyncio.run(scenario())


def test_who_is_cancelled_takes_both_slices_back() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(claim(queue, [("a",)], [("b",)], [("c",)]))
        await until_queued(queue, 2)
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
            await claim(queue, [("a",)], ValueError("ours"))
        assert [future.cancelled() for future in queue.futures] == [True]

    asyncio.run(scenario())


def test_what_was_granted_before_the_store_failed_is_told() -> None:
    """Whether it fails to read the next slice, or to decide it."""

    async def scenario() -> None:
        reading, deciding = Queue(), Queue()
        unread = asyncio.create_task(claim(reading, [("a",)], StoreUnavailable("down")))
        undecided = asyncio.create_task(claim(deciding, [("a",)], [("b",)], [("c",)]))
        await until_queued(reading, 1)
        await until_queued(deciding, 2)
        reading.futures[0].set_result(GRANTED)
        deciding.futures[0].set_result(GRANTED)
        deciding.futures[1].set_result(DOWN)
        await until_queued(deciding, 3)
        deciding.futures[2].set_result(GRANTED)
        for asked, permits in ((unread, 1), (undecided, 2)):
            content = orjson.loads((await asked).body)
            assert len(content["permits"]) == permits

    asyncio.run(scenario())


def test_where_nothing_was_granted_the_failure_is_told() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(claim(queue, [("a",)], StoreUnavailable("down")))
        await until_queued(queue, 1)
        queue.futures[0].set_result(DOWN)
        with pytest.raises(StoreUnavailable):
            await asked

    asyncio.run(scenario())
