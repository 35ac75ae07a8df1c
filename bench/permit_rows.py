"""Rows about `POST /v1/permits`, against an endpoint with the same models but without logic."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bench.bulk_rows import reminders
from bench.fill import Client, Teller
from bench.load import Load, Stream
from bench.ratio import Comparison, Sample
from bench.stand import Stand

REMINDER = '{"kind":"reminder","invoices":["b{n}"],"stage":"day-3"}'
REPLY = (
    '{"kind":"reply","thread_id":"t-{n}","in_reply_to":"<in-{n}@example.com>","message":'
    '{"thread_id":"t-{n}","message_id":"<in-{n}@example.com>","direction":"inbound",'
    '"from":"person-{n}@example.com","to":"billing@example.org"}}'
)
MIX = (
    REMINDER,
    REPLY,
    '{"kind":"notification","customer_id":"n-{n}","event_type":"shipped","event_id":"order-{n}"}',
    '{"kind":"reminder","invoices":["b-known"],"stage":"day-3"}',
    '{"kind":"message","thread_id":"m-{n}","intent":"refund_notice","to":"m-{n}@example.com"}',
    '{"kind":"payment_failed","invoice_id":"b{n}","event_id":"evt-{n}"}',
    '{"kind":"notification","customer_id":"n-{n}","event_type":"shipped","event_id":"order-{n}"}',
    '{"kind":"digest","customer_id":"d-{n}","inbox_id":"inbox-1","date":"2026-12-04"}',
)
"""Eight requests of six kinds, of which two are repeats: a known reminder, and a retry."""

_REPEATS_IN_MIX = 0.25
_CONNECTIONS = 64
_TRIES = 4
_TOLERANCE = 0.15
_REPEATED = 1000


@dataclass(frozen=True, slots=True)
class Distinct:
    """How a row is measured whose requests are all new.

    `tell` prepares the ledger for this many numbers and returns the first of them; `serve` loads
    the ledger with a stream. `refused` is the share of the requests that must be denied.
    """

    templates: tuple[str, ...]
    tell: Callable[[int], int]
    serve: Callable[[Stream], tuple[Load, Sample]]
    connections: int = _CONNECTIONS
    share: float = 1.0
    """The throughput to expect, as a share of that of 64 connections."""
    idempotency: bool = False
    refused: float = 0.0

    def compare(self, stand: Stand) -> Comparison:
        """Measure both sides alternately, with the same requests in a round."""
        streams: dict[int, Stream] = {}

        def stream(number: int) -> Stream:
            if number not in streams:
                most = int(stand.pace.seconds * stand.most_per_second * self.share)
                first = self.tell(most // len(self.templates))
                streams[number] = Stream(self.templates, first, idempotency=self.idempotency)
            return streams[number]

        def ours(number: int) -> Sample:
            for _ in range(_TRIES):
                load, sample = self.serve(stream(number))
                if abs(load.refused / load.requests - self.refused) <= self.refused * _TOLERANCE:
                    return sample
                del streams[number]
                stand.most_per_second += stand.most_per_second // 4
            raise RuntimeError(
                f"{load.refused} of {load.requests} were refused, not {self.refused:.0%}"
            )

        def baseline(number: int) -> Sample:
            return stand.load(stand.empty, stream(number), self.connections)[1]

        return stand.alternate(ours, baseline)


def permits(stand: Stand, idempotency: bool = False) -> Comparison:
    """Reminders for invoices that were posted right before, and so are in the engine's cache."""

    def serve(stream: Stream) -> tuple[Load, Sample]:
        return stand.load(stand.ledger, stream, _CONNECTIONS)

    distinct = Distinct((REMINDER,), lambda n: _told(stand, n), serve, idempotency=idempotency)
    return distinct.compare(stand)


def permits_keyed(stand: Stand) -> Comparison:
    """The same, each request with its own Idempotency-Key."""
    return permits(stand, idempotency=True)


def permits_cold(stand: Stand) -> Comparison:
    """The same with a service that was just started: its cache is empty."""
    conninfo = stand.own_database()

    def tell(count: int) -> int:
        first = stand.numbers(count)
        with stand.own_ledger(conninfo=conninfo) as server:
            Teller(server.url, server.key).invoices(first, count)
        return first

    def serve(stream: Stream) -> tuple[Load, Sample]:
        with stand.own_ledger(conninfo=conninfo) as server:
            return stand.load(server, stream, _CONNECTIONS)

    return Distinct((REMINDER,), tell, serve).compare(stand)


def latency(stand: Stand) -> Comparison:
    """The median response time with one connection, in milliseconds."""

    def serve(stream: Stream) -> tuple[Load, Sample]:
        return stand.load(stand.ledger, stream, 1)

    row = Distinct((REMINDER,), lambda n: _told(stand, n), serve, connections=1, share=0.25)
    found = row.compare(stand)
    return replace(found, pairs=[pair.of(lambda sample: sample.p50_ms) for pair in found.pairs])


def replies(stand: Stand) -> Comparison:
    """Replies to unknown people; each request embeds the inbound message."""

    def serve(stream: Stream) -> tuple[Load, Sample]:
        return stand.load(stand.ledger, stream, _CONNECTIONS)

    return Distinct((REPLY,), stand.numbers, serve).compare(stand)


def denials(stand: Stand) -> Comparison:
    """Repeats of 1,000 reminders that were granted before."""
    first = _told(stand, _REPEATED)
    client = Client(stand.ledger.url, stand.ledger.key)
    text = client.expect(200, "POST", "/v1/permits/batch", reminders(first, _REPEATED))
    client.close()
    if text.count(b'"status":201') != _REPEATED:
        raise RuntimeError("a reminder that is to be repeated was not granted")
    stream = Stream((REMINDER,), first, wrap=_REPEATED)

    def ours(_: int) -> Sample:
        load, sample = stand.load(stand.ledger, stream, _CONNECTIONS)
        if load.refused != load.requests:
            raise RuntimeError(f"{load.requests - load.refused} repeats were granted")
        return sample

    return stand.alternate(ours, lambda _: stand.load(stand.empty, stream, _CONNECTIONS)[1])


def mixed(stand: Stand) -> Comparison:
    """A mix of kinds; a quarter of the requests must be denied."""
    known = stand.numbers(1)
    stand.teller.invoices(known, 1, prefix="b-known")
    mix = tuple(template.replace("b-known", f"b-known{known}") for template in MIX)
    client = Client(stand.ledger.url, stand.ledger.key)
    client.expect(201, "POST", "/v1/permits", mix[3].encode())
    client.close()

    def serve(stream: Stream) -> tuple[Load, Sample]:
        return stand.load(stand.ledger, stream, _CONNECTIONS)

    return Distinct(mix, lambda n: _told(stand, n), serve, refused=_REPEATS_IN_MIX).compare(stand)


def _told(stand: Stand, count: int) -> int:
    """Post this many invoices; returns the number of the first."""
    first = stand.numbers(count)
    stand.teller.invoices(first, count)
    return first
