"""Steps of outbox tests: a connection, the next page, and its delivery."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection

from ledger.domain.policy import Policy
from ledger.store.alerts.outbox import Page, claim_page, mark_delivered, settle, take_pages

POLICY = Policy()
CLAIM = 60.0
Connection = AsyncConnection[Any]


@asynccontextmanager
async def connected(conninfo: str) -> AsyncIterator[Connection]:
    """A connection as the pager has it."""
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        yield connection


def with_connection(conninfo: str, steps: Callable[[Connection], Awaitable[None]]) -> None:
    """Run a test's steps on one connection."""

    async def run() -> None:
        async with connected(conninfo) as connection:
            await steps(connection)

    asyncio.run(run())


async def leaving(connection: Connection) -> Page | None:
    """The next page that leaves now, claimed; None where everything waits."""
    await take_pages(connection, POLICY)
    return await claim_page(connection, CLAIM)


async def delivered(connection: Connection, page: Page | None, *targets: str) -> Page:
    """The page, after these targets had it and it is done."""
    assert page is not None
    for target in targets or ("t1",):
        await mark_delivered(connection, page, target)
    await settle(connection, page, None)
    return page


def keys(page: Page | None) -> list[str]:
    """The dedupe keys of a page's alerts."""
    assert page is not None
    return [alert.dedupe_key for alert in page.alerts]
