"""Tokens of signatures that cover no body: each for one body, forgotten when it is not fresh."""

from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from ledger.store.webhooks.tokens import KEPT_HOURS, clear_old_tokens, take_token
from tests.integration.webhooks.test_rejected_store import NOW, rows, set_clock, with_connections


def test_a_token_is_for_one_body_of_one_provider(database: str) -> None:
    async def work(db: AsyncConnection[Any]) -> list[bool]:
        asked = [("a", b"1"), ("a", b"1"), ("a", b"2"), ("a", b"1"), ("b", b"2")]
        taken = [await take_token(db, "mailgun", token, body) for token, body in asked]
        return [*taken, await take_token(db, "other", "a", b"2")]

    assert with_connections(database, work) == [True, True, False, True, True, True]


def test_a_token_is_kept_for_two_days_and_then_cleared_a_few_at_a_time(database: str) -> None:
    async def take(db: AsyncConnection[Any]) -> None:
        for token in "abc":
            await take_token(db, "mailgun", token, b"1")

    async def clear(db: AsyncConnection[Any]) -> list[int]:
        return [await clear_old_tokens(db, limit=2) for _ in range(3)]

    set_clock(database, NOW)
    with_connections(database, take)
    set_clock(database, NOW + timedelta(hours=KEPT_HOURS, seconds=-1))
    assert with_connections(database, clear) == [0, 0, 0]
    set_clock(database, NOW + timedelta(hours=KEPT_HOURS))
    assert with_connections(database, clear) == [2, 1, 0]
    assert rows(database, "SELECT * FROM webhook_tokens") == []
