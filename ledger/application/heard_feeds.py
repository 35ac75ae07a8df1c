"""Which sources of facts one process has heard since it last wrote that down.

Kept in memory and written every few seconds: a row a fact would cost the way of every fact, for
something that is asked for by the hour. What a crash loses are seconds of a count.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from ledger.application.answers import Answer
from ledger.application.commands import ApplyFact, Command
from ledger.application.facts.fact import RIDING
from ledger.application.facts.registry import FACT_TYPES

RESULTS = ("applied", "duplicate", "stale", "ignored", "rejected")
"""What can become of a fact."""
_MOST_SOURCES = 1_000


@dataclass(slots=True)
class Heard:
    """One source: when it was heard last (UTC), what became of its facts, and what they tell of.

    `tells_of_money`: it has told what somebody owes, so reminders rest on it.
    """

    at: datetime
    tells_of_money: bool = False
    results: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RESULTS, 0))


class HeardFeeds:
    """The sources heard since `take`; of more than a thousand at once the rest is not noted.

    `watch` is held by whoever writes them down.
    """

    def __init__(self) -> None:
        self.watch = asyncio.Lock()
        self._heard: dict[str, Heard] = {}

    def note(self, at: datetime, commands: Iterable[Command], answers: Iterable[Answer]) -> None:
        """Note the facts among commands that were committed; `at` is the ledger's time."""
        for command, answer in zip(commands, answers, strict=True):
            if isinstance(command, ApplyFact) and answer.result in RESULTS:
                self._note(at, command, answer.result)

    def take(self) -> dict[str, Heard]:
        """What was noted, which is forgotten here."""
        taken, self._heard = self._heard, {}
        return taken

    def give_back(self, taken: dict[str, Heard]) -> None:
        """Note again what could not be written."""
        for source, heard in taken.items():
            known = self._heard.get(source)
            if known is None:
                self._heard[source] = heard
                continue
            known.tells_of_money |= heard.tells_of_money
            for result, count in heard.results.items():
                known.results[result] += count

    def _note(self, at: datetime, command: ApplyFact, result: str) -> None:
        source = command.fact.source
        if source in ("", RIDING):
            return
        heard = self._heard.get(source)
        if heard is None:
            if len(self._heard) >= _MOST_SOURCES:
                return
            heard = self._heard[source] = Heard(at)
        heard.at = at
        heard.results[result] += 1
        if not heard.tells_of_money:
            heard.tells_of_money = FACT_TYPES[type(command.fact.data)].tells_of_money
