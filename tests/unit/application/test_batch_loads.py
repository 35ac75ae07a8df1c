"""However many commands a batch has, it asks the store a few times: nothing is loaded singly."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ledger.application.commands import ApplyFact, ReportOutcome, RequestPermit
from ledger.application.engine import Engine
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import Fact, FactData
from ledger.application.ports import Loaded, Need
from ledger.domain.policy import Policy
from tests.support.build import (
    CALLERS,
    IDENTITY,
    POLLER,
    address,
    at,
    customer,
    digest,
    follow_up,
    intent,
    invoice,
    message,
    notification,
    observed_send,
    payment_failed,
    reminder,
    reply,
)
from tests.support.memory import MemorySession, MemoryStore

NOW = at("2026-12-04T09:00:00Z")
FEW, MANY = 3, 30


class Counting(MemorySession):
    """Counts how often something is loaded."""

    loads = 0

    async def load(self, need: Need) -> Loaded:
        """One look at the store."""
        self.loads += 1
        return await super().load(need)


def fact(data: FactData, number: int) -> ApplyFact:
    """A fact with an id of its own."""
    return ApplyFact(Fact(data, "stripe", f"evt_{number}", NOW), POLLER)


def asked(command: RequestPermit, number: int) -> RequestPermit:
    """A request with a decision id of its own."""
    return replace(command, decision_id=f"00000000-0000-4000-8000-{number:012}")


def permit_of(number: int) -> str:
    """The id of the permit that `granted` gives to this customer."""
    return f"00000000-0000-4000-8000-{number:012}"


def known(number: int) -> list[Any]:
    """What the ledger heard of one customer before: an invoice past due and a thread."""
    owed = invoice(f"inv_{number}", f"cus_{number}", email=f"p{number}@x.example")
    thread = message(f"<m{number}@x.example>", f"thr_{number}", f"cus_{number}")
    return [fact(owed, 3 * number), fact(thread, 3 * number + 1)]


def granted(number: int) -> list[Any]:
    """A reminder that was handed over beside that."""
    return [*known(number), asked(reminder(f"inv_{number}"), number)]


def _alias(n: int) -> Any:
    told = message(f"msg_{n}", f"thr_{n}", None, sender=f"q{n}@x.example")
    return replace(told, aliases=(f"<h{n}@x.example>",))


def _notice(event: int, customer_id: str | None, box: str) -> RequestPermit:
    return notification(f"o{event}", customer=customer_id, to=f"{box}@x.example")


COMMANDS: dict[str, tuple[Callable[[int], list[Any]], Callable[[int], Any]]] = {
    "a new invoice": (lambda n: [], lambda n: fact(invoice(f"n{n}", f"c{n}"), n)),
    "a known invoice": (known, lambda n: fact(invoice(f"inv_{n}", f"cus_{n}", owes=5), -n)),
    "an invoice without a customer": (
        lambda n: [],
        lambda n: fact(invoice(f"n{n}", None, email=f"s{n}@x.example"), n),
    ),
    "an address": (known, lambda n: fact(customer(f"cus_{n}", f"r{n}@x.example"), -n)),
    "a new thread": (lambda n: [], lambda n: fact(_alias(n), n)),
    "a known message again": (known, lambda n: fact(known(n)[1].fact.data, -n)),
    "a send past the ledger": (
        known,
        lambda n: fact(observed_send("2026-12-04", f"cus_{n}", f"inv_{n}"), -n),
    ),
    "a delivery that comes early": (
        lambda n: [],
        lambda n: fact(Delivery("ses", "bounced", f"pm_{n}", f"<x{n}@x.example>"), n),
    ),
    "a delivery by our id": (
        granted,
        lambda n: fact(Delivery("ses", "bounced", f"pm_{n}", None, permit_of(n)), -n),
    ),
    "an outcome": (
        granted,
        lambda n: ReportOutcome(permit_of(n), "sent", POLLER, "ses", f"pm_{n}", f"<x{n}@x>"),
    ),
    "a reminder": (known, lambda n: asked(reminder(f"inv_{n}"), n)),
    "a failed payment": (known, lambda n: asked(payment_failed(f"e{n}", None, f"inv_{n}"), n)),
    "a notice": (known, lambda n: asked(notification("o", customer=f"cus_{n}"), n)),
    "a notice to somebody new": (
        lambda n: [],
        lambda n: asked(notification("o", customer=f"new_{n}"), n),
    ),
    "a notice to an address": (known, lambda n: asked(_notice(n, None, f"p{n}"), n)),
    "a notice to a customer's address": (
        known,
        lambda n: asked(_notice(n, f"cus_{n}", f"p{n}"), n),
    ),
    "a notice to another address": (known, lambda n: asked(_notice(n, f"cus_{n}", f"o{n}"), n)),
    "a notice to somebody new at an address": (
        lambda n: [],
        lambda n: asked(_notice(n, f"new_{n}", f"o{n}"), n),
    ),
    "a notice to who was known by the address": (
        lambda n: [asked(_notice(0, None, f"o{n}"), 1000 + n)],
        lambda n: asked(_notice(1, f"new_{n}", f"o{n}"), n),
    ),
    "a digest": (known, lambda n: asked(digest(customer=f"cus_{n}"), n)),
    "a reply": (known, lambda n: asked(reply(f"<m{n}@x.example>", f"thr_{n}"), n)),
    "a follow-up": (known, lambda n: asked(follow_up(1, f"thr_{n}"), n)),
    "a message": (known, lambda n: asked(intent("refund", f"thr_{n}"), n)),
}


def loads(before: Sequence[Any], commands: Sequence[Any]) -> int:
    """How often the store is asked for these commands in one batch, with an empty cache."""

    async def run() -> int:
        store = MemoryStore(NOW, keys=frozenset(caller.key_id for caller in CALLERS))
        if before:
            await _decided(Engine(MemorySession(store), Policy(), IDENTITY), before)
        session = Counting(store)
        answers = await _decided(Engine(session, Policy(), IDENTITY), commands)
        assert {answer.status for answer in answers} <= {200, 201}
        return session.loads

    return asyncio.run(run())


async def _decided(engine: Engine, commands: Sequence[Any]) -> list[Any]:
    await engine.start()
    answers = await engine.submit_all(commands)
    await engine.stop()
    return answers


@pytest.mark.parametrize("name", COMMANDS)
def test_a_batch_of_many_asks_as_often_as_one_of_few(name: str) -> None:
    history, command = COMMANDS[name]
    few, many = (
        loads([step for n in range(n_of) for step in history(n)], [command(n) for n in range(n_of)])
        for n_of in (FEW, MANY)
    )
    assert (few, many) == (few, few)
    assert few <= 5


def test_the_addresses_are_those_that_the_commands_name() -> None:
    """The builders give one address one fingerprint, so that the counts above mean something."""
    assert address("p1@x.example").fingerprint != address("p2@x.example").fingerprint
