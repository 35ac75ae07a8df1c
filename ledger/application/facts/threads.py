"""Threads, and the names under which their messages are known."""

from collections.abc import Iterable

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.addresses import ensure_customer
from ledger.application.world import World
from ledger.domain.permit import Permit
from ledger.domain.thread import NOBODY, Thread


def start_thread(world: World, outcome: Outcome, thread_id: str, customer_id: str) -> None:
    """Register a thread of this customer; one that nobody owned yet becomes theirs."""
    if customer_id != NOBODY:
        ensure_customer(world, outcome, customer_id)
    if world.thread(thread_id) is not None:
        outcome.change("thread", thread_id, Thread.Moved, customer_id=customer_id)
        return
    outcome.register(
        "thread",
        thread_id,
        Thread.Created,
        Thread.TOPIC,
        thread_id=thread_id,
        customer_id=customer_id,
    )


def owned_thread(world: World, thread_id: str) -> Thread | None:
    """The thread of that id, None where nobody has told yet whose it is."""
    thread = world.thread(thread_id)
    return thread if thread is not None and thread.customer_id != NOBODY else None


def message_named(world: World, name: str) -> str:
    """The name under which replies to a message are on record; one that nobody knows stays."""
    return world.name("message_alias", name) or name


def home_of(world: World, name: str, thread_id: str) -> str | None:
    """The thread that a message of this name is on record in, None for one that nobody knows.

    It is the first thread that named it, but for another person's message of the same name in the
    thread asked about.
    """
    first = world.name("message", name)
    if first is None or first == thread_id:
        return first
    thread = world.thread(thread_id)
    if thread is not None and message_named(world, name) in thread.heard:
        return thread_id
    return first


def alias_message(outcome: Outcome, names: Iterable[str], message_id: str, thread_id: str) -> None:
    """Let replies that give one of these names be replies to that message."""
    for name in names:
        outcome.names.append(NameClaim("message", name, thread_id))
        outcome.names.append(NameClaim("message_alias", name, message_id))


def permit_named(world: World, message_id: str) -> Permit | None:
    """The permit whose mail has this Message-ID: one of ours, or one that its sender reported."""
    permit_id = world.identity.permit_of(message_id) or world.name("sent_message", message_id)
    return world.permit(permit_id) if permit_id else None
