"""Shares of the writer's queue: who waits while somebody else has the writer lock, and who may."""

import asyncio

from psycopg import AsyncConnection

from ledger.application.commands import CallPause
from ledger.application.limits import Limits
from tests.integration.store.engines import (
    WAITING_FOR_THE_LOCK,
    ask,
    codes,
    engine_on,
    invoice,
    new_sender,
    until,
)

HOLD = "SELECT FROM partitions FOR UPDATE"


def test_in_a_full_queue_another_caller_takes_a_place_of_who_has_the_most(database: str) -> None:
    async def scenario() -> None:
        greedy, single = [await new_sender(database, name) for name in ("greedy", "single")]
        async with engine_on(database, limits=Limits(queue=5)) as engine:
            for number in range(8):
                await engine.submit(invoice(f"inv-{number}"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute(HOLD)
                taken = engine.enqueue(ask("inv-0", caller=greedy))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                waiting = [engine.enqueue(ask(f"inv-{n}", caller=greedy)) for n in range(1, 6)]
                placed = [engine.enqueue(ask(f"inv-{n}", caller=single)) for n in (6, 7)]
                lost = [future.result() for future in waiting[3:]]
                assert codes(lost) == ["unavailable"] * 2
                assert [dict(each.headers)["Retry-After"] for each in lost] == ["1", "1"]
                assert engine.waiting == 5
            answers = await asyncio.gather(taken, *waiting[:3], *placed)
            assert codes(answers) == ["granted"] * 6
            assert engine.counters.refused_full == 2

    asyncio.run(scenario())


def test_a_pause_has_a_place_in_a_full_queue_and_is_decided_first(database: str) -> None:
    async def scenario() -> None:
        greedy, human = [await new_sender(database, name) for name in ("greedy", "human")]
        async with engine_on(database, limits=Limits(queue=3)) as engine:
            for number in range(4):
                await engine.submit(invoice(f"inv-{number}"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute(HOLD)
                taken = engine.enqueue(ask("inv-0", caller=greedy))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                waiting = [engine.enqueue(ask(f"inv-{n}", caller=greedy)) for n in range(1, 4)]
                pause = engine.enqueue(CallPause("outreach", "a test", "pat", human))
            assert codes([await taken]) == ["granted"]
            assert codes(await asyncio.gather(*waiting)) == ["paused"] * 3
            assert (await pause).status == 200

    asyncio.run(scenario())


def test_a_caller_has_as_many_commands_waiting_as_one_may(database: str) -> None:
    async def scenario() -> None:
        greedy = await new_sender(database, "greedy")
        async with engine_on(database, limits=Limits(queue=9, a_caller=2)) as engine:
            for number in range(4):
                await engine.submit(invoice(f"inv-{number}"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute(HOLD)
                taken = engine.enqueue(ask("inv-0", caller=greedy))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                waiting = [engine.enqueue(ask(f"inv-{n}", caller=greedy)) for n in range(1, 4)]
                refused = waiting.pop().result()
                assert (refused.status, codes([refused])) == (429, ["rate_limited"])
                assert dict(refused.headers) == {
                    "Retry-After": "1",
                    "RateLimit-Policy": '"commands";q=2',
                    "RateLimit": '"commands";r=0;t=1',
                }
            assert codes(await asyncio.gather(taken, *waiting)) == ["granted"] * 3

    asyncio.run(scenario())
