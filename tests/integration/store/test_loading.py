"""Ids that mean something to PostgreSQL's arrays are loaded as what they are."""

import asyncio

import pytest

from tests.integration.store.engines import ask, codes, engine_on, invoice, rows

HOSTILE = [
    '"',
    "\\",
    '\\"',
    "{}",
    "{a,b}",
    "a,b",
    "NULL",
    "null",
    " a ",
    "'",
    "é\u2603",
    "$1",
    "%s",
]


@pytest.mark.parametrize("id_", HOSTILE)
def test_an_engine_without_memory_finds_what_was_told_of_such_an_id(
    database: str, id_: str
) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice(id_, id_, email="a@example.com"))
        async with engine_on(database) as cold:
            assert codes([await cold.submit(ask(id_)), await cold.submit(ask(id_))]) == [
                "granted",
                "permit_held",
            ]
        async with engine_on(database) as cold:
            assert codes([await cold.submit(ask(id_))]) == ["permit_held"]
        logged = await rows(database, "SELECT DISTINCT customer_id, invoice_id FROM decisions")
        assert logged == [(id_, id_)]

    asyncio.run(scenario())
