"""What logs of mail servers share: lines, whatever logged them, and a bounded memory of mails."""

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader

import orjson

from api.imports.rows import BadLog, UnsettledDate

_LONGEST_LINE = 64 * 1024
_MOST_OPEN = 100_000
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_PROGRAM = r"(?P<program>[^\s\[:]+)(?:\[\d+\])?: (?P<text>.*)"
_BSD = re.compile(
    r"(?:<\d{1,3}>)?(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?:(?P<year>\d{4}) )?"
    r"(?P<time>\d\d:\d\d:\d\d(?:\.\d+)?) \S+ " + _PROGRAM,
    re.ASCII,
)
"""RFC 3164: neither a year nor a zone."""
_ISO = re.compile(
    r"(?:<\d{1,3}>)?(?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*) \S+ +" + _PROGRAM, re.ASCII
)
"""As rsyslog and journalctl write them with exact times; images have a level in place of a host."""
_CONTAINER = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\dT\S+) (?:std(?:out|err) [FP] )?"
    r"[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \S+ " + _PROGRAM,
    re.ASCII,
)
"""RFC 3164 behind the time that a container's log puts before it."""
_JOURNAL = re.compile(
    r"[A-Z][a-z]{2} (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Za-z0-9+:-]+) \S+ "
    + _PROGRAM,
    re.ASCII,
)
"""journalctl -o short-full."""
_RFC5424 = re.compile(
    r"(?:<\d{1,3}>1 )?(?P<at>\d{4}-\d\d-\d\dT\S+) \S+ (?P<program>[^\s\[:]+) \S+ \S+ "
    r"(?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ?(?:\ufeff)?(?P<text>.*)",
    re.ASCII,
)
_SERVICE = re.compile(r"[\w.-]+ +\| ", re.ASCII)
"""What docker compose puts before the lines of a service."""
NO_YEAR = "no year"
"""Stands in a row in place of the time, where a line has no year and none was said."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of syslog: the program that wrote it, when, and what."""

    number: int
    at: str
    program: str
    text: str


@dataclass(slots=True)
class Years:
    """The years of lines without one: the first is told, and they go on from line to line.

    A log is written in the order of time: from December to January the year goes up. A line that
    was late at the turn of a year, from January back to December, belongs to the old one.
    """

    year: int | None
    _month: int | None = None

    def of(self, month: int) -> int | None:
        """The year of a line of that month, 1 to 12."""
        if self.year is not None and self._month is not None:
            if month - self._month <= -6:
                self.year += 1
            elif month - self._month >= 6:
                self.year -= 1
        self._month = month
        return self.year


def text_lines(file: BufferedReader) -> Iterator[tuple[int, str]]:
    """The lines and their numbers; of an endless one no more than 64 KiB are kept."""
    number = 0
    while raw := file.readline(_LONGEST_LINE):
        number += 1
        rest = raw
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(_LONGEST_LINE)
        yield number, raw.decode("utf-8", "replace").rstrip("\r\n")


def syslog_line(number: int, line: str, years: Years) -> LogLine | None:
    """A line of RFC 3164, of RFC 5424, with an exact time in front, or of journald as JSON.

    None for another line.
    """
    if line.startswith("{"):
        return _journal_entry(number, line)
    service = _SERVICE.match(line)
    line = line[service.end() :] if service is not None else line
    for form in (_ISO, _JOURNAL, _CONTAINER, _RFC5424):
        exact = form.fullmatch(line)
        if exact is not None:
            return LogLine(number, exact["at"], exact["program"], exact["text"])
    found = _BSD.fullmatch(line)
    if found is None or found["month"] not in _MONTHS:
        return None
    month = _MONTHS.index(found["month"]) + 1
    year = int(found["year"]) if found["year"] else years.of(month)
    at = NO_YEAR if year is None else f"{year}-{month:02}-{int(found['day']):02} {found['time']}"
    return LogLine(number, at, found["program"], found["text"])


def _journal_entry(number: int, line: str) -> LogLine | None:
    """A line of `journalctl -o json`: microseconds, and a message that is text or bytes."""
    try:
        entry = orjson.loads(line)
        message = entry["MESSAGE"]
        text = message if isinstance(message, str) else bytes(message).decode("utf-8", "replace")
        at = datetime.fromtimestamp(int(entry["__REALTIME_TIMESTAMP"]) / 1_000_000, UTC)
        return LogLine(number, at.isoformat(), str(entry["SYSLOG_IDENTIFIER"]), text)
    except (ValueError, TypeError, KeyError, OverflowError, OSError):
        return None


def check_year(at: str) -> str:
    """The time of a row. Raises UnsettledDate where its line has no year."""
    if at == NO_YEAR:
        raise UnsettledDate("at: the line has no year; name that of the first line with --year")
    return at


def nothing_found(name: str, forms: str) -> BadLog:
    """The log has no line that the profile knows: to take nothing would look like success."""
    return BadLog(f"no line of the log is one of {name}'s: it reads {forms}")


@dataclass(slots=True)
class OpenMails:
    """What earlier lines told of mails that later lines deliver, for the latest 100,000 of them."""

    _known: OrderedDict[str, dict[str, str]] = field(default_factory=OrderedDict)

    def note(self, queue_id: str, **told: str) -> None:
        """Remember that of a mail."""
        mail = self._known.setdefault(queue_id, {})
        mail.update(told)
        self._known.move_to_end(queue_id)
        if len(self._known) > _MOST_OPEN:
            self._known.popitem(last=False)

    def of(self, queue_id: str) -> dict[str, str]:
        """What is known of a mail."""
        return self._known.get(queue_id, {})

    def forget(self, queue_id: str) -> None:
        """The mail left the queue, and its id may be given to another."""
        self._known.pop(queue_id, None)
