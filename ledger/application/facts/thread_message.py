"""`thread.message`: a message of a thread, from either side."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.addresses import (
    claim_address,
    customer_of_address,
    ensure_customer,
    unite,
)
from ledger.application.facts.delivered_mail import mark_bounced, sent_after_end
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.threads import alias_message, message_named, start_thread
from ledger.application.permit_settlement import settle
from ledger.application.recovery import note_unknown_permit
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address, known_by_address
from ledger.domain.permit import FREED, Permit, State
from ledger.domain.thread import Message, Thread


@dataclass(frozen=True, slots=True)
class ThreadMessage(FactData):
    """A message of a thread; `automatic` says why it is not a person's, `ours` that we sent it.

    `aliases` are other names of the same message: a mail system's own id beside the Message-ID.
    """

    thread_id: str
    message_id: str
    direction: str
    sender: Address | None
    recipient: Address | None
    customer_id: str | None
    at: datetime | None
    automatic: str | None
    ours: str | None
    references: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


class ThreadMessageType(FactType[ThreadMessage]):
    """Messages of threads."""

    data = ThreadMessage

    def load(self, walk: Walk, data: ThreadMessage) -> None:
        """The thread, the message by all its names, and whose its addresses are."""
        walk.aggregate("thread", data.thread_id)
        for name in (data.message_id, *data.aliases):
            walk.name("message", name)
            walk.name("message_alias", name)
            walk.name("sent_message", name)
        walk.owner(data.customer_id, _correspondent(data))
        walk.claims(tuple(a for a in (data.sender, data.recipient) if a))

    def permits(self, world: World, data: ThreadMessage) -> Iterable[Permit | None]:
        """Those of the mails that a machine's message is about."""
        if data.automatic is None:
            return ()
        return [_permit_reported_on(world, reference) for reference in data.references]

    def apply(self, world: World, fact: Fact, data: ThreadMessage) -> Outcome:
        """Take a message of a thread in; a message id belongs to the first thread that named it.

        Under whichever of its names a message is told of first, that name is its own from then on.
        """
        outcome = Outcome(result="applied", thread_id=data.thread_id)
        names = tuple(dict.fromkeys((data.message_id, *data.aliases)))
        known = next((name for name in names if world.name("message", name) is not None), None)
        if known is not None:
            outcome.result = "duplicate"
            home = world.name("message", known) or data.thread_id
            alias_message(
                outcome, [n for n in names if n != known], message_named(world, known), home
            )
            _note_more(world, outcome, data, message_named(world, known), home)
            _note_correspondent(world, outcome, data)
            return outcome
        sent = (world.name("sent_message", name) for name in names)
        ours = data.ours or next(filter(None, sent), None)
        if data.ours is not None and world.permit(data.ours) is None:
            note_unknown_permit(world, outcome, data.ours, "a message of a thread")
        thread = world.thread(data.thread_id)
        if thread is None:
            customer_id = _customer_of_message(world, outcome, data)
            if customer_id is None:
                outcome.result = "rejected"
                outcome.body = {"detail": "the thread is new: name a customer_id, or from and to"}
                return outcome
            start_thread(world, outcome, data.thread_id, customer_id)
        elif data.customer_id is not None and data.customer_id != thread.customer_id:
            ensure_customer(world, outcome, data.customer_id)
            outcome.change("thread", data.thread_id, Thread.Moved, customer_id=data.customer_id)
            before = world.customer(thread.customer_id)
            if before is not None and known_by_address(before.customer_id):
                unite(world, outcome, data.customer_id, before)
        _note_correspondent(world, outcome, data)
        outcome.names.append(NameClaim("message", data.message_id, data.thread_id))
        alias_message(outcome, names[1:], data.message_id, data.thread_id)
        outcome.change(
            "thread",
            data.thread_id,
            Thread.MessageSeen,
            message_id=data.message_id,
            message=Message(data.direction, data.automatic, ours is not None),
            sender=data.sender.fingerprint if data.sender else None,
            recipient=data.recipient.fingerprint if data.recipient else None,
            seen_at=data.at or fact.time or world.now,
        )
        if data.automatic is not None and data.direction == "inbound":
            _note_report(world, outcome, data)
        return outcome


def _note_more(
    world: World, outcome: Outcome, data: ThreadMessage, message_id: str, home: str
) -> None:
    """Whoever tells that a known message is a machine's, or our own, is heard in any order."""
    thread = world.thread(home)
    seen = thread.messages.get(message_id) if thread is not None else None
    if seen is None:
        return
    outbound = "outbound" in (seen.direction, data.direction)
    told = Message(
        "outbound" if outbound else seen.direction,
        seen.automatic or data.automatic,
        seen.ours or data.ours is not None,
    )
    if told == seen:
        return
    outcome.result = "applied"
    outcome.change(
        "thread",
        home,
        Thread.MessageSeen,
        message_id=message_id,
        message=told,
        sender=data.sender.fingerprint if data.sender else None,
        recipient=data.recipient.fingerprint if data.recipient else None,
        seen_at=data.at or world.now,
    )


def _note_correspondent(world: World, outcome: Outcome, data: ThreadMessage) -> None:
    """A person's message that names its customer says whose the correspondent's address is (D9).

    A machine's sender is nobody's address, and that of our own mail coming back is ours.
    """
    address = _correspondent(data)
    if data.customer_id is None or address is None:
        return
    if data.automatic is not None or (data.ours is not None and data.direction == "inbound"):
        return
    ensure_customer(world, outcome, data.customer_id)
    claim_address(world, outcome, data.customer_id, address)


def _customer_of_message(world: World, outcome: Outcome, data: ThreadMessage) -> str | None:
    if data.customer_id is not None:
        return data.customer_id
    address = _correspondent(data)
    return customer_of_address(world, outcome, address) if address is not None else None


def _correspondent(data: ThreadMessage) -> Address | None:
    """The address at the other end."""
    return data.sender if data.direction == "inbound" else data.recipient


def _note_report(world: World, outcome: Outcome, data: ThreadMessage) -> None:
    """A machine's message about one of our mails: the mail bounced; nobody is replied to."""
    for reference in data.references:
        permit = _permit_reported_on(world, reference)
        if permit is None:
            continue
        if permit.state in FREED:
            outcome.alerts.append(sent_after_end(permit))
        if permit.state is not State.SENT:
            permit = settle(world, outcome, permit, State.SENT, "a delivery report came back")
        if data.automatic is not None and "report" in data.automatic:
            mark_bounced(world, outcome, permit)
        return


def _permit_reported_on(world: World, reference: str) -> Permit | None:
    permit_id = world.identity.permit_of(reference) or world.name("sent_message", reference)
    return world.permit(permit_id) if permit_id else None
