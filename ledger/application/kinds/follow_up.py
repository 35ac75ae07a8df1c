"""A follow-up: each number once in its thread."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Self

from ledger.application.effects import Outcome
from ledger.application.key_limits import GoesWith
from ledger.application.kinds.addressee import logged_address
from ledger.application.kinds.ask import rejection_limit
from ledger.application.kinds.kind import Ask, Granted, Judged, PermitSubject, Request
from ledger.application.kinds.thread_sends import (
    ask_of_thread,
    customers_of_thread,
    holders_in_thread,
    load_thread,
    record_slots,
)
from ledger.application.kinds.timeliness import ANY_TIME, Timeliness, timeliness_of
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.permit import Lane
from ledger.domain.policy import Policy
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.sends import SendBook
from ledger.domain.thread import follow_up_slot
from ledger.domain.thread_subjects import FollowUpStep
from ledger.domain.value import value


@value
class FollowUp(PermitSubject):
    """A numbered follow-up in a thread."""

    kind: ClassVar[str] = "follow_up"
    code: ClassVar[str] = "f"
    goes_with: ClassVar[GoesWith | None] = GoesWith.INTENTS
    sets_up: ClassVar[bool] = True
    optional: ClassVar[bool] = True

    thread_id: str
    step: int
    customer_id: str | None = None
    to: Address | None = None
    timeliness: Timeliness = ANY_TIME

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """The thread, and whom it is with if it is new."""
        to = address(body.to) if body.to else None
        timely = timeliness_of(body)
        return cls(body.thread_id, body.step, body.customer_id, to, timeliness=timely)

    def as_logged(self, logged: Mapping[str, Any]) -> Self:
        """With the address that it named."""
        to = logged_address(logged)
        return self if to is None else replace(self, to=to, customer_id=logged.get("customer_id"))

    def ends_at(self, policy: Policy) -> datetime | None:
        """What it tells of is old news some time after it happened."""
        return self.timeliness.ends_at(policy)

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
        """The number in the thread."""
        return ((follow_up_key(self.thread_id, self.step),),)

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """Outreach, whoever asks."""
        return Lane.OUTREACH

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The slot of the number in the thread."""
        ask = ask_of_thread(world, request, self, self.thread_id, self.customer_id, self.to)
        if isinstance(ask, Denial):
            return ask
        slot = follow_up_slot(self.step)
        thread, limit = ask.case.thread, rejection_limit(world, request)
        deliberate = request.override is not None
        step = FollowUpStep(self.step, self.thread_id, thread, slot, limit, deliberate)
        ask.subjects = [Judged(slot, step)]
        ask.keys, ask.slots = (follow_up_key(self.thread_id, self.step),), (slot,)
        ask.book = thread.book if thread is not None else SendBook()
        ask.rejections = ask.book.rejections.get(slot, 0)
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Put the permit into its slot."""
        record_slots(outcome, self.thread_id, granted.permit)


def follow_up_key(thread_id: str, step: int) -> SendKey:
    """A numbered follow-up in a thread."""
    return ("follow-up", thread_id, str(step))
