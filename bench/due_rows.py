"""Rows about `GET /v1/due`: a page of 100 with many open invoices, against a page with few.

1,000 invoices of 500 customers are posted as facts and some of them reminded; then the rows of the
read models are copied under other ids. The log does not have the copies, since no page reads it.
"""

import asyncio
import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import psycopg

from bench.fill import Client, Teller, days_ago, invoice_observed
from bench.ratio import Comparison, Sample
from bench.servers import SQL, Server
from bench.stand import Stand
from projections.generations import entered

CUSTOMERS = 500
_DUE_CUSTOMERS = 20
_REMINDED_CUSTOMERS = 150
_PER_CUSTOMER = 2
_FEW, _MANY, _MANY_WHEN_QUICK = 10, 1_000, 100
_PAGE = "/v1/due?limit=100"
_REQUESTS, _REQUESTS_WHEN_QUICK = 150, 40


class DueLedgers:
    """Two ledgers that differ in how many open invoices they have."""

    def __init__(self, stand: Stand) -> None:
        self.few = _filled(stand, _FEW)
        self.many = _filled(stand, stand.pace.size(_MANY, _MANY_WHEN_QUICK))

    @property
    def note(self) -> str:
        """A note on how the ledgers were filled."""
        return "the read models hold copies of 1,000 real invoices; 4% of all customers are due"


def first_page(stand: Stand) -> Comparison:
    """The first page of 100, in milliseconds (median)."""
    return _compare(stand, lambda client: _PAGE)


def last_page(stand: Stand) -> Comparison:
    """The last full page of 100, read by its cursor."""
    return _compare(stand, _last_page)


def _compare(stand: Stand, path: Callable[[Client], str]) -> Comparison:
    ledgers = stand.once(DueLedgers)
    count = stand.pace.size(_REQUESTS, _REQUESTS_WHEN_QUICK)
    paths = {}
    for server in (ledgers.few, ledgers.many):
        client = Client(server.url, server.key)
        paths[server.url] = path(client)
        for _ in range(20):
            client.expect(200, "GET", paths[server.url])
        client.close()

    def take(server: Server) -> Sample:
        client = Client(server.url, server.key)
        with stand.counted(server) as cost:
            times = [_timed(client, paths[server.url]) for _ in range(count)]
        client.close()
        return cost.sample(median(times) * 1000, count)

    return stand.alternate(
        lambda _: take(ledgers.many), lambda _: take(ledgers.few), (ledgers.note,)
    )


def _timed(client: Client, path: str) -> float:
    started = time.perf_counter()
    text = client.expect(200, "GET", path)
    seconds = time.perf_counter() - started
    if text.count(b'"customer_id"') != 100:
        raise RuntimeError("a page of what is due does not hold 100 customers")
    return seconds


def _last_page(client: Client) -> str:
    path = found = _PAGE
    while True:
        page = json.loads(client.expect(200, "GET", path))
        if len(page["items"]) == 100:
            found = path
        if page["next"] is None:
            return found
        path = f"{_PAGE}&cursor={page['next']}"


def _filled(stand: Stand, copies: int) -> Server:
    server = stand.enter(stand.own_ledger())
    teller = Teller(server.url, server.key)
    teller.facts([_seed(n) for n in range(CUSTOMERS * _PER_CUSTOMER)])
    client = Client(server.url, server.key)
    reminded = range(_DUE_CUSTOMERS, _DUE_CUSTOMERS + _REMINDED_CUSTOMERS)
    asked = [{"kind": "reminder", "invoices": [f"i{c}"], "stage": "day-3"} for c in reminded]
    body = json.dumps({"requests": asked}).encode()
    text = client.expect(200, "POST", "/v1/permits/batch", body)
    if text.count(b'"status":201') != _REMINDED_CUSTOMERS:
        raise RuntimeError("a reminder of the seed was not granted")
    client.expect(200, "GET", _PAGE)
    client.close()
    asyncio.run(_copy(server.conninfo, copies))
    with psycopg.connect(server.conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
    return server


def _seed(n: int) -> dict[str, Any]:
    """The fact of the n-th invoice: those of the first customers are past due, others not yet."""
    customer = n % CUSTOMERS
    past = n < _DUE_CUSTOMERS + _REMINDED_CUSTOMERS
    due = days_ago(3 + n % 4 if past else -(1 + n % 60))
    return invoice_observed(f"i{n}", f"c{customer}", due)


async def _copy(conninfo: str, copies: int) -> None:
    connection: psycopg.AsyncConnection[Any]
    connection = await psycopg.AsyncConnection.connect(conninfo, autocommit=True)
    async with connection, entered(connection):
        for table in ("contacts", "customers", "mails", "invoices"):
            text = (SQL / "due" / f"{table}.sql").read_bytes()
            await connection.execute(text, {"copies": copies})
