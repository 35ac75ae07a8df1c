"""Reads a date as people and programs write it, and tells every way in which it can be read."""

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from api.imports.date_words import month_of, named_by_zone, offset_of
from api.imports.rows import UnsettledDate
from ledger.domain.policy import PolicyError, check_time_zone

_LONGEST = 100
_COMMENT = re.compile(r"\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])$")
"""The name of the zone, as mails and Java write it behind the time."""
_ACCESS_LOG = re.compile(r"\[?(\d{1,2}/[A-Za-z]{3}/\d{4}):(\d\d:[^\[\]]*)\]?", re.ASCII)
_MINUS = str.maketrans("\u2010\u2013\u2212", "---")
_ISO = re.compile(r"(?:\d{4}-\d\d-\d\d[T ]\d\d:?\d\d|20\d{6}T\d{4}).*", re.ASCII | re.DOTALL)
_TIME = re.compile(
    r"(?<![\d:.+\-])(?:T(?=\d))?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
    r"(?:\s*([ap])\.?\s?m\b\.?|\s*(?:Uhr|h)\b)?(?![:\d])",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = re.compile(
    r"(?:UTC|GMT)?\s?([+-])(\d{1,2})(?::?(\d{2}))?(?::?\d{2})?(?:\s+\w+)?", re.ASCII
)
_REGION = re.compile(r"[A-Za-z_]+(/[A-Za-z0-9_+-]+){1,2}", re.ASCII)
_ABBREVIATION = re.compile(r"[A-Za-z]{1,5}", re.ASCII)
_NUMERIC = re.compile(r"(\d{1,4})\s?([/.\-])\s?(\d{1,2})\s?\2\s?(\d{1,4})\.?", re.ASCII)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ORDERS = {"day-first": "dmy", "month-first": "mdy", "year-first": "ymd"}


@dataclass(frozen=True, slots=True)
class DateReading:
    """One way to read a text; `order` is `day-first`, `month-first`, `year-first`, or None."""

    moment: datetime
    order: str | None = None


def written_moments(text: str, zone: ZoneInfo | None) -> list[DateReading]:
    """Every way to read the text, none where it is no date; without an offset they are naive.

    `zone` is asked only what an abbreviation such as CST means in it. Raises UnsettledDate for a
    zone's name that can mean several, or is not known.
    """
    text = " ".join(text.split())
    text = " ".join(unicodedata.normalize("NFKC", text[: _LONGEST + 1]).split())
    if not text or len(text) > _LONGEST:
        return []
    logged = _ACCESS_LOG.fullmatch(text)
    text = f"{logged[1]} {logged[2]}" if logged is not None else text.translate(_MINUS)
    text, named = without_zone(text)
    if _ISO.fullmatch(text):
        # An ISO date with a zone's name behind it is read below.
        with suppress(ValueError):
            return [DateReading(in_named_zone(datetime.fromisoformat(text), named, zone))]
    found = list(_TIME.finditer(text))
    if len(found) > 1:
        return []
    if not found:
        days = _dates(text)
        return [
            DateReading(in_named_zone(_midnight(day), named, zone), order) for day, order in days
        ]
    return _with_clock(text, found[0], named, zone)


def without_zone(text: str) -> tuple[str, str]:
    """A text and what stands in brackets at its end, which is empty where nothing does."""
    comment = _COMMENT.search(text) if len(text) <= _LONGEST else None
    if comment is None:
        return text, ""
    return text[: comment.start()], (comment[1] or comment[2] or "").strip()


def in_named_zone(moment: datetime, name: str, zone: ZoneInfo | None) -> datetime:
    """The moment in the zone of that name, unless it has an offset or the name is empty.

    Raises UnsettledDate where the name can mean several zones, or none.
    """
    return _named(moment, "", name, zone)


def _with_clock(
    text: str, shown: re.Match[str], comment: str, zone: ZoneInfo | None
) -> list[DateReading]:
    """Every way to read a text in which a clock is shown."""
    before, after = text[: shown.start()], text[shown.end() :].strip(" ,")
    late = re.fullmatch(r"(?:(.*)\s)?(\d{4})", after, re.ASCII)
    if late is not None and before.strip(" ,"):
        before, after = f"{before} {late[2]}", late[1] or ""
    clock = _clock(shown)
    if clock is None:
        return []
    if not before.strip(" ,"):
        before, after = after, ""
    readings = []
    for day, order in _dates(before.strip(" ,")):
        moment = _named(_midnight(day) + clock, after.strip(), comment, zone)
        readings.append(DateReading(moment, order))
    return readings


def _midnight(day: date) -> datetime:
    """The first instant of a day, in no zone yet."""
    return datetime.combine(day, time.min)


def _clock(shown: re.Match[str]) -> timedelta | None:
    """The time since midnight, None where no clock shows it."""
    hour, minute, second = int(shown[1]), int(shown[2]), int(shown[3] or 0)
    half = (shown[5] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    micros = int((shown[4] or "0").ljust(6, "0")[:6])
    return timedelta(hours=hour, minutes=minute, seconds=second, microseconds=micros)


def _named(moment: datetime, name: str, comment: str, zone: ZoneInfo | None) -> datetime:
    """The moment in the zone behind it; in that of the comment, unless it has an offset already.

    Raises UnsettledDate where neither is a zone that is known.
    """
    if moment.tzinfo is not None or not (name or comment):
        return moment
    found = (_zoned(moment, text, zone) for text in (name, comment) if text)
    zoned = next((there for there in found if there is not None), None)
    if zoned is None:
        raise UnsettledDate(
            "at: the name of the time's zone can mean several, or is not known; name a zone that "
            "uses it with --time-zone"
        )
    return zoned


def _zoned(moment: datetime, name: str, zone: ZoneInfo | None) -> datetime | None:
    """The moment with the offset that a text names; None where it names none that is known."""
    numeric = _OFFSET.fullmatch(name)
    if numeric is not None:
        offset = timedelta(hours=int(numeric[2]), minutes=int(numeric[3] or 0))
        if offset < timedelta(hours=24):
            return moment.replace(tzinfo=timezone(-offset if numeric[1] == "-" else offset))
    elif _REGION.fullmatch(name):
        try:
            return moment.replace(tzinfo=ZoneInfo(check_time_zone(name)), fold=1)
        except PolicyError:
            pass
    elif _ABBREVIATION.fullmatch(name):
        known = offset_of(name)
        if known is not None:
            return moment.replace(tzinfo=timezone(known))
        return None if zone is None else named_by_zone(name, moment, zone)
    return None


def _dates(text: str) -> list[tuple[date, str | None]]:
    """Every calendar day that the text can mean, with the order in which it was read."""
    numeric = _NUMERIC.fullmatch(text)
    if numeric is not None:
        return _of_numbers((numeric[1], numeric[3], numeric[4]))
    words = re.findall(r"[^\W\d_]+", text.lower())
    words = [word for word in words if word not in ("st", "nd", "rd", "th")]
    numbers = re.findall(r"\d+", text, re.ASCII)
    if re.sub(r"[\w\s,./\-]", "", text) or len(text) > _LONGEST:
        return []
    try:
        month = month_of(words)
    except ValueError:
        return []
    if month is None and len(words) > 0 and len(numbers) == 3:
        bare = _NUMERIC.search(text)
        return _of_numbers((bare[1], bare[3], bare[4])) if bare is not None else []
    if month is None or len(numbers) != 2:
        return []
    return _of_day_and_year(month, numbers, words)


def _of_day_and_year(
    month: int, numbers: list[str], words: list[str]
) -> list[tuple[date, str | None]]:
    """The days of a month's name and two numbers; a weekday that is named tells them apart."""
    found: dict[date, str | None] = {}
    for (day, year), order in ((numbers, "day-first"), (numbers[::-1], "year-first")):
        built = _date(year, str(month), day)
        if built is not None:
            found.setdefault(built, order)
    named = {_WEEKDAYS.index(word[:3]) for word in words if word[:3] in _WEEKDAYS}
    fitting = {day: order for day, order in found.items() if day.weekday() in named}
    return list((fitting or found).items())


def _of_numbers(numbers: tuple[str, str, str]) -> list[tuple[date, str | None]]:
    found: dict[date, str | None] = {}
    for order, letters in _ORDERS.items():
        parts = dict(zip(letters, numbers, strict=True))
        built = _date(parts["y"], parts["m"], parts["d"])
        if built is not None:
            found.setdefault(built, order)
    return list(found.items())


def _date(year: str, month: str, day: str) -> date | None:
    """The day, None where the parts make none: a year has two digits, of this century, or four."""
    if len(year) not in (2, 4) or len(month) > 2 or len(day) > 2:
        return None
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return None
