"""An address as the log knows it: by its fingerprint, with what holds its mail back (D18, D21)."""

from datetime import datetime
from typing import Any, ClassVar

from eventsourcing.domain import Aggregate

from ledger.domain.hold import Hold, HoldBook, Span, span_of
from ledger.domain.permit import DUNNING

BOUNCED = "bounced"
COMPLAINED = "complained"
UNSUBSCRIBED = "unsubscribed"
"""Its owner wants no mail of some or all kinds: their wish, that no release of a human lifts.

What they left can stand behind it (`unsubscribed: group 10`): one list's word lifts no other's.
"""
MOST_REASONS = 100
"""Reasons for which one address can be held; no address has come near it."""


class Mailbox(Aggregate):
    """An address, whoever it belongs to, also before the first mail to it.

    Suppression is the address's: it binds every customer who has the address (design D21).
    """

    TOPIC: ClassVar[str] = "ledger:Address"
    STATE: ClassVar[dict[str, Any]] = {"fingerprint": str, "holds": HoldBook}
    """What a snapshot of it holds."""

    class Event(Aggregate.Event):
        """Something that happened to an address."""

        class_version: ClassVar[int] = 1

    class Created(Event, Aggregate.Created):
        """The ledger heard of a reason to hold mail to this address for the first time."""

        TOPIC: ClassVar[str] = "ledger:Address.Created"
        fingerprint: str

    class AddressHeld(Event):
        """Mail to the address is held back: it bounced, its owner complained or unsubscribed.

        `suppressed` and `unsubscribed` are how long reminders to it are held back from now on.
        `source` told it, and lifts it; "" where nobody knows.
        """

        TOPIC: ClassVar[str] = "ledger:Address.AddressHeld"
        class_version: ClassVar[int] = 2
        fingerprint: str
        hold: Hold
        cause: str
        suppressed: Span
        unsubscribed: Span
        source: str

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            """The first version did not keep who told it: whoever tells may lift it."""
            state["source"] = ""

        def apply(self, aggregate: "Mailbox") -> None:
            aggregate.holds.note(self.hold, self.source)

    class AddressReleased(Event):
        """A hold of the address was lifted; `by` is who said so, `source` who had told it."""

        TOPIC: ClassVar[str] = "ledger:Address.AddressReleased"
        class_version: ClassVar[int] = 2
        fingerprint: str
        hold: Hold
        by: str
        reason: str
        suppressed: Span
        unsubscribed: Span
        source: str

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            """The first version lifted what anybody had told."""
            state["source"] = ""

        def apply(self, aggregate: "Mailbox") -> None:
            aggregate.holds.note(self.hold, self.source)

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.holds = HoldBook()

    def suppressed(self, now: datetime, kind: str) -> Hold | None:
        """The bounce, complaint or block that holds back a mail of this kind now."""
        return suppressed(self.holds, now, kind)

    def unsubscribed(self, now: datetime, kind: str) -> Hold | None:
        """The unsubscription that holds back a mail of this kind now."""
        return self.holds.bound_by(UNSUBSCRIBED, now, kind)

    def held(self, now: datetime, kind: str) -> bool:
        """Is a mail of this kind held back now, for whatever reason?"""
        return self.holds.binding(now, kind) is not None


def suppressed(book: HoldBook, now: datetime, kind: str) -> Hold | None:
    """Of the holds of an address, the one that is not its owner's wish and lasts longest."""
    return book.binding(now, kind, but=UNSUBSCRIBED)


def spans(book: HoldBook, now: datetime) -> dict[str, Span]:
    """How long reminders are held back by these holds: what a read model keeps of them."""
    wish = book.bound_by(UNSUBSCRIBED, now, DUNNING)
    return {
        "suppressed": span_of(suppressed(book, now, DUNNING)),
        "unsubscribed": span_of(wish),
    }
