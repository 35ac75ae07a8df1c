"""Identical denials: the first of a minute have rows of their own, the later ones are counted."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import NAMESPACE_OID, uuid5

from ledger.application.caller import SYSTEM, Caller
from ledger.application.effects import Outcome
from ledger.application.ports import DecisionRow
from ledger.domain.value import value

MOST_ROWS = 60
"""Rows that one key has a minute for one request that is denied for one reason."""
_MINUTE = timedelta(minutes=1)
_MOST_KEPT = 2_000
"""Kinds of denials that are followed; one that is not has a row of its own each time."""

Same: TypeAlias = tuple[str, str, str | None, bytes]
"""What makes denials identical: key, operation, code, and the sha256 of the request."""


@value
class _Seen:
    """What a minute of identical denials has had: `counted` of them have no row of their own.

    `row` is the last that was written, `at` and `position` are those of the last denial.
    """

    since: datetime
    rows: int
    counted: int
    row: DecisionRow
    at: datetime
    position: int


@dataclass(slots=True)
class Tally:
    """The denials of one transaction, on top of those that were committed before it."""

    now: datetime
    _committed: dict[Same, _Seen]
    _open: dict[Same, _Seen] = field(default_factory=dict)
    counted: list[DecisionRow] = field(default_factory=list)

    def row_for(self, row: DecisionRow) -> str | None:
        """None where this denial is written; else the id of the decision that it repeats."""
        same = _same(row)
        seen = self._open.get(same) or self._committed.get(same)
        if seen is not None and _is_over(seen, self.now):
            seen = None
        if seen is None:
            if len(self._committed) + len(self._open) < _MOST_KEPT:
                self._open[same] = _Seen(self.now, 1, 0, row, self.now, row.position)
            return None
        if seen.rows < MOST_ROWS:
            self._open[same] = replace(
                seen, rows=seen.rows + 1, row=row, at=self.now, position=row.position
            )
            return None
        self._open[same] = replace(
            seen, counted=seen.counted + 1, at=self.now, position=row.position
        )
        self.counted.append(row)
        return seen.row.decision_id


class RepeatedDenials:
    """The denials of the last minute, bounded; what was counted becomes one row at its end."""

    def __init__(self) -> None:
        self._seen: dict[Same, _Seen] = {}
        self._counted: set[Same] = set()

    @property
    def owes_rows(self) -> bool:
        """Is there a count that is not written yet?"""
        return bool(self._counted)

    def begin(self, now: datetime, *, closing: bool = False) -> tuple[Tally, list[DecisionRow]]:
        """The tally of a transaction, and the rows of the minutes that are over, to write in it.

        `closing`: the process ends, so every minute is over.
        """
        due = [s for s in self._counted if closing or _is_over(self._seen[s], now)]
        kept = {s: each for s, each in self._seen.items() if s not in due} if due else self._seen
        return Tally(now, kept), list(self._rows(due))

    def commit(self, tally: Tally) -> None:
        """Keep the tally of a transaction that was committed, and forget minutes that are over."""
        self._seen = tally._committed
        self._seen.update(tally._open)
        if len(self._seen) >= _MOST_KEPT // 2:
            self._seen = {
                s: e for s, e in self._seen.items() if e.counted or not _is_over(e, tally.now)
            }
        if tally._open or self._counted:
            self._counted = {s for s, each in self._seen.items() if each.counted}

    def _rows(self, due: list[Same]) -> Iterator[DecisionRow]:
        for same in due:
            seen = self._seen[same]
            yield replace(
                seen.row,
                decision_id=str(uuid5(NAMESPACE_OID, f"{seen.row.decision_id} and repeats")),
                decided_at=seen.at,
                position=seen.position,
                answer=seen.row.answer[:-1] + b',"repeats":%d}' % seen.counted,
            )


def _is_over(seen: _Seen, now: datetime) -> bool:
    """Has the minute passed? Also where the clock was set back."""
    return not timedelta(0) <= now - seen.since < _MINUTE


def _same(row: DecisionRow) -> Same:
    return (row.key_id, row.operation, row.code, hashlib.sha256(row.request).digest())


def repeated_decision(
    tally: Tally | None, caller: Caller, outcome: Outcome, row: DecisionRow
) -> str | None:
    """The decision that this denial repeats without a row of its own; None where it has one.

    The ledger's own requests, and denials that change something, always have one.
    """
    if tally is None or outcome.denial is None or caller.key_id == SYSTEM.key_id:
        return None
    if outcome.changes or outcome.alerts:
        return None
    return tally.row_for(row)
