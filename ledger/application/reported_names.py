"""What a sender's report may call its mail: one Message-ID and one id of the provider (D6).

Deliveries, references and replies are found by these names. Whoever could give a mail the name of
another one would draw what is said of that to its own permit, and keep its reply from being sent.
"""

from ledger.application.commands import ReportOutcome
from ledger.application.effects import Outcome
from ledger.application.facts.threads import message_named
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.permit import Permit

NOT_KEPT = "reported-id-not-kept"
"""The warning of an answer to a report whose outcome was taken, and an id of it was not."""


def load_reported(walk: Walk, command: ReportOutcome) -> None:
    """Walk to what the ids of the report are the names of already."""
    if command.message_id is not None:
        walk.name("early_delivery", command.message_id)
        walk.name("sent_message", command.message_id)
        walk.name("message", command.message_id)
        walk.name("message_alias", command.message_id)
    if command.provider_message_id is not None:
        walk.name("early_delivery", command.provider_message_id)
        walk.name("provider_message", command.provider_message_id)


def ids_to_keep(
    world: World, outcome: Outcome, permit: Permit, command: ReportOutcome
) -> tuple[str | None, str | None]:
    """The provider's id and the Message-ID of a report; None for one that is not its mail's.

    The answer warns of it. A permit keeps the first of each that it was told; the name of another
    permit's mail, of a message that came in, or of one to another customer stays theirs. Raises
    NotLoaded.
    """
    provider_id: str | None = command.provider_message_id
    if provider_id is not None and not _may_have(world, permit, provider_id):
        provider_id = None
    message_id: str | None = command.message_id
    if message_id is not None and not _may_name(world, permit, message_id):
        message_id = None
    if (provider_id, message_id) != (command.provider_message_id, command.message_id):
        outcome.warnings.append(NOT_KEPT)
    return provider_id, message_id


def _may_have(world: World, permit: Permit, provider_id: str) -> bool:
    """May the permit's mail have this id of the provider?"""
    if permit.provider_message_id not in (None, provider_id):
        return False
    return world.name("provider_message", provider_id) in (None, permit.permit_id)


def _may_name(world: World, permit: Permit, message_id: str) -> bool:
    """May the permit's mail have this Message-ID: is it our own of the permit, or nobody's yet?"""
    if permit.message_id not in (None, message_id):
        return False
    proved = world.identity.permit_of(message_id)
    if proved is not None:
        return proved == permit.permit_id
    owner_id = world.name("sent_message", message_id)
    if owner_id is not None:
        return owner_id == permit.permit_id
    thread_id = world.name("message", message_id)
    return thread_id is None or _went_out(world, permit, message_id, thread_id)


def _went_out(world: World, permit: Permit, message_id: str, thread_id: str) -> bool:
    """Did the message go out to the permit's customer? It is its mail, told before its report."""
    thread = world.thread(thread_id)
    message = thread.messages.get(message_named(world, message_id)) if thread is not None else None
    if thread is None or message is None or message.direction == "inbound":
        return False
    return world.customer(thread.customer_id) is world.customer(permit.customer_id)
