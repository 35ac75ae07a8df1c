"""What becomes of an event type that a provider's file does not translate: two explicit lists."""

from dataclasses import dataclass

from api.webhooks.provider import Rejected


@dataclass(frozen=True)
class EventTypes:
    """A provider's event types that are not translated.

    `said_by_others` are known types that change no balance by themselves: where one does, another
    event tells it as well. A family is the beginning of a type, up to a `separator`; with
    `anywhere`, it is any word of the type, and money wins. Types of a family in
    `cannot_touch_money` are counted and ignored; types of one in `could_touch_money`, and of any
    family in neither list, are alerted on (design D10).
    """

    separator: str
    said_by_others: frozenset[str]
    cannot_touch_money: frozenset[str]
    could_touch_money: frozenset[str]
    anywhere: bool = False

    def is_harmless(self, event_type: str) -> bool:
        """Whether the type may be ignored."""
        families = self._families(event_type)
        if event_type in self.said_by_others:
            return True
        if self.anywhere and families & self.could_touch_money:
            return False
        return bool(families & self.cannot_touch_money)

    def unknown(self, event_type: str) -> Rejected:
        """The rejection of a type that is neither translated nor harmless."""
        known = sorted(self._families(event_type) & self.could_touch_money)
        family = f"of the family {known[0]}" if known else "of no family that is known"
        return Rejected("unknown_money_event", f"an event type {family}")

    def _families(self, event_type: str) -> set[str]:
        parts = event_type.split(self.separator)
        if self.anywhere:
            return set(parts)
        return {self.separator.join(parts[:length]) for length in range(1, len(parts) + 1)}
