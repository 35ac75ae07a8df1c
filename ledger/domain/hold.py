"""Holds: reasons why no mail may go out, with or without an end, in any order of news."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Hold:
    """The latest word on one reason: held (until an instant, UTC, or for good) or lifted."""

    reason: str
    held: bool
    at: datetime
    until: datetime | None = None
    kinds: tuple[str, ...] = ()

    def binds(self, now: datetime, kind: str) -> bool:
        """Does it hold back a mail of this kind now? No kinds named means all of them."""
        in_time = self.until is None or now < self.until
        return self.held and in_time and (not self.kinds or kind in self.kinds)


@dataclass(slots=True)
class HoldBook:
    """The holds of one invoice or customer, by reason."""

    holds: dict[str, Hold] = field(default_factory=dict)

    def newer(self, hold: Hold) -> bool:
        """Is this word on its reason news? Of two of one instant the last to arrive stands."""
        known = self.holds.get(hold.reason)
        return known is None or (hold.at >= known.at and hold != known)

    def note(self, hold: Hold) -> None:
        """Take the word; called by events only."""
        self.holds[hold.reason] = hold

    def binding(self, now: datetime, kind: str) -> Hold | None:
        """The hold that lasts longest of those which bind now, or None."""
        binding = [hold for hold in self.holds.values() if hold.binds(now, kind)]
        if not binding:
            return None
        endless = [hold for hold in binding if hold.until is None]
        return endless[0] if endless else max(binding, key=lambda hold: hold.until or hold.at)

    def words(self) -> tuple[Hold, ...]:
        """Every word that is kept, each once, in an order in which they can be noted again."""
        return tuple(self.holds.values())

    def until(self, now: datetime, kind: str) -> tuple[datetime | None, bool]:
        """The end of the binding holds and whether they have none: what a read model keeps."""
        hold = self.binding(now, kind)
        return (None, False) if hold is None else (hold.until, hold.until is None)
