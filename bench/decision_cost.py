"""`python -m bench.decision_cost`: the CPU time of deciding a permit, without HTTP and database.

Reminders for invoices in memory are loaded, decided and encoded in batches, as the engine does it.
The least time of many batches hardly depends on what else the machine does, so that a change of
a microsecond shows.
"""

import asyncio
import gc
import itertools
import time
import uuid
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta

from api.contract.permits import PERMIT_REQUEST
from api.contract.translation import Translator
from ledger.application.batch import Work, open_work, prepare, run
from ledger.application.cache import AggregateCache
from ledger.application.caller import Caller
from ledger.application.commands import ApplyFact, Command, RequestPermit
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.ports import Batch, Head, Loaded, Need
from ledger.application.world import Identity
from ledger.domain.balance import Status
from ledger.domain.policy import Policy
from ledger.store.log.encoding import encode_batch

_BATCHES, _A_BATCH = 100, 32
_NOW = datetime(2026, 12, 6, 10, tzinfo=UTC)
_IDENTITY = Identity(b"a secret of the benchmark, 32 by.", "ledger.example")
_CALLER = Caller("key-poller", "poller", frozenset({"send", "facts"}))


class _Nothing:
    """A writer session of an empty database: all that a batch asks for is known not to exist."""

    async def load(self, _: Need) -> Loaded:
        return Loaded(_NOW)

    async def send_part(self, _: Batch) -> None:
        return None


@dataclass(slots=True)
class Cost:
    """Microseconds a permit: of loading, deciding, encoding, and keeping what was used."""

    load: float = float("inf")
    decide: float = float("inf")
    encode: float = float("inf")
    keep: float = float("inf")

    def take(self, *seconds: float) -> None:
        """Keep the least of each part; `seconds` are those of one batch."""
        for part, spent in zip(fields(self), seconds, strict=True):
            least = min(getattr(self, part.name), spent / _A_BATCH * 1e6)
            setattr(self, part.name, least)


def main() -> None:
    """Print the cost of each part, and of all."""
    cost = asyncio.run(measure())
    parts = {part.name: getattr(cost, part.name) for part in fields(cost)}
    told = ", ".join(f"{name} {spent:.1f}" for name, spent in parts.items())
    print(f"microseconds a permit: {sum(parts.values()):.1f} ({told})")


async def measure() -> Cost:
    """The least cost of a batch, the garbage collector aside."""
    cache, cost = AggregateCache(_BATCHES * _A_BATCH * 4), Cost()
    for number in range(_BATCHES):
        work, facts = _work(cache), [_told(n) for n in _numbers(number)]
        await prepare(work, facts)
        for fact in facts:
            await run(work, fact)
        cache.used(work.touched)
    gc.disable()
    for number in range(_BATCHES):
        work, asks = _work(cache), [_asked(n) for n in _numbers(number)]
        times = [time.process_time()]
        await prepare(work, asks)
        times.append(time.process_time())
        answers = [await run(work, ask) for ask in asks]
        times.append(time.process_time())
        encode_batch(work.batch, bytes(32))
        times.append(time.process_time())
        cache.used(work.touched)
        times.append(time.process_time())
        if any(answer.status != 201 for answer in answers):
            raise RuntimeError("a reminder was not granted")
        cost.take(*(after - before for before, after in itertools.pairwise(times)))
    gc.enable()
    return cost


def _numbers(batch: int) -> range:
    return range(batch * _A_BATCH, (batch + 1) * _A_BATCH)


def _work(cache: AggregateCache) -> Work:
    head = Head(10, bytes(32), _NOW, 0)
    return open_work(_Nothing(), cache, head, Policy(), "v1", _IDENTITY)  # type: ignore[arg-type]


def _told(number: int) -> Command:
    email = Translator(_IDENTITY).address(f"c{number}@example.com")
    snapshot = InvoiceObserved(
        invoice_id=f"b{number}",
        customer_id=f"c{number}",
        currency="USD",
        total=30_000,
        amount_remaining=30_000,
        status=Status.OPEN,
        email=email,
        due_on=date(2026, 12, 1),
        observed_at=_NOW - timedelta(hours=1),
    )
    return ApplyFact(Fact(snapshot, "billing", f"told-{number}"), _CALLER)


def _asked(number: int) -> Command:
    body = b'{"kind":"reminder","invoices":["b%d"],"stage":"day-3"}' % number
    subject = Translator(_IDENTITY).subject(PERMIT_REQUEST.validate_json(body))
    return RequestPermit(subject, _CALLER, str(uuid.uuid4()), body)


if __name__ == "__main__":
    main()
