"""A claim is asked in slices: what becomes of those in the queue when something fails between."""

import asyncio
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from api.claims import claiming as module
from api.claims.claimed_customers import Claim, ClaimedCustomers
from api.contract.problems import ProblemError
from ledger.application.answers import Answer
from ledger.application.caller import SYSTEM, Caller
from ledger.application.commands import Command
from ledger.application.ports import StoreUnavailable
from projections.due import ReadyCustomer

GRANTED = Answer(201, b'{"permit_id":"p"}', (), "", 7, "p")
DENIED = Answer(409, b'{"code":"on_hold"}')
DOWN = Answer(503, b"{}")


class Queue:
    """An engine's queue that answers when it is told to."""

    def __init__(self) -> None:
        self.futures: list[asyncio.Future[Answer]] = []
        self.claimed = ClaimedCustomers()
        self.position = 5

    def enqueue(self, _: Command) -> "asyncio.Future[Answer]":
        """Put a command into the queue."""
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    async def until_asked(self, count: int) -> None:
        """Wait until so many commands are in it."""
        async with asyncio.timeout(5):
            while len(self.futures) < count:
                await asyncio.sleep(0)

    async def claim(self, *slices: list[str] | Exception) -> dict[str, Any]:
        """What a claim answers that finds these customers; an error is raised in its place."""
        context: Any = SimpleNamespace(engine=self, claimed=self.claimed, slices=slices)
        answer = await module.claim_permits(context, SYSTEM, None, 100, None)
        content: dict[str, Any] = orjson.loads(answer.body)
        return content


@pytest.fixture(autouse=True)
def told_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slices(
        context: Any, caller: Caller, claim: Claim, stage: str | None, limit: int
    ) -> AsyncGenerator[list[ReadyCustomer], None]:
        assert (stage, limit) == (None, 100)
        for one in context.slices:
            if isinstance(one, Exception):
                raise one
            claim.asks(one)
            yield [ReadyCustomer(name, (f"inv-{name}",)) for name in one]

    monkeypatch.setattr(module, "ready_slices", slices)


def test_the_next_slice_is_queued_before_the_last_was_answered() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(queue.claim(["a", "b"], ["c"]))
        await queue.until_asked(3)
        assert not any(future.done() for future in queue.futures)
        for future in queue.futures:
            future.set_result(GRANTED)
        content = await asked
        assert [permit["permit_id"] for permit in content["permits"]] == ["p"] * 3
        assert (content["withheld"], content["position"]) == ([], "7")

    asyncio.run(scenario())


def test_who_was_granted_is_passed_over_until_the_read_models_know_and_who_was_not_is_not() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(queue.claim(["a", "b"]))
        await queue.until_asked(2)
        assert queue.claimed.asked == {"a", "b"}
        queue.futures[0].set_result(GRANTED)
        queue.futures[1].set_result(DENIED)
        content = await asked
        assert (len(content["permits"]), content["withheld"]) == (1, [{"code": "on_hold"}])
        assert (queue.claimed.asked, queue.claimed.unseen) == (set(), {"a": 7})

    asyncio.run(scenario())


def test_who_is_cancelled_takes_both_slices_back_and_leaves_their_customers_to_others() -> None:
    async def scenario() -> None:
        queue = Queue()
        asked = asyncio.create_task(queue.claim(["a"], ["b"], ["c"]))
        await queue.until_asked(2)
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert [future.cancelled() for future in queue.futures] == [True, True]
        assert (queue.claimed.asked, queue.claimed.unseen) == (set(), {})

    asyncio.run(scenario())


def test_an_error_of_ours_between_two_slices_takes_the_queued_one_back() -> None:
    async def scenario() -> None:
        queue = Queue()
        with pytest.raises(ValueError, match="ours"):
            await queue.claim(["a"], ValueError("ours"))
        assert [future.cancelled() for future in queue.futures] == [True]
        assert queue.claimed.asked == set()

    asyncio.run(scenario())


def test_what_was_granted_before_the_store_failed_is_told() -> None:
    """Whether it fails to read the next slice, or to decide it."""

    async def scenario() -> None:
        reading, deciding = Queue(), Queue()
        unread = asyncio.create_task(reading.claim(["a"], StoreUnavailable("down")))
        undecided = asyncio.create_task(deciding.claim(["a"], ["b"], ["c"]))
        await reading.until_asked(1)
        await deciding.until_asked(2)
        reading.futures[0].set_result(GRANTED)
        deciding.futures[0].set_result(GRANTED)
        deciding.futures[1].set_result(DOWN)
        await deciding.until_asked(3)
        deciding.futures[2].set_result(GRANTED)
        for asked, permits in ((unread, 1), (undecided, 2)):
            assert len((await asked)["permits"]) == permits
        assert (deciding.claimed.asked, deciding.claimed.unseen) == (set(), {"a": 7, "c": 7})

    asyncio.run(scenario())


def test_where_nothing_was_granted_the_failure_is_told() -> None:
    async def scenario() -> None:
        reading, deciding = Queue(), Queue()
        unread = asyncio.create_task(reading.claim(["a"], StoreUnavailable("down")))
        undecided = asyncio.create_task(deciding.claim(["a"]))
        for queue in (reading, deciding):
            await queue.until_asked(1)
            queue.futures[0].set_result(DOWN)
        with pytest.raises(StoreUnavailable):
            await unread
        with pytest.raises(ProblemError, match="nothing was granted"):
            await undecided
        assert (deciding.claimed.asked, deciding.claimed.unseen) == (set(), {})

    asyncio.run(scenario())
