"""The mail thread: its messages, what was said in it once and for all, and its replies."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from eventsourcing.domain import Aggregate

from ledger.domain.sends import SendBook, SendRecord
from ledger.domain.windows import HOUR


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the thread: who wrote it, and whether a person did."""

    direction: str
    automatic: str | None = None
    ours: bool = False


REPLY = "reply:"
"""What the slots of replies start with."""


class Thread(Aggregate):
    """A mail thread as the log knows it."""

    TOPIC: ClassVar[str] = "ledger:Thread"
    STATE: ClassVar[dict[str, Any]] = {
        "thread_id": str,
        "customer_id": str,
        "messages": dict[str, Message],
        "book": SendBook,
        "loop_guard_until": datetime | None,
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
        message_id: str
        message: Message
        sender: str | None
        recipient: str | None
        seen_at: datetime

        def apply(self, aggregate: "Thread") -> None:
            aggregate.messages[self.message_id] = self.message

    class SendPermitted(Event):
        """A mail in this thread was permitted: a reply, a follow-up, or a message of an intent."""

        TOPIC: ClassVar[str] = "ledger:Thread.SendPermitted"
        permit_id: str
        sender: str
        slot: str

        def apply(self, aggregate: "Thread") -> None:
            aggregate.book.permit(self.slot, self.permit_id, self.sender, self.timestamp)

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

    def reply_times(self, now: datetime) -> list[datetime]:
        """The instants (UTC) from which the replies of the last hour count, oldest first."""
        return sorted(
            record.counts_at
            for slot, record in self.book.sends.items()
            if slot.startswith(REPLY) and record.counts_at > now - HOUR
        )


def intent_slot(intent: str) -> str:
    """The place of an intent among a thread's sends."""
    return f"intent:{intent}"


def follow_up_slot(step: int) -> str:
    """The place of a follow-up among a thread's sends."""
    return f"follow-up:{step}"


def reply_slot(message_id: str) -> str:
    """The place of the reply to a message among a thread's sends."""
    return REPLY + message_id
