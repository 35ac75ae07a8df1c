"""The row about memory: resident size after many decisions, against after a sixth of them."""

import json
import time

from bench.fill import Client
from bench.machine import resident_bytes
from bench.ratio import Comparison, Pair, Sample
from bench.servers import Server
from bench.stand import Stand

_PER_CALL = 500
_FEW, _MANY = 50_000, 300_000
_FEW_WHEN_QUICK, _MANY_WHEN_QUICK = 2_000, 8_000
_LEAST_SECONDS, _MOST_SECONDS = 20.0, 200.0


def memory(stand: Stand) -> Comparison:
    """The service's memory in MiB after batches of messages in distinct threads to new customers.

    Stops after 200 seconds, or when the run's time is up; a note has the number of decisions.
    """
    few = stand.pace.size(_FEW, _FEW_WHEN_QUICK)
    many = stand.pace.size(_MANY, _MANY_WHEN_QUICK)
    give_up = time.monotonic() + min(_MOST_SECONDS, max(stand.seconds_left, _LEAST_SECONDS))
    with stand.own_ledger() as server:
        first = _decide(server, 0, few, give_up)
        before = _resident(stand, server)
        last = _decide(server, first, many, give_up)
        after = _resident(stand, server)
    note = f"after {last:,} decisions, baseline after {first:,}"
    return Comparison([Pair(Sample(after, last), Sample(before, first))], [note])


def _decide(server: Server, done: int, upto: int, give_up: float) -> int:
    """Send batches up to this number of decisions, or until time is up; returns the number."""
    client = Client(server.url, server.key)
    while done < upto and time.monotonic() < give_up:
        asked = [
            {"kind": "message", "thread_id": f"t-{n}", "intent": "i", "customer_id": f"c-{n}"}
            for n in range(done, done + _PER_CALL)
        ]
        body = json.dumps({"requests": asked}).encode()
        text = client.expect(200, "POST", "/v1/permits/batch", body)
        if text.count(b'"status":201') != _PER_CALL:
            raise RuntimeError("a message was not granted")
        done += _PER_CALL
    client.close()
    return done


def _resident(stand: Stand, server: Server) -> float:
    with stand.counted(server):
        return resident_bytes(server.pid) / 2**20
