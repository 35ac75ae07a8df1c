"""Rows about the Python client: what `with ledger.permit…` costs a sender beside bare calls."""

import json
import time
from collections.abc import Callable
from statistics import median

from sendledger import Ledger

from bench.fill import Client
from bench.ratio import Comparison, Sample
from bench.stand import Stand


def client(stand: Stand) -> Comparison:
    """A notification asked for, redeemed and reported by the client, one after the other."""

    def ours(_: int) -> Sample:
        with Ledger(stand.ledger.url, stand.ledger.key) as ledger:

            def send(number: int) -> None:
                name = f"client-{number}"
                with ledger.permit.notification(
                    event_type="bench", event_id=name, customer_id=name, to=f"{name}@example.com"
                ) as permit:
                    permit.sent()

            return _timed(stand, send)

    def bare(_: int) -> Sample:
        calls = Client(stand.ledger.url, stand.ledger.key)
        try:
            return _timed(stand, lambda number: _by_hand(calls, number))
        finally:
            calls.close()

    return stand.alternate(ours, bare)


def _by_hand(calls: Client, number: int) -> None:
    """The three requests that the client makes, without its deadline, keys and checks."""
    name = f"client-{number}"
    asked = {
        "kind": "notification",
        "event_type": "bench",
        "event_id": name,
        "customer_id": name,
        "to": f"{name}@example.com",
    }
    permit = json.loads(calls.expect(201, "POST", "/v1/permits", json.dumps(asked).encode()))
    path = f"/v1/permits/{permit['permit_id']}"
    calls.expect(200, "POST", f"{path}/redeem", json.dumps({"attempt": name}).encode())
    calls.expect(200, "POST", f"{path}/outcome", b'{"outcome":"sent"}')


def _timed(stand: Stand, send: Callable[[int], None]) -> Sample:
    """The median time of a send in ms, while one program sends for as long as a load takes."""
    times: list[float] = []
    with stand.counted(stand.ledger) as cost:
        give_up = time.perf_counter() + stand.pace.seconds
        while time.perf_counter() < give_up:
            started = time.perf_counter()
            send(stand.numbers(1))
            times.append(time.perf_counter() - started)
    return cost.sample(median(times) * 1000.0, len(times))
