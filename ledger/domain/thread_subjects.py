"""The subjects of permits in a thread: a message of an intent, a follow-up, a reply."""

from datetime import datetime

from ledger.domain.conversation import ByHand
from ledger.domain.guards import Holder
from ledger.domain.permit import FREED, Permit, State
from ledger.domain.reasons import Denial
from ledger.domain.sends import SendBook
from ledger.domain.subjects import holder_in, rejected_too_often
from ledger.domain.thread import FOLLOW_UP, REPLY, Message, Thread
from ledger.domain.value import value


@value
class ThreadSlot:
    """A message of an intent or a numbered follow-up: once in its thread."""

    name: str
    book: SendBook
    slot: str
    duplicate_code: str
    rejections_before_hold: int

    def holder(self) -> Holder | None:
        """The permit that holds the slot."""
        return holder_in(self.book, self.slot)

    def obstacle(self) -> Denial | None:
        """A send that the provider refused again and again waits for a human."""
        return rejected_too_often(self.name, self.book, self.slot, self.rejections_before_hold)


@value
class FollowUpStep:
    """A numbered follow-up: once in its thread, in order, and only while nobody has answered.

    `thread` is None for one that begins with it.
    """

    step: int
    thread_id: str
    thread: Thread | None
    slot: str
    rejections_before_hold: int
    override: bool = False
    duplicate_code: str = "already_sent"

    @property
    def name(self) -> str:
        """The number and the thread."""
        return f"follow-up {self.step} of thread {self.thread_id}"

    def holder(self) -> Holder | None:
        """The permit that holds the slot."""
        return holder_in(self.thread.book, self.slot) if self.thread is not None else None

    def obstacle(self) -> Denial | None:
        """A person has answered, or a later one went out; a human's repeat passes both."""
        if self.thread is None:
            return None
        if not self.override:
            if self.thread.answered:
                return Denial("answered", answered_detail(self.thread))
            later = _overtaken_by(self.thread, self.step)
            if later is not None:
                return later
        book, limit = self.thread.book, self.rejections_before_hold
        return rejected_too_often(self.name, book, self.slot, limit)


def _overtaken_by(thread: Thread, step: int) -> Denial | None:
    """A later one that went out is final; one that may still come to nothing is waited for."""
    later = [found for found in thread.later_follow_ups(step) if found[1].state not in FREED]
    sent = [found for found in later if found[1].state is State.SENT]
    for number, record in (*sent, *later):
        name = f"follow-up {number} of thread {thread.thread_id}"
        if record.state is State.SENT:
            return Denial("superseded", f"{name} was sent already", permit_id=record.permit_id)
        unknown = record.state is State.UNKNOWN
        code = "outcome_unknown" if unknown else "permit_held"
        return Denial(code, f"{name} may be on its way", permit_id=record.permit_id)
    return None


@value
class ReplyTo:
    """The answer to one inbound message of a person."""

    message_id: str
    message: Message | None
    book: SendBook
    slot: str
    rejections_before_hold: int
    by_hand: ByHand | None = None
    duplicate_code: str = "already_replied"

    @property
    def name(self) -> str:
        """The message."""
        return f"the reply to {self.message_id}"

    def holder(self) -> Holder | None:
        """The permit that holds the reply to this message, else the answer sent without one."""
        held = holder_in(self.book, self.slot)
        if held is not None or self.by_hand is None:
            return held
        answer = self.by_hand
        return Holder("sent", None, answer.sender, answer.at, answer.message_id)

    def obstacle(self) -> Denial | None:
        """Only a known inbound message that a person wrote earns a reply."""
        if self.message is None:
            return Denial("unknown_message", f"the message {self.message_id} is not known")
        if self.message.ours:
            return Denial("own_message", f"{self.message_id} is our own mail coming back")
        if self.message.direction != "inbound":
            return Denial("outbound_message", f"{self.message_id} went out from us")
        if self.message.automatic is not None:
            return Denial("auto_generated", f"{self.message_id}: {self.message.automatic}")
        return rejected_too_often(self.name, self.book, self.slot, self.rejections_before_hold)


def answered_detail(thread: Thread) -> str:
    """What people are told where a follow-up would chase somebody who has written."""
    return f"a person has written in thread {thread.thread_id} since the mail to follow up on"


def overtaken_in_thread(thread: Thread, permit: Permit, now: datetime) -> str | None:
    """What was heard of the thread since the grant that takes the permit back, or None.

    What a human lets repeat passes what has been sent, here as when it was asked for (design D14).
    """
    if thread.holds.binding(now, permit.kind) is not None:
        return "the thread was put on hold"
    if permit.action is not None:
        return None
    for slot in permit.slots:
        if slot.startswith(REPLY) and slot.removeprefix(REPLY) in thread.by_hand:
            return "the message was answered by hand"
        if slot.startswith(FOLLOW_UP):
            return _follow_up_overtaken(thread, slot)
    return None


def _follow_up_overtaken(thread: Thread, slot: str) -> str | None:
    if thread.answered:
        return answered_detail(thread)
    step = int(slot.removeprefix(FOLLOW_UP))
    out = (State.REDEEMED, State.SENT, State.UNKNOWN)
    later = next((n for n, r in thread.later_follow_ups(step) if r.state in out), None)
    return f"follow-up {later} was sent meanwhile" if later is not None else None
