"""A reply: one to each inbound message of a person."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Self

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import another_owner
from ledger.application.facts.conversations import conversation_of, load_conversation
from ledger.application.facts.threads import home_of, message_named, owned_thread
from ledger.application.key_limits import GoesWith
from ledger.application.kinds.addressee import count_for_owner, ids_of_addressee, logged_address
from ledger.application.kinds.ask import rejection_limit
from ledger.application.kinds.kind import Ask, Granted, Judged, PermitSubject, Request
from ledger.application.kinds.thread_sends import (
    ask_of_thread,
    holders_in_thread,
    load_thread,
    record_slots,
)
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.permit import Lane
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.thread import Thread, reply_slot
from ledger.domain.thread_subjects import ReplyTo
from ledger.domain.value import value
from ledger.domain.windows import HOUR


@value
class Reply(PermitSubject):
    """The answer to one inbound message."""

    kind: ClassVar[str] = "reply"
    code: ClassVar[str] = "y"
    goes_with: ClassVar[GoesWith | None] = GoesWith.INTENTS

    thread_id: str
    in_reply_to: str
    customer_id: str | None = None
    to: Address | None = None

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """The message to reply to."""
        to = address(body.to) if body.to else None
        return cls(body.thread_id, body.in_reply_to, body.customer_id, to)

    def concerns(self) -> Collection[str]:
        """The message, and its thread."""
        return (self.in_reply_to, self.thread_id)

    def as_logged(self, logged: Mapping[str, Any]) -> Self:
        """With the address that it named."""
        to = logged_address(logged)
        return self if to is None else replace(self, to=to, customer_id=logged.get("customer_id"))

    def load(self, walk: Walk) -> None:
        """The message by all its names, its thread, all of their conversation, and the customer."""
        walk.name("message", self.in_reply_to)
        walk.name("message_alias", self.in_reply_to)
        walk.name("sent_message", self.in_reply_to)
        load_thread(walk, self.thread_id, self.customer_id, self.to)
        home = walk.named("message", self.in_reply_to) or self.thread_id
        thread = walk.aggregate("thread", home)
        if isinstance(thread, Thread):
            load_conversation(walk, thread)
            message_id = walk.named("message_alias", self.in_reply_to) or self.in_reply_to
            heard = thread.heard.get(message_id)
            if heard is not None and heard.writer is not None:
                walk.address(heard.writer)
                walk.owner_of(Address("", heard.writer))

    def customers(self, world: World) -> list[str]:
        """The customer of the message's thread, and the other one whose address a reply goes to."""
        thread = owned_thread(world, self._home(world))
        if thread is None:
            return []
        heard = thread.heard.get(message_named(world, self.in_reply_to))
        writer = heard.writer if heard is not None else None
        to = Address("", writer) if writer is not None else None
        return ids_of_addressee(world, thread.customer_id, to)

    def holders(self, world: World) -> list[str]:
        """The live permits of the message's thread, and of those that are one with it."""
        thread = world.thread(self._home(world))
        threads = conversation_of(world, thread).threads if thread is not None else ()
        return [p for one in threads for p in holders_in_thread(world, one.thread_id)]

    def send_keys(self, world: World, at: datetime) -> tuple[tuple[SendKey, ...], ...]:
        """The message by the names that it has, alone and within its thread."""
        names = dict.fromkeys((message_named(world, self.in_reply_to), self.in_reply_to))
        homes = dict.fromkeys((None, self._home(world), self.thread_id))
        return (tuple(reply_key(name, home) for name in names for home in homes),)

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """Replies have windows of their own."""
        return Lane.REPLY

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The slot of the message in its thread; it goes to whoever wrote the message."""
        thread = owned_thread(world, self._home(world))
        if thread is None:
            return Denial(
                "unknown_message", f"the message {self.in_reply_to} is not known; let it ride along"
            )
        ask = ask_of_thread(world, request, self, thread.thread_id)
        if isinstance(ask, Denial):
            return ask
        message_id = message_named(world, self.in_reply_to)
        heard = thread.heard.get(message_id)
        conversation = conversation_of(world, thread)
        writer = heard.writer if heard is not None else None
        mailbox = world.mailbox(writer) if writer is not None else None
        ask.case = replace(ask.case, address=writer, mailbox=mailbox, conversation=conversation)
        ask.address_named = writer is not None
        if writer is not None:
            other = another_owner(world, ask.customer_id, Address("", writer))
            count_for_owner(world, ask, other)
        slot = reply_slot(message_id)
        limit = rejection_limit(world, request)
        message = thread.messages.get(message_id)
        unsigned = heard is None or heard.sender is None
        if unsigned and message and world.name("sent_message", self.in_reply_to) is not None:
            message = replace(message, ours=True)
        by_hand = thread.by_hand.get(message_id)
        reply = ReplyTo(message_id, message, thread.book, slot, limit, by_hand)
        ask.subjects = [Judged(message_id, reply)]
        first = world.name("message", self.in_reply_to) in (None, thread.thread_id)
        key = reply_key(message_id) if first else reply_key(message_id, thread.thread_id)
        ask.keys, ask.slots, ask.book = (key,), (slot,), thread.book
        ask.rejections = thread.book.rejections.get(slot, 0)
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Put the permit into the message's slot, and let it count in the conversation."""
        permit = granted.permit
        if permit.thread_id is None:
            return
        record_slots(outcome, permit.thread_id, permit)
        conversation = granted.ask.case.conversation
        if conversation is not None and conversation.root.thread_id != permit.thread_id:
            outcome.change(
                "thread",
                conversation.root.thread_id,
                Thread.BranchReplied,
                thread_id=permit.thread_id,
                until=permit.send_by + HOUR,
            )

    def _home(self, world: World) -> str:
        """The message's own thread counts, whatever thread the request names."""
        return home_of(world, self.in_reply_to, self.thread_id) or self.thread_id


def reply_key(message_id: str, thread_id: str | None = None) -> SendKey:
    """The inbound message replied to, over all threads, senders and intents.

    `thread_id` tells another person's message of the same id apart.
    """
    return ("reply", message_id) if thread_id is None else ("reply", message_id, thread_id)
