"""Holds as the model has them: every word ever told, looked through each time."""

from dataclasses import dataclass, field
from datetime import datetime

from ledger.application.facts.address_hold import AddressHoldTold
from ledger.application.facts.customer_hold import CustomerHeld
from ledger.application.facts.fact import Fact


@dataclass(frozen=True)
class ModelWord:
    """What was told on one reason: held or lifted, for all kinds of mail or the named ones."""

    reason: str
    on: bool
    at: datetime
    until: datetime | None = None
    kinds: tuple[str, ...] = ()


def word_of(fact: Fact, said: CustomerHeld | AddressHoldTold, now: datetime) -> ModelWord:
    """What a fact tells."""
    return ModelWord(said.reason, said.held, fact.time or now, said.until, said.kinds)


@dataclass
class ModelHolds:
    """Words in the order of their arrival; of those on one kind the latest counts."""

    words: list[ModelWord] = field(default_factory=list)

    def told(self, word: ModelWord) -> bool:
        """Take a word; was it news for one kind at least?"""
        before = [self._last(word.reason, kind) for kind in word.kinds or ("",)]
        news = any(old is None or (word.at >= old.at and word != old) for old in before)
        if news:
            self.words.append(word)
        return news

    def held(self, now: datetime, kind: str) -> bool:
        """Does one of the reasons hold a mail of this kind back now?"""
        return bool(self.reasons(now, kind))

    def reasons(self, now: datetime, kind: str) -> set[str]:
        """The reasons that hold a mail of this kind back now."""
        found = set()
        for reason in {word.reason for word in self.words}:
            last = self._last(reason, kind)
            if last is not None and last.on and (last.until is None or now < last.until):
                found.add(reason)
        return found

    def release(self, now: datetime) -> None:
        """A human lifts all but what the owner of the address asked for."""
        for reason in {word.reason for word in self.words} - {"unsubscribed"}:
            self.told(ModelWord(reason, False, now))

    def _last(self, reason: str, kind: str) -> ModelWord | None:
        """The latest word that speaks of this kind, of two of one instant the last to arrive."""
        found = None
        for word in self.words:
            speaks = word.reason == reason and (not word.kinds or kind in word.kinds)
            if speaks and (found is None or word.at >= found.at):
                found = word
        return found
