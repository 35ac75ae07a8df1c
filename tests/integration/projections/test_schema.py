"""The read side's own tables: made once, however many processes start at the same time."""

import asyncio

from ledger.domain.policy import Policy
from projections.models import MODELS
from projections.schema import prepare, prepare_projections
from tests.support.read_side import ReadSide, story, with_read_side


def test_six_processes_that_start_at_once_make_it_once(database: str) -> None:
    async def start() -> None:
        await asyncio.gather(*[prepare(database, Policy()) for _ in range(6)])

    asyncio.run(start())

    async def steps(side: ReadSide) -> None:
        assert await side.generations() == [(name, 1, "live") for name in sorted(MODELS)]
        assert await side.schemas() == [f"projection_{name}_1" for name in sorted(MODELS)]

    with_read_side(database, story(), steps)


def test_preparing_again_keeps_what_is_there(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        before = await side.due()
        assert len(before.items) > 5
        await asyncio.to_thread(prepare_projections, side.conninfo, side.policy)
        assert await side.due() == before

    with_read_side(database, story(), steps)
