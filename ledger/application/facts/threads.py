"""Threads, and the names under which their messages are known."""

from collections.abc import Iterable

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.addresses import ensure_customer
from ledger.application.world import World
from ledger.domain.thread import Thread


def start_thread(world: World, outcome: Outcome, thread_id: str, customer_id: str) -> None:
    """Register a thread of this customer."""
    ensure_customer(world, outcome, customer_id)
    outcome.register(
        "thread",
        thread_id,
        Thread.Created,
        Thread.TOPIC,
        thread_id=thread_id,
        customer_id=customer_id,
    )


def message_named(world: World, name: str) -> str:
    """The name under which replies to a message are on record; one that nobody knows stays."""
    return world.name("message_alias", name) or name


def alias_message(outcome: Outcome, names: Iterable[str], message_id: str, thread_id: str) -> None:
    """Let replies that give one of these names be replies to that message."""
    for name in names:
        outcome.names.append(NameClaim("message", name, thread_id))
        outcome.names.append(NameClaim("message_alias", name, message_id))
