"""What a sent log is made of: its rows, and why one of them, or all, cannot be used."""

from dataclasses import dataclass
from typing import Any


class BadLog(Exception):
    """The file as a whole cannot be used; the message says why."""


class BadRow(ValueError):
    """One row cannot be used; the message says why, and nothing of its content (design D18)."""


class UnsettledDate(BadRow):
    """A row's time can be read in more than one way, or is before 2000.

    To guess would fill the wrong windows, for this row and for those like it that were read
    without a doubt: nothing of the log is taken until somebody settles how it writes its times.
    """


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row of the file: the number of the line it ends on, and its columns or why it has none.

    In a JSON document, which is not made of lines, `line` counts the records.
    """

    line: int
    columns: dict[str, Any]
    trouble: str | None = None
