"""The connection is lost at the COMMIT: the answer is right, and nothing is granted twice (D4)."""

import asyncio
import json

import pytest

from ledger.application.ports import Head, StoreRefused
from ledger.store.log import writer as writer_module
from ledger.store.log.writer import PostgresWriter
from ledger.store.looking_back.audit import verify
from ledger.store.statements import statement
from tests.integration.store.commit_proxy import At, commit_proxy
from tests.integration.store.engines import (
    WAITING_FOR_THE_LOCK,
    ask,
    body,
    codes,
    engine_on,
    granted,
    invoice,
    rows,
    until,
)


@pytest.mark.parametrize("at", [At.ANSWER_LOST, At.NEVER_SENT])
def test_one_grant_is_answered_whether_the_commit_happened_or_not(database: str, at: At) -> None:
    async def scenario() -> None:
        async with commit_proxy(database) as (proxy, conninfo), engine_on(conninfo) as engine:
            await engine.submit(invoice("inv"))
            proxy.plan = [at]
            answer = await engine.submit(ask("inv"))
            assert answer.status == 201
            assert proxy.done[1] is at
            assert await granted(database) == ["inv"]
            assert await rows(database, "SELECT permit_id::text, state FROM permits") == [
                (body(answer)["permit_id"], "granted")
            ]
            assert await rows(database, "SELECT status FROM decisions") == [(201,)]
            again = await engine.submit(ask("inv"))
            assert codes([again]) == ["permit_held"]
            assert body(again)["permit_id"] == body(answer)["permit_id"]

    asyncio.run(scenario())
    assert verify(database).ok


@pytest.mark.parametrize("at", [At.ANSWER_LOST, At.NEVER_SENT])
def test_a_whole_batch_gets_its_answers(database: str, at: At) -> None:
    """Grants, denials and facts together, also a batch that ends with its only denial."""

    async def scenario() -> None:
        async with commit_proxy(database) as (proxy, conninfo), engine_on(conninfo) as engine:
            await engine.submit_all([invoice(f"inv-{n}") for n in range(10)])
            proxy.plan = [at]
            commands = [ask(f"inv-{n}") for n in range(10)] + [ask("inv-3"), ask("nobody's")]
            answers = await engine.submit_all([*commands, invoice("late")])
            assert codes(answers[:12]) == ["granted"] * 10 + ["permit_held", "unknown_invoice"]
            assert body(answers[12])["applied"] is True
            assert sorted(await granted(database)) == [f"inv-{n}" for n in range(10)]
            proxy.plan = [at]
            assert codes([await engine.submit(ask("inv-3"))]) == ["permit_held"]
            logged = await rows(database, "SELECT code, count(*) FROM decisions GROUP BY 1")
            assert sorted(logged, key=str) == [
                ("permit_held", 2),
                ("unknown_invoice", 1),
                (None, 10),
            ]

    asyncio.run(scenario())
    assert verify(database).ok


def test_a_commit_still_on_its_way_is_waited_for(database: str) -> None:
    """The lost connection still holds the lock, so that looking again cannot come too early."""

    async def scenario() -> None:
        async with commit_proxy(database) as (proxy, conninfo), engine_on(conninfo) as engine:
            await engine.submit(invoice("inv"))
            proxy.plan = [At.ON_ITS_WAY]
            asked = asyncio.create_task(engine.submit(ask("inv")))
            await until(database, WAITING_FOR_THE_LOCK, 1)
            assert await granted(database) == []
            proxy.deliver.set()
            answer = await asked
            assert answer.status == 201
            assert await granted(database) == ["inv"]

    asyncio.run(scenario())


@pytest.mark.parametrize("refused", [1, 1000])
@pytest.mark.parametrize("at", [At.ANSWER_LOST, At.NEVER_SENT])
def test_while_nobody_can_look_again_the_answer_is_503(database: str, at: At, refused: int) -> None:
    """The store stays away after the loss, for one connection or for long. Nobody is told yes,
    nobody is told of a duplicate that is their own grant, and what the engine had in mind is
    forgotten: when the store is back its answers are those of the log."""

    async def scenario() -> None:
        async with commit_proxy(database) as (proxy, conninfo), engine_on(conninfo) as engine:
            await engine.submit_all([invoice("inv"), invoice("other")])
            proxy.plan, proxy.refuse_after = [at], refused
            lost = await engine.submit_all([ask("inv"), ask("other")])
            assert [answer.status for answer in lost] == [503, 503]
            told = [json.loads(answer.body)["committed"] for answer in lost]
            assert told == ["unknown", "unknown"]
            assert proxy.done[1:] == [at]
            proxy.accept_again()
            again = await engine.submit_all([ask("inv"), ask("other")])
            expected = "permit_held" if at is At.ANSWER_LOST else "granted"
            assert codes(again) == [expected, expected]
            assert sorted(await granted(database)) == ["inv", "other"]

    asyncio.run(scenario())
    assert verify(database).ok


def test_a_grant_behind_a_503_is_given_to_its_idempotency_key(database: str) -> None:
    async def scenario() -> None:
        async with commit_proxy(database) as (proxy, conninfo), engine_on(conninfo) as engine:
            await engine.submit(invoice("inv"))
            proxy.plan, proxy.refuse_after = [At.ANSWER_LOST], 1
            assert (await engine.submit(ask("inv", key="try"))).status == 503
            proxy.accept_again()
            answer = await engine.submit(ask("inv", key="try"))
            assert (answer.status, answer.headers) == (200, (("Idempotent-Replayed", "true"),))
            assert await granted(database) == ["inv"]

    asyncio.run(scenario())


def test_who_is_refused_while_looking_again_hears_503(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not that its own grant is in its way."""

    async def scenario() -> None:
        async with commit_proxy(database) as (proxy, conninfo), engine_on(conninfo) as engine:
            await engine.submit(invoice("inv"))
            begin = PostgresWriter.begin
            begun: list[bool] = []

            async def refused_once(writer: PostgresWriter) -> Head:
                begun.append(True)
                if len(begun) == 2:
                    raise StoreRefused("half restored")
                return await begin(writer)

            monkeypatch.setattr(PostgresWriter, "begin", refused_once)
            proxy.plan = [At.ANSWER_LOST]
            assert codes([await engine.submit(ask("inv"))]) == ["unavailable"]
            assert await granted(database) == ["inv"]
            assert codes([await engine.submit(ask("inv"))]) == ["permit_held"]

    asyncio.run(scenario())


def test_only_an_answer_that_says_commit_is_believed(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL answers COMMIT with ROLLBACK where the transaction had failed before."""

    def text(folder: str, name: str) -> str:
        return "ROLLBACK" if name == "commit" else statement(folder, name)

    async def scenario() -> None:
        monkeypatch.setattr(writer_module, "statement", text)
        async with engine_on(database) as engine:
            assert codes([await engine.submit(ask("nobody's"))]) == ["unavailable"]
        assert await rows(database, "SELECT count(*) FROM decisions") == [(0,)]

    asyncio.run(scenario())
