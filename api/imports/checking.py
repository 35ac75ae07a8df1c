"""The first reading of a log: are its times certain, and which of its mails failed in the end."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from api.imports.profiles.profile import Fate
from api.imports.rows import BadRow, RawRow, UnsettledDate
from api.imports.sends_log import Reading, is_taken, understood

_MOST_FAILED = 500_000
"""Copies that failed are kept up to this number; what failed beyond it counts as sent."""
_TOLD = 10_000


class UnsettledLog(Exception):
    """Nothing of the log is taken: times in it can be read in two ways, or land before 2000."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        super().__init__(
            f"{rows:,} rows have a time that is not certain; nothing was taken. Settle it with "
            "--date-format, --time-zone or --year, and run the command again"
        )


@dataclass(slots=True)
class Checking:
    """What the first reading finds."""

    rows: int = 0
    unsettled: int = 0
    failed: set[bytes] = field(default_factory=set)


def checked(
    rows: Iterable[RawRow],
    reading: Reading,
    on_unsettled: Callable[[int, str], None],
    on_rows: Callable[[int], None],
) -> frozenset[bytes]:
    """The copies that failed. Raises UnsettledLog, after every such row was told of, and BadLog.

    `on_unsettled(line, why)` hears of the first 10,000 rows, `on_rows(n)` of progress.
    """
    found = Checking()
    for row in rows:
        found.rows += 1
        # The second reading tells of a bad row.
        with suppress(BadRow):
            try:
                if is_taken(row, reading):
                    told = understood(row, reading)
                    if told.fate is Fate.FAILED and len(found.failed) < _MOST_FAILED:
                        found.failed.update(mail.copy for mail in told.mails)
            except UnsettledDate as error:
                found.unsettled += 1
                if found.unsettled <= _TOLD:
                    on_unsettled(row.line, str(error))
        if found.rows % 1_000 == 0:
            on_rows(found.rows)
    if found.unsettled:
        raise UnsettledLog(found.unsettled)
    return frozenset(found.failed)
