"""`python -m bench.ready_cost`: what the query behind a claim takes, by itself.

5,000 customers are due with an invoice each, and the first 250 who can be mailed are asked for many
times over one connection. The least time hardly depends on what else the machine does.
"""

import asyncio
import time
from contextlib import ExitStack
from datetime import UTC, datetime

import click
from psycopg import AsyncConnection

from bench.fill import Teller
from bench.servers import settle
from bench.stand import FULL, open_stand
from ledger.domain.policy import Policy
from projections.due import ready

_CUSTOMERS, _A_SLICE, _TIMES = 5_000, 250, 60


async def _least(conninfo: str) -> float:
    """The least time of a query in seconds."""
    least = float("inf")
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        for _ in range(_TIMES):
            started = time.perf_counter()
            page = await ready(connection, now=datetime.now(UTC), policy=Policy(), limit=_A_SLICE)
            least = min(least, time.perf_counter() - started)
            if len(page.items) != _A_SLICE:
                raise RuntimeError(f"{len(page.items)} customers are ready")
    return least


@click.command()
def main() -> None:
    """Print the microseconds a customer."""
    with open_stand(FULL) as stand, ExitStack() as stack:
        server = stack.enter_context(stand.own_ledger())
        Teller(server.url, server.key).invoices(stand.numbers(_CUSTOMERS), _CUSTOMERS)
        settle(server.conninfo)
        seconds = asyncio.run(_least(server.conninfo))
    click.echo(f"{seconds / _A_SLICE * 1e6:.1f} microseconds a customer of a claim")


if __name__ == "__main__":
    main()
