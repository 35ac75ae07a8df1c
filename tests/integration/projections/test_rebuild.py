"""Rebuilding: beside the live read model, switched by a pointer, safe to interrupt, and silent."""

import asyncio

import pytest
from psycopg import AsyncConnection

from ledger.domain.policy import Policy, Stage
from projections.comparison import differences
from projections.generations import entered
from projections.models import MODELS, UnknownReadModel
from projections.rebuild import RebuildRunning, rebuild, rebuild_outdated
from projections.statements import one
from tests.support.read_side import SECONDS, ReadSide, story, until, with_read_side


class Stopped(Exception):
    """The rebuild was interrupted."""


def test_a_rebuilt_read_model_takes_the_place_of_the_live_one(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        before = await side.due()
        heard: list[tuple[int, int]] = []
        for name in MODELS:
            heard.clear()
            generation = await rebuild(
                side.conninfo, name, side.policy, lambda *p: heard.append(p), most=50
            )
            assert (generation.model.name, generation.number) == (name, 2)
            total = side.position
            assert heard == [(done, total) for done in (*range(0, total, 50), total)]
        assert await side.due() == before
        assert await side.generations() == [(name, 2, "live") for name in sorted(MODELS)]
        assert await side.schemas() == [f"projection_{name}_2" for name in sorted(MODELS)]
        assert await differences(side.conninfo, side.policy) == []

    with_read_side(database, story(), steps)


def test_an_interrupted_rebuild_is_taken_up_where_it_stopped(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()

        def stop(done: int, total: int) -> None:
            if done >= 60:
                raise Stopped

        with pytest.raises(Stopped):
            await rebuild(side.conninfo, "invoices", side.policy, stop, most=20)
        assert ("invoices", 2, "building") in await side.generations()
        assert (await side.status())["invoices"].state == "live"
        heard: list[int] = []
        await rebuild(
            side.conninfo, "invoices", side.policy, lambda done, _: heard.append(done), most=20
        )
        assert heard[0] == 60
        assert [row for row in await side.generations() if row[0] == "invoices"] == [
            ("invoices", 2, "live")
        ]
        assert await differences(side.conninfo, side.policy) == []

    with_read_side(database, story(), steps)


def test_what_was_begun_by_another_policy_is_dropped(database: str) -> None:
    other = Policy(stages=(Stage("day-5", 5, 0),))

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()

        def stop(done: int, total: int) -> None:
            raise Stopped

        with pytest.raises(Stopped):
            await rebuild(side.conninfo, "invoices", other, stop)
        await rebuild(side.conninfo, "invoices", side.policy)
        assert [row for row in await side.generations() if row[0] == "invoices"] == [
            ("invoices", 2, "live")
        ]
        assert await differences(side.conninfo, side.policy) == []

    with_read_side(database, story(), steps)


def test_another_policy_rebuilds_what_was_computed_by_it(database: str) -> None:
    other = Policy(stages=(Stage("day-1", 1, 0), Stage("day-8", 8, 0)))

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        assert await rebuild_outdated(side.conninfo, side.policy) == []
        heard: list[tuple[str, int, int]] = []
        done = await rebuild_outdated(side.conninfo, other, lambda *p: heard.append(p))
        assert done == ["invoices"]
        assert {name for name, *_ in heard} == {"invoices"}
        side.policy = other
        stages = {i["stage"] for c in (await side.due()).items for i in c.invoices}
        assert stages == {"day-8"}
        assert await rebuild_outdated(side.conninfo, other) == []
        assert await differences(side.conninfo, other) == []

    with_read_side(database, story(), steps)


def test_processes_that_find_another_policy_at_once_rebuild_once(database: str) -> None:
    other = Policy(time_zone="Asia/Tokyo")

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        done = await asyncio.gather(*[rebuild_outdated(side.conninfo, other) for _ in range(4)])
        assert sorted(done, key=len) == [[], [], [], ["invoices"]]
        assert ("invoices", 2, "live") in await side.generations()

    with_read_side(database, story(), steps)


def test_a_generation_of_another_version_is_left_alone_and_then_rebuilt(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.rows("UPDATE projection_generations SET version = 0 WHERE name = 'invoices'")
        async with side.projecting() as projector:
            assert await projector.wait_for(side.position, SECONDS, ["customers"]) == 0
            assert projector.progress["invoices"].position == 0
            assert await rebuild_outdated(side.conninfo, side.policy) == ["invoices"]
            assert await projector.wait_for(side.position, SECONDS) == 0

    with_read_side(database, story(), steps)


def test_a_reader_keeps_the_generation_that_it_began_with(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        async with await AsyncConnection.connect(side.conninfo, autocommit=True) as reader:
            async with entered(reader):
                rebuilding = asyncio.create_task(rebuild(side.conninfo, "invoices", side.policy))

                async def switched() -> bool:
                    return ("invoices", 1, "retired") in await side.generations()

                await until(switched)
                assert "projection_invoices_1" in await side.schemas()
                cursor = await reader.execute(
                    "SELECT count(*), current_schemas(false) FROM invoices"
                )
                count, path = await cursor.fetchone() or (0, [])
                assert count == 40
                assert "projection_invoices_1" in path
                assert "projection_invoices_2" not in path
            await rebuilding
            assert "projection_invoices_1" not in await side.schemas()

    with_read_side(database, story(), steps)


def test_readers_never_go_back_while_it_is_rebuilt_under_load(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with side.projecting() as projector:
            seen = []
            rebuilding: asyncio.Task[object] | None = None
            for upto in range(25, len(side.scenario.store.rows), 25):
                await side.append(upto)
                assert await projector.wait_for(upto, SECONDS) == 0
                seen.append((await side.due()).as_of)
                if rebuilding is None or rebuilding.done():
                    name = "invoices" if upto % 50 else "customers"
                    rebuilding = asyncio.create_task(
                        rebuild(side.conninfo, name, side.policy, most=30)
                    )
            assert rebuilding is not None
            await rebuilding
            assert seen == list(range(25, len(side.scenario.store.rows), 25))
            assert await projector.wait_for(await side.append(), SECONDS) == 0
        assert max(number for _, number, _ in await side.generations()) > 1
        assert await differences(side.conninfo, side.policy) == []

    with_read_side(database, story(60), steps)


def test_two_rebuilds_of_one_read_model_are_refused(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with await AsyncConnection.connect(side.conninfo, autocommit=True) as other:
            row = await one(other, "control", "try_rebuild", key=720_341_288, name="invoices")
            assert row == (True,)
            assert (await side.status())["invoices"].state == "rebuilding"
            assert (await side.status())["customers"].state == "live"
            with pytest.raises(RebuildRunning, match="invoices is being rebuilt already"):
                await rebuild(side.conninfo, "invoices", side.policy)

        async def given_up() -> bool:
            return (await side.status())["invoices"].state == "live"

        await until(given_up)
        await rebuild(side.conninfo, "invoices", side.policy)
        assert (await side.status())["invoices"].state == "live"

    with_read_side(database, story(), steps)


def test_a_name_that_nobody_knows_is_refused(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        with pytest.raises(UnknownReadModel, match=r"'nothing'; known are .*'invoices'"):
            await rebuild(side.conninfo, "nothing", side.policy)

    with_read_side(database, story(), steps)


def test_a_rebuild_changes_nothing_but_its_own_tables(database: str) -> None:
    """A log full of openings pages nobody a second time."""

    async def counts(side: ReadSide) -> list[tuple[object, ...]]:
        tables = await side.rows(
            "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind = 'r'"
            " AND c.relnamespace = 'public'::regnamespace"
            " AND c.relname NOT LIKE 'projection%' ORDER BY 1"
        )
        assert ("events",) in tables
        assert ("alerts",) in tables
        found = [await side.rows(f"SELECT '{t}', count(*) FROM {t}") for (t,) in tables]
        return [row for rows in found for row in rows]

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        before = await counts(side)
        assert ("alerts", 0) in before
        for name in MODELS:
            await rebuild(side.conninfo, name, side.policy)
        assert await counts(side) == before

    with_read_side(database, story(), steps)
