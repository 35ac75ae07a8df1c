"""The log: append-only, in time, its decisions in parts by month, addresses apart from it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest
from psycopg import AsyncConnection

from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, Erase, Redeem
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.customers_merged import CustomersMerged
from ledger.application.facts.fact import Fact
from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import (
    NOON,
    address,
    ask,
    body,
    codes,
    engine_on,
    invoice,
    rows,
    set_clock,
)
from tests.support.postgres import superuser

CHANGES = [
    "UPDATE events SET topic = 'other'",
    "UPDATE events SET topic = topic WHERE position = 1",
    "DELETE FROM events WHERE position = 1",
    "DELETE FROM events",
    "TRUNCATE events",
    "TRUNCATE events CASCADE",
    "INSERT INTO events SELECT * FROM events ON CONFLICT (partition, position)"
    " DO UPDATE SET topic = 'other'",
    "MERGE INTO events e USING (SELECT 1::bigint AS p) s ON e.position = s.p"
    " WHEN MATCHED THEN DELETE",
]


def test_the_database_itself_refuses_to_change_the_log(database: str) -> None:
    """For the role that owns the table, and for a superuser who does not switch triggers off."""

    async def write() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))

    asyncio.run(write())
    name = str(psycopg.conninfo.conninfo_to_dict(database)["dbname"])
    with psycopg.connect(database, autocommit=True) as owner, superuser(database, name) as boss:
        for change in CHANGES:
            for who in (owner, boss):
                with pytest.raises(psycopg.errors.RaiseException, match="the log is append-only"):
                    who.execute(change.encode())
    assert verify(database).checked == 4


def test_time_never_runs_backwards(database: str) -> None:
    """Not for events, decisions or answers, though the clock of the database does (design D16)."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            set_clock(database, NOON)
            await engine.submit(invoice("inv", due=NOON - timedelta(days=4)))
            set_clock(database, NOON - timedelta(days=1))
            granted = body(await engine.submit(ask("inv")))
            assert datetime.fromisoformat(granted["granted_at"]) == NOON
            set_clock(database, NOON + timedelta(microseconds=1))
            held = body(await engine.submit(ask("inv")))
            assert held["code"] == "permit_held"
            decided = await rows(database, "SELECT decided_at FROM decisions ORDER BY status")
            assert decided == [(NOON,), (NOON + timedelta(microseconds=1),)]
            stamps = await rows(
                database,
                "SELECT DISTINCT recorded_at, (state ->> 'timestamp')::timestamptz FROM events",
            )
            assert stamps == [(NOON, NOON)]

    asyncio.run(scenario())


def test_a_real_ledger_goes_by_the_clock_of_the_database(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            before = (await rows(database, "SELECT clock_timestamp()"))[0][0]
            await engine.submit(invoice("inv"))
            after = (await rows(database, "SELECT clock_timestamp()"))[0][0]
            ((recorded,),) = await rows(database, "SELECT DISTINCT recorded_at FROM events")
            assert before < recorded < after

    asyncio.run(scenario())


async def parts(database: str) -> list[str]:
    found = await rows(
        database,
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'decisions'::regclass ORDER BY 1",
    )
    return [name for (name,) in found]


def test_decisions_get_a_part_for_each_month_on_demand(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            for moment in (
                datetime(2026, 12, 31, 23, 59, 59, 999_999, UTC),
                datetime(2027, 1, 1, tzinfo=UTC),
                datetime(2027, 1, 31, 23, 59, tzinfo=UTC),
                datetime(2027, 3, 15, tzinfo=UTC),
                datetime(2028, 2, 29, 12, tzinfo=UTC),
            ):
                set_clock(database, moment)
                assert codes([await engine.submit(ask("nobody's"))]) == ["unknown_invoice"]
        assert await parts(database) == [
            "decisions_2026_12",
            "decisions_2027_01",
            "decisions_2027_03",
            "decisions_2028_02",
        ]
        counted = await rows(
            database,
            "SELECT tableoid::regclass::text, count(*) FROM decisions GROUP BY 1 ORDER BY 1",
        )
        assert [number for _, number in counted] == [1, 2, 1, 1]

    asyncio.run(scenario())


def test_a_new_part_does_not_wait_for_others_and_they_do_not_wait_for_it(database: str) -> None:
    """Plain CREATE … PARTITION OF would do both (design D11)."""

    async def scenario() -> None:
        set_clock(database, NOON)
        async with engine_on(database) as engine:
            await engine.submit(ask("nobody's"))
            async with await AsyncConnection.connect(database) as other:
                await other.execute(
                    "INSERT INTO decisions SELECT partition, gen_random_uuid(), decided_at,"
                    " position, operation, key_id, sender, kind, customer_id, invoice_id,"
                    " thread_id, status, code, replayed, policy, request, answer FROM decisions"
                )
                set_clock(database, NOON + timedelta(days=31))
                answer = await asyncio.wait_for(engine.submit(ask("nobody's")), 10)
                assert codes([answer]) == ["unknown_invoice"]
                await other.commit()
            async with await AsyncConnection.connect(database) as maker:
                await maker.execute("SELECT ensure_decision_part(%s)", [NOON + timedelta(days=62)])
                answer = await asyncio.wait_for(engine.submit(ask("nobody's")), 10)
                assert codes([answer]) == ["unknown_invoice"]
                await maker.rollback()
        assert await rows(database, "SELECT count(*) FROM decisions") == [(4,)]

    asyncio.run(scenario())


def test_a_part_whose_transaction_was_rolled_back_is_made_again(database: str) -> None:
    """The first command of a month may change nothing, so that nothing is committed."""

    async def scenario() -> None:
        set_clock(database, NOON)
        async with engine_on(database) as engine:
            fact = ApplyFact(Fact(CustomerObserved("cus", ()), "test", "1"), SYSTEM)
            assert (await engine.submit(fact)).result == "applied"
            set_clock(database, NOON + timedelta(days=31))
            assert (await engine.submit(fact)).result == "duplicate"
            assert await parts(database) == ["decisions_2026_12"]
            assert codes([await engine.submit(ask("nobody's"))]) == ["unknown_invoice"]
            assert engine.counters.reruns == 0
            assert await parts(database) == ["decisions_2026_12", "decisions_2027_01"]

    asyncio.run(scenario())


ANN = "ann@example.com"
BOB = "bob@example.com"


def emails(customer_id: str, *texts: str) -> ApplyFact:
    return ApplyFact(Fact(CustomerObserved(customer_id, tuple(map(address, texts)))), SYSTEM)


async def kept_addresses(database: str) -> set[str]:
    return {text for (text,) in await rows(database, "SELECT address FROM contacts")}


def test_erasing_a_customer_takes_the_addresses_and_nothing_else(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all(
                [invoice("a", "ann", email=ANN), invoice("b", "bob", email=BOB)]
            )
            assert body(await engine.submit(ask("a")))["to"] == ANN
            before = await rows(database, "SELECT * FROM events ORDER BY position")
            answer = await engine.submit(Erase("ann", "dpo", SYSTEM))
            assert answer.result == "applied"
            assert await kept_addresses(database) == {BOB}
            after = await rows(database, "SELECT * FROM events ORDER BY position")
            assert after[:-1] == [
                (*row[:5], json_equal(row[5], kept[5]), *row[6:])
                for row, kept in zip(before, after, strict=False)
            ]
            held = body(await engine.submit(ask("a")))
            assert (held["code"], held.get("to")) == ("permit_held", None)

    asyncio.run(scenario())
    assert verify(database).ok


def json_equal(one: object, other: object) -> object:
    assert json.dumps(one) == json.dumps(other)
    return other


def test_no_table_but_contacts_holds_an_address(database: str) -> None:
    """Every column of every table, as text (design D18)."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("a", "ann", email=ANN), emails("ann", ANN, BOB)])
            answer = await engine.submit(ask("a"))
            assert ANN in answer.body.decode()
            await engine.submit(ask("a"))
        found = []
        tables = await rows(
            database,
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace",
        )
        for (table,) in tables:
            hits = await rows(
                database,
                f"SELECT 1 FROM {table} t WHERE t::text ~ 'example.com' LIMIT 1",
            )
            found += [table] if hits else []
        assert found == ["contacts"]

    asyncio.run(scenario())


def test_an_address_told_again_after_an_erasure_is_known_to_every_engine(database: str) -> None:
    """Also to one that has just looked for it and found that it was gone."""

    async def scenario() -> None:
        async with engine_on(database) as one, engine_on(database) as other:
            await one.submit_all([invoice("a", "cus", email=ANN), invoice("b", "cus")])
            permit_id = body(await one.submit(ask("a")))["permit_id"]
            await one.submit(Erase("cus", "dpo", SYSTEM))
            redeemed = await one.submit(Redeem(permit_id, None, SYSTEM, str(uuid4()), b"{}"))
            assert (redeemed.status, body(redeemed)["code"]) == (409, "revoked")
            await other.submit(emails("cus", ANN))
            assert body(await one.submit(ask("b")))["to"] == ANN

    asyncio.run(scenario())


def test_an_address_told_again_in_the_batch_of_its_erasure_stays(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("inv", "cus", email=ANN)])
            await engine.submit_all([Erase("cus", "dpo", SYSTEM), emails("cus", BOB)])
            assert await kept_addresses(database) == {BOB}
        async with engine_on(database) as cold:
            assert body(await cold.submit(ask("inv")))["to"] == BOB

    asyncio.run(scenario())


def test_an_address_told_in_the_batch_of_its_erasure_goes(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv", "cus"))
            await engine.submit_all([emails("cus", ANN), Erase("cus", "dpo", SYSTEM)])
            assert await kept_addresses(database) == set()

    asyncio.run(scenario())


def test_erasing_a_customer_erases_all_who_were_merged_into_them(database: str) -> None:
    """Also those who were merged into one that was merged in turn."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            for n, customer in enumerate(("a", "b", "c")):
                await engine.submit(emails(customer, f"{n}@example.com"))
            for gone, into in (("a", "b"), ("b", "c")):
                merged = ApplyFact(Fact(CustomersMerged(gone, into)), SYSTEM)
                assert (await engine.submit(merged)).result == "applied"
            await engine.submit(Erase("c", "dpo", SYSTEM))
            assert await kept_addresses(database) == set()

    asyncio.run(scenario())
