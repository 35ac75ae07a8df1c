"""Identical denials on PostgreSQL: sixty rows a minute, then a count that one row has."""

import asyncio
from datetime import timedelta

from ledger.application.commands import NOBODY, Lapse
from ledger.application.repeated_denials import MOST_ROWS
from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import (
    NOON,
    ask,
    body,
    codes,
    engine_on,
    invoice,
    new_sender,
    rows,
    set_clock,
)

_ROWS = (
    "SELECT count(*), sum(coalesce((answer ->> 'repeats')::int, 0)) FROM decisions"
    " WHERE code = 'permit_held'"
)


def test_later_denials_of_a_minute_are_counted_and_the_count_is_one_row(database: str) -> None:
    async def scenario() -> None:
        set_clock(database, NOON)
        greedy = await new_sender(database, "greedy")
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("inv"), ask("inv", caller=greedy)])
            answers = await engine.submit_all([ask("inv", caller=greedy) for _ in range(150)])
            assert set(codes(answers)) == {"permit_held"}
            assert await rows(database, _ROWS) == [(MOST_ROWS, 0)]
            assert engine.owes_rows
            known = {str(r[0]) for r in await rows(database, "SELECT decision_id FROM decisions")}
            assert {body(answer)["decision_id"] for answer in answers} <= known
            assert engine.counters.answers["permit_held"] == 150

            set_clock(database, NOON + timedelta(seconds=59))
            await engine.submit(Lapse(NOBODY))
            assert await rows(database, _ROWS) == [(MOST_ROWS, 0)]
            set_clock(database, NOON + timedelta(seconds=60))
            await engine.submit(Lapse(NOBODY))
            assert await rows(database, _ROWS) == [(MOST_ROWS + 1, 90)]
            assert not engine.owes_rows

            await engine.submit(ask("inv", caller=greedy))
            assert await rows(database, _ROWS) == [(MOST_ROWS + 2, 90)]

    asyncio.run(scenario())
    assert verify(database).ok


def test_what_differs_has_rows_of_its_own(database: str) -> None:
    """Another key, another request, another reason: none of them is counted with the first."""

    async def scenario() -> None:
        set_clock(database, NOON)
        greedy, other = [await new_sender(database, name) for name in ("greedy", "other")]
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("a"), invoice("b")])
            await engine.submit_all([ask("a", caller=greedy), ask("b", caller=greedy)])
            await engine.submit_all([ask("a", caller=greedy) for _ in range(MOST_ROWS + 5)])
            await engine.submit_all([ask("b", caller=greedy) for _ in range(3)])
            await engine.submit_all([ask("a", caller=other) for _ in range(3)])
            assert await rows(database, _ROWS) == [(MOST_ROWS + 6, 0)]

    asyncio.run(scenario())


def test_what_was_counted_is_written_before_the_process_ends(database: str) -> None:
    async def scenario() -> None:
        set_clock(database, NOON)
        greedy = await new_sender(database, "greedy")
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("inv"), ask("inv", caller=greedy)])
            await engine.submit_all([ask("inv", caller=greedy) for _ in range(MOST_ROWS + 7)])
        assert await rows(database, _ROWS) == [(MOST_ROWS + 1, 7)]

    asyncio.run(scenario())
