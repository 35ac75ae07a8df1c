"""Reads the ledger's status every few seconds (pauses, breakers, work that waits); logs changes.

Metrics show what was seen last, so that no scrape costs the database anything.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import psycopg

from api.running.parts import Parts
from ledger.application.clock import stopwatch
from ledger.application.ports import Need, StoreUnavailable
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.reasons import REASONS
from ledger.store.looking_back.status_counts import read_counts
from projections.customers import count_breakers

PERIOD = 5.0
"""Seconds between two looks."""
DENIALS_EVERY = 60.0
"""Seconds between two counts of denials in the log: a line for each code, whatever their number."""
_log = logging.getLogger("ledger.watch")


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """What was seen: scopes that are paused, open breakers by scope, and what waits.

    `unknown_permits` is by age, `unseen_alerts` by kind, `feed_ages` by source, in seconds.
    """

    paused: frozenset[str] = frozenset()
    recovery: bool = False
    open_breakers: Mapping[str, int] = field(default_factory=dict)
    unknown_permits: Mapping[str, float] = field(default_factory=dict)
    unseen_alerts: Mapping[str, float] = field(default_factory=dict)
    feed_ages: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Watched:
    """What one process saw last; `status` is None until it has looked, or while it cannot."""

    status: LedgerStatus | None = None
    database_up: bool = True
    _known: LedgerStatus = field(default_factory=LedgerStatus)
    _denied: Counter[str] = field(default_factory=Counter)
    _denials_at: float = field(default_factory=stopwatch)

    def saw(self, status: LedgerStatus) -> None:
        """Note the status, and tell the log what has changed."""
        if not self.database_up:
            _tell("database_back", "the database answers again")
        for change in changes(self._known, status):
            _tell(*change)
        self.status = self._known = status
        self.database_up = True

    def saw_nothing(self, why: str) -> None:
        """The database does not answer."""
        if self.database_up:
            _log.error("the database does not answer: %s", why, extra={"event": "database_lost"})
        self.status, self.database_up = None, False

    def count_denials(self, answers: Counter[str], now: float) -> None:
        """Tell once a minute how many requests were denied, by code; `now` is of the stopwatch."""
        if now - self._denials_at < DENIALS_EVERY:
            return
        for code, count in sorted((answers - self._denied).items()):
            if code in REASONS:
                text = "denied in %.0f seconds: %d by %s"
                extra = {"event": "denied", "code": code, "count": count}
                _log.info(text, now - self._denials_at, count, code, extra=extra)
        self._denied, self._denials_at = answers, now


def changes(before: LedgerStatus, after: LedgerStatus) -> Iterable[tuple[str, str]]:
    """What changed between two looks: the event's name, and a text for people."""
    for scope in sorted(after.paused - before.paused):
        yield "paused", f"{scope} is paused"
    for scope in sorted(before.paused - after.paused):
        yield "resumed", f"{scope} is not paused any more"
    if after.recovery != before.recovery:
        yield (
            ("recovery_mode", "the ledger is in recovery mode")
            if after.recovery
            else (
                "recovered",
                "the ledger is not in recovery mode any more",
            )
        )
    was, now = sum(before.open_breakers.values()), sum(after.open_breakers.values())
    if was != now:
        yield "breakers", f"{now} breakers are open, {was} were"


async def watch_status(parts: Parts, watched: Watched) -> None:
    """Look for ever; what cannot be read is looked at again later."""
    while True:
        try:
            watched.saw(await look(parts))
        except (StoreUnavailable, psycopg.Error) as error:
            watched.saw_nothing(type(error).__name__)
        watched.count_denials(parts.engine.counters.answers, stopwatch())
        await asyncio.sleep(PERIOD)


async def look(parts: Parts) -> LedgerStatus:
    """The status now. Raises StoreUnavailable, psycopg.Error."""
    loaded = await parts.reader.load(Need(aggregates={CONTROL_ID}))
    control = loaded.aggregates.get(CONTROL_ID)
    async with parts.connections.use() as connection:
        counts = await read_counts(connection)
        breakers = await count_breakers(connection)
    by: dict[str, dict[str, float]] = {"unknown": {}, "unseen": {}, "feed": {}}
    for what, which, number in counts:
        by[what][which] = number
    switches = control if isinstance(control, Control) else Control()
    return LedgerStatus(
        frozenset(switches.pauses),
        switches.recovery_since is not None,
        breakers,
        by["unknown"],
        by["unseen"],
        by["feed"],
    )


def _tell(event: str, text: str) -> None:
    _log.warning("%s", text, extra={"event": event})
