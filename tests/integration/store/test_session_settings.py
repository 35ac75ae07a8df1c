"""What the environment or the database asks of every session does not change what is written."""

import asyncio

import pytest
from psycopg import AsyncConnection

from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import ask, codes, engine_on, invoice, rows


def test_what_is_written_is_the_same_whatever_encoding_the_environment_asks_for(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("invé"))
        async with engine_on(database) as cold:
            assert codes([await cold.submit(ask("invé"))]) == ["granted"]

    asyncio.run(scenario())
    monkeypatch.delenv("PGCLIENTENCODING")
    found = asyncio.run(
        rows(database, "SELECT invoice_id, request #>> '{invoices,0}' FROM decisions")
    )
    assert found == [("invé", "invé")]


def test_the_database_may_have_its_own_way_to_write_dates_and_bytes(database: str) -> None:
    async def scenario() -> None:
        async with await AsyncConnection.connect(database, autocommit=True) as connection:
            name = connection.info.dbname
            for setting in ("datestyle = 'German'", "bytea_output = 'escape'"):
                await connection.execute(f"ALTER DATABASE {name} SET {setting}".encode())
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            assert codes([await engine.submit(ask("inv"))]) == ["granted"]

    asyncio.run(scenario())
    assert verify(database).ok
