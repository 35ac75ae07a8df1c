"""Rows about many decisions in one call, against hand-written SQL with a transaction per send."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

from bench.fill import Client, Teller
from bench.handwritten import Handwritten
from bench.ratio import Comparison, Sample
from bench.servers import Server
from bench.stand import Stand, Take

_PER_CALL = 500
_CONNECTIONS = 4
_GRANTED = b'"status":201'
_CLAIM_SECONDS = 60.0


def batch(stand: Stand) -> Comparison:
    """`POST /v1/permits/batch`: reminders for distinct invoices, 500 a call, 4 connections."""
    return _batch(stand, stand.once(Handwritten).by_psycopg)


def batch_pgbench(stand: Stand) -> Comparison:
    """The row `batch` against pgbench."""
    return _batch(stand, stand.once(Handwritten).by_pgbench)


def _batch(stand: Stand, by_hand: Take) -> Comparison:
    count = stand.pace.size(20_000, 4_000)

    def ours(_: int) -> Sample:
        first = stand.numbers(count)
        stand.teller.invoices(first, count)
        return decide_batches(stand, stand.ledger, first, count)

    return stand.alternate(ours, by_hand)


def claim(stand: Stand) -> Comparison:
    """`POST /v1/due/claim`, 500 customers a call, 4 connections: permits granted."""
    return _claim(stand, _CONNECTIONS)


def claim_alone(stand: Stand) -> Comparison:
    """The row `claim` with one poller, which sends the next request after each answer."""
    return _claim(stand, 1)


def _claim(stand: Stand, connections: int) -> Comparison:
    by_hand = stand.once(Handwritten).by_psycopg
    count = stand.pace.size(20_000, 4_000)
    with stand.own_ledger() as server:
        teller = Teller(server.url, server.key)

        def ours(_: int) -> Sample:
            teller.invoices(stand.numbers(count), count)
            return claim_all(stand, server, count, connections)

        return stand.alternate(ours, by_hand)


def reminders(first: int, count: int) -> bytes:
    """The body of a batch of reminders for invoices `b<n>`."""
    asked = [
        {"kind": "reminder", "invoices": [f"b{n}"], "stage": "day-3"}
        for n in range(first, first + count)
    ]
    return json.dumps({"requests": asked}).encode()


def decide_batches(stand: Stand, server: Server, first: int, count: int) -> Sample:
    """Decisions per second. Raises RuntimeError where one of them is not a grant."""
    bodies = [reminders(n, _PER_CALL) for n in range(first, first + count, _PER_CALL)]

    def ask(mine: list[bytes]) -> int:
        client = Client(server.url, server.key)
        texts = [client.expect(200, "POST", "/v1/permits/batch", body) for body in mine]
        client.close()
        return sum(text.count(_GRANTED) for text in texts)

    with stand.counted(server) as cost, ThreadPoolExecutor(_CONNECTIONS) as pool:
        started = time.perf_counter()
        granted = sum(pool.map(ask, [bodies[n::_CONNECTIONS] for n in range(_CONNECTIONS)]))
        seconds = time.perf_counter() - started
    if granted != count:
        raise RuntimeError(f"{count - granted} of {count} were refused, none should be")
    return cost.sample(count / seconds, count)


def claim_all(stand: Stand, server: Server, count: int, connections: int = _CONNECTIONS) -> Sample:
    """Permits per second until all due invoices are claimed. Raises RuntimeError."""
    body = json.dumps({"limit": _PER_CALL}).encode()
    counts: list[int] = []

    def ask(_: int) -> None:
        client = Client(server.url, server.key)
        while sum(counts) < count:
            text = client.expect(200, "POST", "/v1/due/claim", body)
            counts.append(text.count(b'"state":"granted"'))
            if time.perf_counter() - started > _CLAIM_SECONDS:
                break
        client.close()

    with stand.counted(server) as cost, ThreadPoolExecutor(connections) as pool:
        started = time.perf_counter()
        list(pool.map(ask, range(connections)))
        seconds = time.perf_counter() - started
    granted = sum(counts)
    if granted != count:
        raise RuntimeError(f"{granted} of {count} were claimed")
    return cost.sample(granted / seconds, granted)
