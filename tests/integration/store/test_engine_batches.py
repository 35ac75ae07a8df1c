"""Group commit in peace: what one transaction takes, in which order, and what it leaves behind."""

import asyncio
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from ledger.application import batch
from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, Command, Erase, Redeem, RequestPermit
from ledger.application.decide import decide
from ledger.application.effects import Outcome
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.fact import Fact
from ledger.application.kinds.notification import Notification
from ledger.application.limits import Limits
from ledger.application.world import World
from ledger.domain.policy import Policy
from ledger.store.keys import revoke_key
from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import (
    WAITING_FOR_THE_LOCK,
    address,
    all_of,
    ask,
    body,
    codes,
    engine_on,
    granted,
    invoice,
    new_sender,
    rows,
    until,
)

HOLD = "SELECT FROM partitions FOR UPDATE"


def test_what_waits_together_is_committed_together(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}", email=f"p{n}@example.com"), 300)
            before = engine.counters.batches
            answers = await all_of(engine, lambda n: ask(f"inv-{n % 200}"), 300)
            assert engine.counters.batches == before + 1
            assert codes(answers) == ["granted"] * 200 + ["permit_held"] * 100
            assert await granted(database) == [f"inv-{n}" for n in range(200)]
            assert {body(a)["to"] for a in answers[:200]} == {
                f"p{n}@example.com" for n in range(200)
            }

    asyncio.run(scenario())
    found = verify(database)
    assert (found.ok, found.problem) == (True, None)


def test_each_answer_is_a_row_of_the_decision_log_with_the_position_it_gave(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            answers = await engine.submit_all([ask("inv"), ask("inv"), ask("nobody's")])
            logged = await rows(
                database,
                "SELECT decision_id::text, status, code, position, policy, sender, invoice_id,"
                " answer ->> 'decision_id' FROM decisions ORDER BY status, code",
            )
            ids = [body(answer)["decision_id"] for answer in answers]
            at, policy = answers[0].position, Policy().version()
            assert logged == [
                (ids[0], 201, None, at, policy, "system", "inv", ids[0]),
                (ids[2], 404, "unknown_invoice", at, policy, "system", "nobody's", ids[2]),
                (ids[1], 409, "permit_held", at, policy, "system", "inv", ids[1]),
            ]
            last = await rows(database, "SELECT max(position) FROM events")
            assert {a.position for a in answers} == {last[0][0]}

    asyncio.run(scenario())


def test_others_get_a_turn_while_a_long_batch_is_decided(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is written in one part, and so waits for nothing on its way."""
    turns = [0]
    seen: list[int] = []

    async def count() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    def watching(world: World, command: Command) -> Outcome:
        seen.append(turns[0])
        return decide(world, command)

    async def scenario() -> None:
        async with engine_on(database, limits=Limits(part=512)) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 200)
            monkeypatch.setattr(batch, "decide", watching)
            counting = asyncio.create_task(count())
            batches = engine.counters.batches
            assert codes(await all_of(engine, lambda n: ask(f"inv-{n}"), 200)) == ["granted"] * 200
            assert engine.counters.batches == batches + 1
            counting.cancel()

    asyncio.run(scenario())
    assert len(seen) == 200
    assert seen[-1] - seen[0] >= 3


COUNT_WRITES = """
    CREATE SEQUENCE writes;
    CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM nextval('writes'); RETURN NULL; END $$;
    CREATE TRIGGER counting AFTER INSERT ON decisions
        FOR EACH STATEMENT EXECUTE FUNCTION count_write();
"""


@pytest.mark.parametrize(
    ("waiting", "part", "writes"),
    [(7, 3, 3), (6, 3, 2), (3, 3, 1), (13, 1, 7), (20, 3, 6), (2, 1, 2), (400, 3, 15)],
)
def test_a_batch_is_written_in_ever_smaller_parts_and_committed_once(
    database: str, waiting: int, part: int, writes: int
) -> None:
    async def scenario() -> None:
        async with engine_on(database, limits=Limits(part=part)) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), waiting)
            async with await AsyncConnection.connect(database) as connection:
                await connection.execute(COUNT_WRITES)
            batches = engine.counters.batches
            answers = await all_of(engine, lambda n: ask(f"inv-{n}"), waiting)
            assert codes(answers) == ["granted"] * waiting
            assert engine.counters.batches == batches + 1
            assert await rows(database, "SELECT last_value FROM writes") == [(writes,)]
            logged = "SELECT count(*), count(DISTINCT xmin::text) FROM decisions"
            assert await rows(database, logged) == [(waiting, 1)]

    asyncio.run(scenario())
    assert verify(database).ok


def test_a_part_is_decided_while_the_one_before_is_written(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write of the first part is held up until the last command was decided."""
    held: list[bool] = []

    async def scenario() -> None:
        async with engine_on(database, limits=Limits(part=2)) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 4)
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute("LOCK TABLE permits IN SHARE MODE")

                def watching(world: World, command: Command) -> Outcome:
                    held.append(True)
                    return decide(world, command)

                monkeypatch.setattr(batch, "decide", watching)
                asked = asyncio.create_task(all_of(engine, lambda n: ask(f"inv-{n}"), 4))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                assert len(held) == 4
            assert codes(await asked) == ["granted"] * 4

    asyncio.run(scenario())


def test_the_queue_is_taken_round_robin_over_callers(database: str) -> None:
    """One caller's flood does not keep another waiting: each gets its turn within one round."""
    order: list[str] = []

    async def scenario() -> None:
        flood = await new_sender(database, "flood")
        calm = await new_sender(database, "calm")
        async with engine_on(database, limits=Limits(batch=4)) as engine:
            await engine.submit(invoice("inv"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute(HOLD)
                first = engine.enqueue(ask("nobody's"))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                futures = [engine.enqueue(ask(f"f{n}", caller=flood)) for n in range(8)]
                futures += [engine.enqueue(ask(f"c{n}", caller=calm)) for n in range(2)]
            await asyncio.gather(first, *futures)
            logged = await rows(
                database,
                "SELECT sender FROM decisions WHERE sender <> 'system' ORDER BY decided_at, ctid",
            )
            order.extend(row[0] for row in logged)
            assert engine.waiting == 0

    asyncio.run(scenario())
    assert order == [
        "flood",
        "calm",
        "flood",
        "calm",
        "flood",
        "flood",
        "flood",
        "flood",
        "flood",
        "flood",
    ]


def test_a_full_queue_answers_503_at_once_and_nothing_is_granted(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database, limits=Limits(queue=5, reserved=0)) as engine:
            await engine.submit_all([invoice(f"inv-{n}") for n in range(5)])
            await engine.submit_all([invoice(f"inv-{n}") for n in range(5, 8)])
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute(HOLD)
                taken = engine.enqueue(ask("inv-7"))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                waiting = [engine.enqueue(ask(f"inv-{n}")) for n in range(5)]
                refused = engine.enqueue(ask("inv-5"))
                assert refused.done()
                assert codes([refused.result()]) == ["unavailable"]
                assert not any(future.done() for future in [taken, *waiting])
                assert engine.waiting == 5
            assert codes(await asyncio.gather(taken, *waiting)) == ["granted"] * 6
            assert "inv-5" not in await granted(database)
            assert engine.counters.refused_full == 1

    asyncio.run(scenario())


def test_a_caller_that_went_away_is_not_decided_for(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("gone"), invoice("here")])
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute(HOLD)
                first = engine.enqueue(ask("nobody's"))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                gone, here = engine.enqueue(ask("gone")), engine.enqueue(ask("here"))
                gone.cancel()
            assert codes([await here]) == ["granted"]
            assert codes([await first]) == ["unknown_invoice"]
            assert await granted(database) == ["here"]

    asyncio.run(scenario())


def test_stopping_answers_everything_that_waits(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database, limits=Limits(batch=2)) as engine:
            await engine.submit_all([invoice(f"inv-{n}") for n in range(7)])
            futures = [engine.enqueue(ask(f"inv-{n}")) for n in range(7)]
            await engine.stop()
            assert all(future.done() for future in futures)
            assert codes([future.result() for future in futures]) == ["granted"] * 7
            assert codes([await engine.submit(ask("inv-0"))]) == ["unavailable"]

    asyncio.run(scenario())


def test_a_poison_request_fails_alone(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what it had changed in memory before it failed is undone."""
    honest = decide

    def poisoned(world: World, command: Command) -> Outcome:
        outcome = honest(world, command)
        if getattr(command, "request", b"") == b"poison":
            raise ZeroDivisionError
        return outcome

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 9)
            monkeypatch.setattr(batch, "decide", poisoned)
            commands = [ask(f"inv-{n}") for n in range(9)]
            object.__setattr__(commands[4], "request", b"poison")
            answers = await engine.submit_all(commands)
            assert codes(answers) == ["granted"] * 4 + ["internal_error"] + ["granted"] * 4
            assert answers[4].status == 500
            monkeypatch.setattr(batch, "decide", honest)
            assert sorted(await granted(database)) == [f"inv-{n}" for n in range(9) if n != 4]
            assert codes(await all_of(engine, lambda n: ask(f"inv-{n}"), 9)) == (
                ["permit_held"] * 4 + ["granted"] + ["permit_held"] * 4
            )

    asyncio.run(scenario())
    assert verify(database).ok


@pytest.mark.parametrize("request_", [b"{not json", b"\xff\xfe"], ids=["no JSON", "no UTF-8"])
def test_what_the_database_refuses_fails_alone(database: str, request_: bytes) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 3)
            commands = [ask(f"inv-{n}") for n in range(3)]
            object.__setattr__(commands[1], "request", request_)
            answers = await engine.submit_all(commands)
            assert codes(answers) == ["granted", "internal_error", "granted"]
            assert sorted(await granted(database)) == ["inv-0", "inv-2"]
            assert codes([await engine.submit(ask("inv-1"))]) == ["granted"]

    asyncio.run(scenario())
    assert verify(database).ok


def test_a_name_with_a_nul_fails_alone(database: str) -> None:
    """PostgreSQL's text cannot hold it; the API refuses it before, an import might not."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            answers = await engine.submit_all([invoice("a"), invoice("b\0c"), invoice("d")])
            assert [a.status for a in answers] == [200, 500, 200]
            answers = await engine.submit_all([ask("a"), ask("b\0c"), ask("d")])
            assert codes(answers) == ["granted", "internal_error", "granted"]

    asyncio.run(scenario())


def test_a_listener_hears_of_every_commit_and_cannot_spoil_one(database: str) -> None:
    heard: list[int] = []

    async def scenario() -> None:
        async with engine_on(database) as engine:

            def listen() -> None:
                heard.append(engine.position)
                raise ZeroDivisionError

            engine.on_commit(listen)
            told = await engine.submit(invoice("inv"))
            answers = await engine.submit_all([ask("inv"), ask("nobody's")])
            assert codes(answers) == ["granted", "unknown_invoice"]
            assert codes([await engine.submit(ask("inv"))]) == ["permit_held"]
            assert heard == [told.position, answers[0].position]
            assert engine.counters.reruns == 0

    asyncio.run(scenario())


def test_a_revoked_key_is_refused_by_every_engine_at_once(database: str) -> None:
    async def scenario() -> None:
        sender = await new_sender(database, "poller")
        async with engine_on(database) as one, engine_on(database) as other:
            await one.submit_all([invoice("a"), invoice("b"), invoice("c")])
            assert codes([await one.submit(ask("a", caller=sender))]) == ["granted"]
            assert codes([await other.submit(ask("b", caller=sender))]) == ["granted"]
            async with await AsyncConnection.connect(database, autocommit=True) as connection:
                assert await revoke_key(connection, sender.key_id)
            for engine in (one, other):
                answer = await engine.submit(ask("c", caller=sender))
                assert (answer.status, codes([answer])) == (401, ["unauthorized"])
            assert await granted(database) == ["a", "b"]

    asyncio.run(scenario())


def test_an_address_that_is_erased_in_a_batch_is_gone_for_the_rest_of_it(database: str) -> None:
    pat = address("pat@example.com")
    notice = Notification("shipped", "order-1", "cus_1", None)

    async def scenario() -> None:
        sender = await new_sender(database, "notifier")
        async with engine_on(database, limits=Limits(part=16)) as engine:
            await engine.submit(ApplyFact(Fact(CustomerObserved("cus_1", (pat,)), "crm"), SYSTEM))
            asked = RequestPermit(notice, sender, str(uuid4()), b"{}")
            granted = await engine.submit(asked)
            assert body(granted)["to"] == "pat@example.com"
            assert granted.permit_id is not None
            redeems = [
                Redeem(granted.permit_id, "1", sender, str(uuid4()), b"{}") for _ in range(2)
            ]
            _, redeemed = await engine.submit_all([Erase("cus_1", "ann", sender), redeems[0]])
            again = await engine.submit(redeems[1])
            assert [body(answer)["code"] for answer in (redeemed, again)] == ["revoked"] * 2
            assert await rows(database, "SELECT * FROM contacts") == []

    asyncio.run(scenario())
