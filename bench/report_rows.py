"""Rows about a permit's later life, against permits of the same service: redeem and outcome."""

import orjson

from bench.bulk_rows import reminders
from bench.fill import Client
from bench.load import Stream
from bench.permit_rows import REMINDER
from bench.ratio import Comparison, Sample
from bench.stand import Stand

_CONNECTIONS = 64
_A_CALL = 500
_ROOM = 2.0
"""A redeem or an outcome may be faster than a permit, and each needs a permit of its own."""


def outcome(stand: Stand) -> Comparison:
    """Outcomes of redeemed permits, each reported once."""
    return _compare(stand, "outcome", '{"outcome":"sent"}', redeemed=True)


def redeem(stand: Stand) -> Comparison:
    """Redeems of permits, each by an attempt of its own."""
    return _compare(stand, "redeem", '{"attempt":"a-{n}"}', redeemed=False)


def _compare(stand: Stand, what: str, body: str, redeemed: bool) -> Comparison:
    def ours(_: int) -> Sample:
        most = int(stand.pace.seconds * stand.most_per_second * _ROOM)
        ids = tuple(_granted(stand, most, redeemed))
        stream = Stream((body,), path=f"/v1/permits/{{id}}/{what}", ids=ids)
        load, sample = stand.load(stand.ledger, stream, _CONNECTIONS)
        if load.refused or load.requests > len(ids):
            raise RuntimeError(f"{load.requests} for {len(ids)} permits, {load.refused} refused")
        return sample

    def permits(_: int) -> Sample:
        most = int(stand.pace.seconds * stand.most_per_second * _ROOM)
        first = stand.numbers(most)
        stand.teller.invoices(first, most)
        load, sample = stand.load(stand.ledger, Stream((REMINDER,), first), _CONNECTIONS)
        if load.refused:
            raise RuntimeError(f"{load.refused} of {load.requests} permits were refused")
        return sample

    return stand.alternate(ours, permits)


def _granted(stand: Stand, count: int, redeemed: bool) -> list[str]:
    """The ids of this many permits for reminders, redeemed at once or not."""
    first = stand.numbers(count)
    stand.teller.invoices(first, count)
    client = Client(stand.ledger.url, stand.ledger.key)
    found: list[str] = []
    for start in range(first, first + count, _A_CALL):
        body = orjson.loads(reminders(start, min(_A_CALL, first + count - start)))
        for asked in body["requests"]:
            asked["redeem"] = redeemed
        text = client.expect(200, "POST", "/v1/permits/batch", orjson.dumps(body))
        found += [each["permit"]["permit_id"] for each in orjson.loads(text)["results"]]
    client.close()
    return found
