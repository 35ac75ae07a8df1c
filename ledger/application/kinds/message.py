"""A message with an intent, once in its thread."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Self

from ledger.application.effects import Outcome
from ledger.application.key_limits import GoesWith, KeyLimits
from ledger.application.kinds.addressee import logged_address
from ledger.application.kinds.kind import Ask, Granted, Judged, PermitSubject, Request
from ledger.application.kinds.thread_sends import (
    ask_of_thread,
    customers_of_thread,
    fill_slot,
    holders_in_thread,
    load_thread,
    record_slots,
)
from ledger.application.kinds.timeliness import ANY_TIME, Timeliness, timeliness_of
from ledger.application.new_intents import note_new_intent
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.intents import similar_among
from ledger.domain.permit import Lane, State
from ledger.domain.policy import Policy
from ledger.domain.reasons import Denial, Original
from ledger.domain.sendkey import SendKey
from ledger.domain.thread import Thread, intent_of, intent_slot
from ledger.domain.value import value


@value
class IntentMessage(PermitSubject):
    """A message with an intent, once in its thread."""

    kind: ClassVar[str] = "message"
    code: ClassVar[str] = "m"
    goes_with: ClassVar[GoesWith | None] = GoesWith.INTENTS
    sets_up: ClassVar[bool] = True
    optional: ClassVar[bool] = True

    thread_id: str
    intent: str
    customer_id: str | None = None
    to: Address | None = None
    timeliness: Timeliness = ANY_TIME

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """The thread, and whom it is with if it is new."""
        to = address(body.to) if body.to else None
        timely = timeliness_of(body)
        return cls(body.thread_id, body.intent, body.customer_id, to, timeliness=timely)

    def as_logged(self, logged: Mapping[str, Any]) -> Self:
        """With the address that it named."""
        to = logged_address(logged)
        return self if to is None else replace(self, to=to, customer_id=logged.get("customer_id"))

    def ends_at(self, policy: Policy) -> datetime | None:
        """What it tells of is old news some time after it happened."""
        return self.timeliness.ends_at(policy)

    def beyond(self, limits: KeyLimits, judged: Judged | None = None) -> Denial | None:
        """A key may have only some intents."""
        if limits.allows_intent(self.intent):
            return None
        return Denial("unknown_intent", "this key may not use that intent")

    def load(self, walk: Walk) -> None:
        """The thread and its customer."""
        load_thread(walk, self.thread_id, self.customer_id, self.to)

    def customers(self, world: World) -> list[str]:
        """The customer of the thread."""
        return customers_of_thread(world, self.thread_id, self.customer_id, self.to)

    def holders(self, world: World) -> list[str]:
        """The live permits of the thread."""
        return holders_in_thread(world, self.thread_id)

    def send_keys(self, world: World, at: datetime) -> tuple[tuple[SendKey, ...], ...]:
        """The intent in the thread."""
        return ((intent_key(self.thread_id, self.intent),),)

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """A receipt where the key is transactional."""
        return Lane.TRANSACTIONAL if transactional else Lane.OUTREACH

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The slot of the intent in the thread."""
        ask = ask_of_thread(world, request, self, self.thread_id, self.customer_id, self.to)
        if isinstance(ask, Denial):
            return ask
        slot = intent_slot(self.intent)
        if world.policy.deny_similar_intents and request.override is None:
            similar = self._similar(ask.case.thread, slot)
            if similar is not None:
                return similar
        key = intent_key(self.thread_id, self.intent)
        name = f"intent {self.intent} in thread {self.thread_id}"
        fill_slot(world, request, ask, slot, key, name, "duplicate_intent")
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Put the permit into its slot; a human hears of an intent that nobody knows."""
        record_slots(outcome, self.thread_id, granted.permit)
        note_new_intent(world, outcome, granted.permit, self.intent)

    def _similar(self, thread: Thread | None, slot: str) -> Denial | None:
        """What forbids an intent that is but another word for one that the thread has had."""
        if thread is None or slot in thread.book.sends:
            return None
        sends = {intent_of(taken): record for taken, record in thread.book.sends.items()}
        had = similar_among(self.intent, filter(None, sends))
        if had is None:
            return None
        record = sends[had]
        sent_at = record.counts_at if record.state is State.SENT else None
        original = Original(record.permit_id, record.sender, sent_at, record.provider_message_id)
        return Denial(
            "similar_intent",
            f"thread {self.thread_id} has had the intent {had}",
            permit_id=record.permit_id,
            original=original,
        )


def intent_key(thread_id: str, intent: str) -> SendKey:
    """What is said, once in a thread."""
    return ("intent", thread_id, intent)
