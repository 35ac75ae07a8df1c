"""The mail thread: its messages, what was said in it once and for all, and its replies."""

from datetime import datetime
from typing import Any, ClassVar

from eventsourcing.domain import Aggregate

from ledger.domain.conversation import ByHand, Heard, Moment, has_answered
from ledger.domain.hold import Hold, HoldBook
from ledger.domain.permit import FREED
from ledger.domain.sends import SendBook, SendRecord
from ledger.domain.value import value
from ledger.domain.windows import HOUR


@value
class Message:
    """A message of the thread: who wrote it, and whether a person did."""

    direction: str
    automatic: str | None = None
    ours: bool = False

    @property
    def of_a_person(self) -> bool:
        """Did a person write it to us?"""
        return self.direction == "inbound" and self.automatic is None and not self.ours


REPLY = "reply:"
"""What the slots of replies start with."""
FOLLOW_UP = "follow-up:"
"""What the slots of follow-ups start with."""
_INTENT = "intent:"
NOBODY = ""
"""The customer of a thread that was put on hold before anybody told whose it is."""


class Thread(Aggregate):
    """A mail thread as the log knows it."""

    TOPIC: ClassVar[str] = "ledger:Thread"
    STATE: ClassVar[dict[str, Any]] = {
        "thread_id": str,
        "customer_id": str,
        "messages": dict[str, Message],
        "book": SendBook,
        "loop_guard_until": datetime | None,
        "heard": dict[str, Heard],
        "mails": dict[str, Moment],
        "by_hand": dict[str, ByHand],
        "holds": HoldBook,
        "conversation": str | None,
        "branches": dict[str, datetime],
        "elsewhere": dict[str, Moment],
    }
    """What a snapshot of it holds."""

    class Event(Aggregate.Event):
        """Something that happened to a thread."""

        class_version: ClassVar[int] = 1

    class Created(Event, Aggregate.Created):
        """The ledger heard of this thread for the first time."""

        TOPIC: ClassVar[str] = "ledger:Thread.Created"
        thread_id: str
        customer_id: str

    class Moved(Event):
        """The thread belongs to another customer now; its history stays."""

        TOPIC: ClassVar[str] = "ledger:Thread.Moved"
        customer_id: str

        def apply(self, aggregate: "Thread") -> None:
            aggregate.customer_id = self.customer_id

    class MessageSeen(Event):
        """A message came in or went out; addresses are fingerprints."""

        TOPIC: ClassVar[str] = "ledger:Thread.MessageSeen"
        class_version: ClassVar[int] = 2
        message_id: str
        message: Message
        sender: str | None
        recipient: str | None
        seen_at: datetime
        reply_to: str | None

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            """The first version knew of no Reply-To."""
            state["reply_to"] = None

        def apply(self, aggregate: "Thread") -> None:
            aggregate.messages[self.message_id] = self.message
            when = Moment(min(self.seen_at, self.timestamp), self.originator_version)
            if self.message.direction != "inbound":
                aggregate.heard.pop(self.message_id, None)
                if not self.message.ours and self.message.automatic is None:
                    aggregate.mails.setdefault(f"message:{self.message_id}", when)
                return
            known = aggregate.heard.get(self.message_id)
            if known is None:
                aggregate.heard[self.message_id] = Heard(self.sender, self.reply_to, when)
            else:
                aggregate.heard[self.message_id] = Heard(
                    known.sender or self.sender, known.reply_to or self.reply_to, known.when
                )

    class HeardElsewhere(Event):
        """A message in another thread refers to this one: whose it is says if silence ended."""

        TOPIC: ClassVar[str] = "ledger:Thread.HeardElsewhere"
        message_id: str
        message: Message
        seen_at: datetime

        def apply(self, aggregate: "Thread") -> None:
            if self.message.of_a_person:
                when = Moment(min(self.seen_at, self.timestamp), self.originator_version)
                aggregate.elsewhere.setdefault(self.message_id, when)
            else:
                aggregate.elsewhere.pop(self.message_id, None)

    class AnsweredByHand(Event):
        """A person or another program answered a message without a permit."""

        TOPIC: ClassVar[str] = "ledger:Thread.AnsweredByHand"
        message_id: str
        answer: ByHand

        def apply(self, aggregate: "Thread") -> None:
            aggregate.by_hand.setdefault(self.message_id, self.answer)

    class Joined(Event):
        """The thread goes on a conversation that began in another one: one for the loop guard."""

        TOPIC: ClassVar[str] = "ledger:Thread.Joined"
        conversation: str

        def apply(self, aggregate: "Thread") -> None:
            aggregate.conversation = self.conversation
            aggregate.branches = {}

    class BranchReplied(Event):
        """A thread of this conversation has a reply; it counts for the loop guard until then."""

        TOPIC: ClassVar[str] = "ledger:Thread.BranchReplied"
        thread_id: str
        until: datetime

        def apply(self, aggregate: "Thread") -> None:
            counting = {t: u for t, u in aggregate.branches.items() if u > self.timestamp}
            until = max(self.until, counting.get(self.thread_id, self.until))
            aggregate.branches = counting | {self.thread_id: until}

    class HoldPlaced(Event):
        """Mail in the thread stops: of every kind, or of those that the hold names."""

        TOPIC: ClassVar[str] = "ledger:Thread.HoldPlaced"
        hold: Hold

        def apply(self, aggregate: "Thread") -> None:
            aggregate.holds.note(self.hold)

    class HoldLifted(HoldPlaced):
        """Mail in the thread goes on, as far as this reason goes."""

        TOPIC: ClassVar[str] = "ledger:Thread.HoldLifted"

    class SendPermitted(Event):
        """A mail in this thread was permitted: a reply, a follow-up, or a message of an intent."""

        TOPIC: ClassVar[str] = "ledger:Thread.SendPermitted"
        permit_id: str
        sender: str
        slot: str

        def apply(self, aggregate: "Thread") -> None:
            aggregate.book.permit(self.slot, self.permit_id, self.sender, self.timestamp)
            aggregate.mails[self.slot] = Moment(self.timestamp, self.originator_version)

    class SendRedeemed(Event):
        """The mail is about to be handed over."""

        TOPIC: ClassVar[str] = "ledger:Thread.SendRedeemed"
        permit_id: str
        slot: str

        def apply(self, aggregate: "Thread") -> None:
            aggregate.book.redeem(self.slot, self.permit_id, self.timestamp)

    class SendSettled(Event):
        """The mail's outcome; a freed permit gives up its place."""

        TOPIC: ClassVar[str] = "ledger:Thread.SendSettled"
        slot: str
        record: SendRecord
        rejections: int

        def apply(self, aggregate: "Thread") -> None:
            aggregate.book.settle(self.slot, self.record, self.rejections)
            held = aggregate.book.sends.get(self.slot)
            if held is None or held.state in FREED:
                aggregate.mails.pop(self.slot, None)
            else:
                when = Moment(self.record.counts_at, self.originator_version)
                aggregate.mails.setdefault(self.slot, when)

    class LoopGuardTripped(Event):
        """More replies were asked for than a thread may have in an hour; paged once per episode."""

        TOPIC: ClassVar[str] = "ledger:Thread.LoopGuardTripped"
        until: datetime

        def apply(self, aggregate: "Thread") -> None:
            aggregate.loop_guard_until = self.until

    def __init__(self, thread_id: str, customer_id: str) -> None:
        self.thread_id = thread_id
        self.customer_id = customer_id
        self.messages: dict[str, Message] = {}
        self.book = SendBook()
        self.loop_guard_until: datetime | None = None
        self.heard: dict[str, Heard] = {}
        self.mails: dict[str, Moment] = {}
        self.by_hand: dict[str, ByHand] = {}
        self.holds = HoldBook()
        self.conversation: str | None = None
        self.branches: dict[str, datetime] = {}
        self.elsewhere: dict[str, Moment] = {}

    def reply_times(self, now: datetime) -> list[datetime]:
        """The instants (UTC) from which the replies of the last hour count, oldest first."""
        return sorted(
            record.counts_at
            for slot, record in self.book.sends.items()
            if slot.startswith(REPLY) and record.counts_at > now - HOUR
        )

    @property
    def answered(self) -> bool:
        """Has a person written since our mail whose answer follow-ups ask for?

        In whatever thread: mail systems give an answer a thread of its own.
        """
        follow_ups = [m for slot, m in self.mails.items() if slot.startswith(FOLLOW_UP)]
        others = [m for slot, m in self.mails.items() if not slot.startswith(FOLLOW_UP)]
        people = [h.when for name, h in self.heard.items() if self.messages[name].of_a_person]
        return has_answered(follow_ups, others, [*people, *self.elsewhere.values()])

    def later_follow_ups(self, step: int) -> list[tuple[int, SendRecord]]:
        """The follow-ups on record with a higher number, lowest first."""
        numbered = [
            (int(slot.removeprefix(FOLLOW_UP)), record)
            for slot, record in self.book.sends.items()
            if slot.startswith(FOLLOW_UP) and slot.removeprefix(FOLLOW_UP).isdecimal()
        ]
        return sorted(((n, r) for n, r in numbered if n > step), key=lambda found: found[0])


def intent_slot(intent: str) -> str:
    """The place of an intent among a thread's sends."""
    return f"{_INTENT}{intent}"


def intent_of(slot: str) -> str:
    """The intent that has this place; empty for the place of any other mail."""
    return slot.removeprefix(_INTENT) if slot.startswith(_INTENT) else ""


def follow_up_slot(step: int) -> str:
    """The place of a follow-up among a thread's sends."""
    return f"{FOLLOW_UP}{step}"


def reply_slot(message_id: str) -> str:
    """The place of the reply to a message among a thread's sends."""
    return REPLY + message_id
