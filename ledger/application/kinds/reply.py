"""A reply: one to each inbound message of a person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from ledger.application.effects import Outcome
from ledger.application.facts.threads import message_named
from ledger.application.kinds.addressee import logged_address
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
from ledger.domain.subjects import ReplyTo
from ledger.domain.thread import reply_slot


@dataclass(frozen=True, slots=True)
class Reply(PermitSubject):
    """The answer to one inbound message."""

    kind: ClassVar[str] = "reply"

    thread_id: str
    in_reply_to: str
    customer_id: str | None = None
    to: Address | None = None

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """The message to reply to."""
        to = address(body.to) if body.to else None
        return cls(body.thread_id, body.in_reply_to, body.customer_id, to)

    def as_logged(self, logged: Mapping[str, Any]) -> Self:
        """With the address that it named."""
        to = logged_address(logged)
        return self if to is None else replace(self, to=to, customer_id=logged.get("customer_id"))

    def load(self, walk: Walk) -> None:
        """The message by all its names, the thread and its customer."""
        walk.name("message", self.in_reply_to)
        walk.name("message_alias", self.in_reply_to)
        walk.name("sent_message", self.in_reply_to)
        load_thread(walk, self.thread_id, self.customer_id, self.to)

    def customers(self, world: World) -> list[str]:
        """The customer of the message's thread."""
        thread = world.thread(self._home(world))
        return [thread.customer_id] if thread is not None else []

    def holders(self, world: World) -> list[str]:
        """The live permits of the message's thread."""
        return holders_in_thread(world, self._home(world))

    def lane(self, transactional: bool) -> Lane:
        """Replies have windows of their own."""
        return Lane.REPLY

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The slot of the message in its thread."""
        thread = world.thread(self._home(world))
        if thread is None:
            return Denial(
                "unknown_message", f"the message {self.in_reply_to} is not known; let it ride along"
            )
        ask = ask_of_thread(world, request, self, thread.thread_id)
        if isinstance(ask, Denial):
            return ask
        message_id = message_named(world, self.in_reply_to)
        slot = reply_slot(message_id)
        limit = rejection_limit(world, request)
        message = thread.messages.get(message_id)
        if message is not None and world.name("sent_message", self.in_reply_to) is not None:
            message = replace(message, ours=True)
        reply = ReplyTo(message_id, message, thread.book, slot, limit)
        ask.subjects = [Judged(message_id, reply)]
        ask.keys, ask.slots, ask.book = (reply_key(message_id),), (slot,), thread.book
        ask.rejections = thread.book.rejections.get(slot, 0)
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Put the permit into the message's slot."""
        permit = granted.permit
        if permit.thread_id is not None:
            record_slots(outcome, permit.thread_id, permit)

    def _home(self, world: World) -> str:
        """The message's own thread counts, whatever thread the request names."""
        return world.name("message", self.in_reply_to) or self.thread_id


def reply_key(message_id: str) -> SendKey:
    """The inbound message replied to, over all threads, senders and intents."""
    return ("reply", message_id)
