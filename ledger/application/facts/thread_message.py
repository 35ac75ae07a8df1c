"""`thread.message`: a message of a thread, from either side."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from ledger.application.effects import Contact, NameClaim, Outcome
from ledger.application.facts.addresses import (
    claim_address,
    customer_of_address,
    ensure_customer,
    unite,
)
from ledger.application.facts.answers_by_hand import (
    load_answered,
    load_early_answers,
    note_answer,
    replies_overtaken,
    take_early_answer,
)
from ledger.application.facts.conversations import (
    load_conversation,
    load_ties,
    note_elsewhere,
    tie,
)
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.lost_mail import note_lost_message
from ledger.application.facts.mail_reports import (
    MailReport,
    names_in,
    note_report,
    permit_reported_on,
)
from ledger.application.facts.threads import (
    alias_message,
    home_of,
    message_named,
    owned_thread,
    start_thread,
)
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.conversation import ByHand
from ledger.domain.identity import Address, known_by_address
from ledger.domain.permit import Permit
from ledger.domain.thread import Message, Thread
from ledger.domain.value import value


@value
class ThreadMessage(FactData):
    """A message of a thread; `automatic` says why it is not a person's, `ours` that we sent it.

    A reply goes to `reply_to`, else to `sender`. `aliases` are other names of the same message: a
    mail system's own id beside the Message-ID. `reports` is what a mail system's report tells of
    each recipient. `names_address` is false where the customer's addresses stay what they are.
    """

    TIMES: ClassVar[tuple[str, ...]] = ("at",)

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
    reply_to: Address | None = None
    reports: tuple[MailReport, ...] = ()
    names_address: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the message."""
        return tuple(dict.fromkeys((self.message_id, *self.aliases)))

    @property
    def inbound(self) -> bool:
        """Did it come in?"""
        return self.direction == "inbound"

    @property
    def writer(self) -> Address | None:
        """Where a reply to it goes: Reply-To, else From (RFC 5322, section 3.6.2).

        A Reply-To that is the address which the message came to names no writer: lists set it.
        """
        here = self.recipient.fingerprint if self.recipient is not None else None
        if self.reply_to is None or self.reply_to.fingerprint == here:
            return self.sender or self.reply_to
        return self.reply_to

    @property
    def correspondent(self) -> Address | None:
        """The address at the other end."""
        return self.writer if self.inbound else self.recipient


class ThreadMessageType(FactType[ThreadMessage]):
    """Messages of threads."""

    data = ThreadMessage

    def load(self, walk: Walk, data: ThreadMessage) -> None:
        """The thread, the message by all its names, those it refers to, and whose it is."""
        thread = walk.aggregate("thread", data.thread_id)
        load_answered(walk, data.names)
        for name in data.names:
            walk.name("sent_message", name)
        load_ties(walk, data.references, data.writer if data.inbound else None)
        if isinstance(thread, Thread):
            load_conversation(walk, thread)
        if data.inbound:
            load_early_answers(walk, data.names)
        else:
            load_answered(walk, data.references)
        for name in names_in(data.reports):
            walk.name("sent_message", name)
        walk.owner(data.customer_id, data.correspondent)
        addresses = (data.sender, data.recipient, data.reply_to)
        failed = tuple(r.recipient for r in data.reports if r.failed and r.recipient is not None)
        walk.claims((*(a for a in addresses if a), *failed))

    def permits(self, world: World, data: ThreadMessage) -> Iterable[Permit | None]:
        """That of the mail that a machine's message is about, and those of replies answered."""
        if not data.inbound:
            return replies_overtaken(world, data.references, data.thread_id)
        if data.automatic is None:
            return ()
        return (permit_reported_on(world, data.reports, data.references),)

    def as_own(self, world: World, data: ThreadMessage) -> ThreadMessage:
        """Giving no known address or customer another one, and reporting on no other mail."""
        news = data.customer_id is None or world.customer(data.customer_id) is None
        if data.correspondent is not None:
            news = news and world.name("address", data.correspondent.fingerprint) is None
        return replace(data, reports=(), names_address=news)

    def not_own(self, world: World, data: ThreadMessage, about: Collection[str]) -> str | None:
        """The message replied to, which came in."""
        if data.thread_id not in about or not set(data.names) & set(about):
            return "of another message than the one replied to"
        return None if data.inbound else "of a mail that went out"

    def apply(self, world: World, fact: Fact, data: ThreadMessage) -> Outcome:
        """Take a message of a thread in; a message id belongs to the first thread that named it.

        Under whichever of its names a message is told of first, that name is its own from then on.
        Another person's message of the same id in another thread is one of its own.
        """
        outcome = Outcome(result="applied", thread_id=data.thread_id)
        known = next((n for n in data.names if world.name("message", n) is not None), None)
        home = home_of(world, known, data.thread_id) if known is not None else None
        if known is not None and home is not None and not _of_another(world, data, known, home):
            outcome.result = "duplicate"
            others = [name for name in data.names if name != known]
            alias_message(outcome, others, message_named(world, known), home)
            _note_more(world, outcome, fact, data, message_named(world, known), home)
            _note_correspondent(world, outcome, data)
            _note_answer(world, outcome, fact, data)
            return outcome
        if data.ours is not None and world.permit(data.ours) is None:
            note_lost_message(world, outcome, fact, data.ours, data.names)
        owner_id = _place(world, outcome, data)
        if owner_id is None:
            outcome.result = "rejected"
            outcome.body = {"detail": "the thread is new: name a customer_id, or from and to"}
            return outcome
        _note_correspondent(world, outcome, data)
        outcome.names.append(NameClaim("message", data.message_id, data.thread_id))
        alias_message(outcome, data.names[1:], data.message_id, data.thread_id)
        message = Message(data.direction, data.automatic, _is_ours(world, data))
        seen_at = data.at or fact.time or world.now
        _see(outcome, data, data.thread_id, data.message_id, message, seen_at)
        _keep_writer(outcome, data, owner_id, message)
        tie(
            world,
            outcome,
            data.thread_id,
            data.references,
            data.writer if data.inbound and not message.ours else None,
        )
        if data.inbound:
            place = (data.thread_id, data.message_id)
            note_elsewhere(world, outcome, data.references, *place, message, seen_at)
            take_early_answer(world, outcome, data.names, data.message_id, data.thread_id)
            if data.automatic is not None:
                note_report(world, outcome, data.reports, data.references, fact.source)
        _note_answer(world, outcome, fact, data)
        return outcome


def _of_another(world: World, data: ThreadMessage, known: str, home: str) -> bool:
    """Does the message share its id with another person's message in another thread?"""
    if home == data.thread_id or not data.inbound:
        return False
    thread = world.thread(home)
    heard = thread.heard.get(message_named(world, known)) if thread is not None else None
    writer = data.writer
    if heard is None or writer is None or data.sender is None:
        return False
    told = data.reply_to if writer is data.reply_to else None
    return heard.of_another(data.sender.fingerprint, told.fingerprint if told else None)


def _is_ours(world: World, data: ThreadMessage) -> bool:
    """Is it a mail of a permit: by our MAC, or by a name that the permit's sender reported?

    A report proves nothing about what somebody else wrote: a message from a customer, or to another
    address than the permit's mail went to, is not that mail coming back.
    """
    if data.ours is not None:
        return True
    reported = (world.name("sent_message", name) for name in data.names)
    permit_id = next((found for found in reported if found is not None), None)
    if permit_id is None:
        return False
    if not data.inbound or data.sender is None:
        return True
    if world.name("address", data.sender.fingerprint) is not None:
        return False
    permit = world.permit(permit_id)
    if data.recipient is None or permit is None or permit.address is None:
        return True
    here = data.recipient.fingerprint
    return here == permit.address or any(copy.address == here for copy in permit.copies)


def _place(world: World, outcome: Outcome, data: ThreadMessage) -> str | None:
    """The customer of the message's thread, which is theirs from now on; None: nobody is named."""
    thread = owned_thread(world, data.thread_id)
    if thread is None:
        customer_id = _customer_of_message(world, outcome, data)
        if customer_id is not None:
            start_thread(world, outcome, data.thread_id, customer_id)
        return customer_id
    if data.customer_id is None or data.customer_id == thread.customer_id:
        return thread.customer_id
    ensure_customer(world, outcome, data.customer_id)
    outcome.change("thread", data.thread_id, Thread.Moved, customer_id=data.customer_id)
    before = world.customer(thread.customer_id)
    if before is not None and known_by_address(before.customer_id):
        unite(world, outcome, data.customer_id, before)
    return data.customer_id


def _see(
    outcome: Outcome,
    data: ThreadMessage,
    thread_id: str,
    message_id: str,
    message: Message,
    seen_at: datetime,
) -> None:
    writer = data.writer
    outcome.change(
        "thread",
        thread_id,
        Thread.MessageSeen,
        message_id=message_id,
        message=message,
        sender=data.sender.fingerprint if data.sender else None,
        recipient=data.recipient.fingerprint if data.recipient else None,
        seen_at=seen_at,
        reply_to=writer.fingerprint if writer is not None and writer is data.reply_to else None,
    )


def _keep_writer(outcome: Outcome, data: ThreadMessage, customer_id: str, message: Message) -> None:
    """Keep the address that a reply will go to, beside the log; it goes with the customer's."""
    if data.inbound and data.writer is not None and message.automatic is None and not message.ours:
        outcome.contacts.append(Contact(customer_id, data.writer))


def _note_answer(world: World, outcome: Outcome, fact: Fact, data: ThreadMessage) -> None:
    """A mail of ours that is not of a permit answers what it refers to."""
    if data.inbound or data.automatic is not None or _is_ours(world, data):
        return
    at = min(data.at or fact.time or world.now, world.now)
    answer = ByHand(data.message_id, f"observed:{fact.source}", at)
    note_answer(world, outcome, data.references, data.thread_id, answer)


def _note_more(
    world: World, outcome: Outcome, fact: Fact, data: ThreadMessage, message_id: str, home: str
) -> None:
    """Whoever tells that a known message is a machine's, or our own, is heard in any order."""
    thread = world.thread(home)
    seen = thread.messages.get(message_id) if thread is not None else None
    if thread is None or seen is None:
        return
    outbound = "outbound" in (seen.direction, data.direction)
    told = Message(
        "outbound" if outbound else seen.direction,
        seen.automatic or data.automatic,
        seen.ours or data.ours is not None,
    )
    heard = thread.heard.get(message_id)
    seen_at = heard.when.at if heard is not None else data.at or fact.time or world.now
    note_elsewhere(world, outcome, data.references, home, message_id, told, seen_at)
    news = heard is not None and data.inbound and heard.writer is None and data.writer is not None
    if told == seen and not news:
        return
    outcome.result = "applied"
    _see(outcome, data, home, message_id, told, data.at or world.now)
    _keep_writer(outcome, data, thread.customer_id, told)
    if data.inbound and seen.automatic is None and data.automatic is not None:
        note_report(world, outcome, data.reports, data.references, fact.source)


def _note_correspondent(world: World, outcome: Outcome, data: ThreadMessage) -> None:
    """A person's message that names its customer says whose the correspondent's address is (D9).

    A machine's sender is nobody's address, and that of our own mail coming back is ours.
    """
    address = data.correspondent
    if data.customer_id is None or address is None or not data.names_address:
        return
    if data.automatic is not None or (data.ours is not None and data.inbound):
        return
    ensure_customer(world, outcome, data.customer_id)
    claim_address(world, outcome, data.customer_id, address)


def _customer_of_message(world: World, outcome: Outcome, data: ThreadMessage) -> str | None:
    if data.customer_id is not None:
        return data.customer_id
    address = data.correspondent
    return customer_of_address(world, outcome, address) if address is not None else None
