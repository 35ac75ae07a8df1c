"""Holds: reasons why no mail may go out, with or without an end, in any order of news."""

from dataclasses import dataclass, field
from datetime import datetime

from ledger.domain.value import value

EVERY_KIND = ""
"""Stands for all kinds of mail in a book: the word on a reason that names no kind."""


@value
class Hold:
    """The latest word on one reason: held (until an instant, UTC, or for good) or lifted.

    It speaks of the kinds that it names; without kinds of all of them.
    """

    reason: str
    held: bool
    at: datetime
    until: datetime | None = None
    kinds: tuple[str, ...] = ()

    def binds(self, now: datetime, kind: str) -> bool:
        """Does it hold back a mail of this kind now? No kinds named means all of them."""
        in_time = self.until is None or now < self.until
        return self.held and in_time and (not self.kinds or kind in self.kinds)


@value
class Span:
    """How long the holds of one sort last: until an instant (UTC), `indefinite`, or not at all."""

    until: datetime | None = None
    indefinite: bool = False


@dataclass(slots=True)
class HoldBook:
    """The holds of one invoice, customer or address: by reason, then by kind of mail.

    Words on one reason add up by kind: held for digests and later for notifications means held for
    both, and a release for one of them leaves the other. At most one word for each kind is kept.

    Where a word has a source, it is one with the words of that source alone: what one provider
    stops, another one does not know of, and cannot lift.
    """

    holds: dict[str, dict[str, Hold]] = field(default_factory=dict)

    def newer(self, hold: Hold, source: str = "") -> bool:
        """Is it news for one kind at least? Of two of one instant the last to arrive stands."""
        place = place_of(hold.reason, source)
        return any(self._newer(place, hold, kind) for kind in hold.kinds or (EVERY_KIND,))

    def note(self, hold: Hold, source: str = "") -> None:
        """Take the word for each kind for which it is news; called by events only."""
        place = place_of(hold.reason, source)
        for kind in hold.kinds or (EVERY_KIND,):
            if self._newer(place, hold, kind):
                words = self.holds.setdefault(place, {})
                if kind == EVERY_KIND:
                    for old in [k for k, word in words.items() if word.at <= hold.at]:
                        del words[old]
                words.pop(kind, None)
                words[kind] = hold

    def binding(self, now: datetime, kind: str, *, but: str | None = None) -> Hold | None:
        """The hold that lasts longest of those which bind now, or None; `but` passes one sort."""
        if not self.holds:
            return None
        return _longest([w for w in self._words_on(kind, but) if w.binds(now, kind)])

    def bound_by(self, reason: str, now: datetime, kind: str) -> Hold | None:
        """The hold of this sort of reason that lasts longest and binds a mail of this kind now."""
        words = [word for word in self._words_on(kind, None) if is_of_sort(word.reason, reason)]
        return _longest([word for word in words if word.binds(now, kind)])

    def until(self, now: datetime, kind: str) -> tuple[datetime | None, bool]:
        """The end of the binding holds and whether they have none: what a read model keeps."""
        span = span_of(self.binding(now, kind))
        return span.until, span.indefinite

    def in_force(self, now: datetime) -> list[tuple[str, Hold]]:
        """Every hold that binds some kind of mail now, with its source and the kinds it binds."""
        found = []
        for place, words in self.holds.items():
            kinds: dict[Hold, list[str]] = {}
            for kind, word in words.items():
                if word.binds(now, kind):
                    kinds.setdefault(word, []).append(kind)
            for word, bound in kinds.items():
                named = () if EVERY_KIND in bound else tuple(sorted(bound))
                binding = Hold(word.reason, True, word.at, word.until, named)
                found.append((_source_in(place), binding))
        return found

    def words(self) -> tuple[Hold, ...]:
        """Every word that is kept, each once, in an order in which they can be noted again."""
        return tuple(dict.fromkeys(w for words in self.holds.values() for w in words.values()))

    def copy(self) -> "HoldBook":
        """A book that can be written to without changing this one."""
        return HoldBook({reason: dict(words) for reason, words in self.holds.items()})

    def by_source(self) -> tuple[tuple[str, Hold], ...]:
        """Every word that is kept with the source that told it; "" where nobody knows."""
        found = [
            (_source_in(p), word) for p, words in self.holds.items() for word in words.values()
        ]
        return tuple(dict.fromkeys(found))

    def _newer(self, place: str, hold: Hold, kind: str) -> bool:
        words = self.holds.get(place, {})
        known, of_all = words.get(kind), words.get(EVERY_KIND)
        if known is not None and (hold.at < known.at or hold == known):
            return False
        return of_all is None or hold.at >= of_all.at

    def _words_on(self, kind: str, but: str | None) -> list[Hold]:
        """For each reason the hold that binds this kind: its own, else that for all kinds."""
        found = []
        for words in self.holds.values():
            word = words.get(kind) or words.get(EVERY_KIND)
            if word is not None and (but is None or not is_of_sort(word.reason, but)):
                found.append(word)
        return found


def place_of(reason: str, source: str) -> str:
    """The place in a book of what a source tells for this reason; reasons have no line breaks."""
    return f"{reason}\n{source}" if source else reason


def _source_in(place: str) -> str:
    return place.partition("\n")[2]


def is_of_sort(reason: str, sort: str) -> bool:
    """Is it that reason, or one of its sort, such as `unsubscribed: group 10`?"""
    return reason == sort or reason.startswith(f"{sort}:")


def span_of(hold: Hold | None) -> Span:
    """How long a hold lasts, or none."""
    return Span() if hold is None else Span(hold.until, hold.until is None)


def _longest(holds: list[Hold]) -> Hold | None:
    if not holds:
        return None
    endless = [hold for hold in holds if hold.until is None]
    return endless[0] if endless else max(holds, key=lambda hold: hold.until or hold.at)
