"""When a mail went out, by what a log says: epochs, ISO 8601, mail dates, and written dates."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from api.imports.rows import BadRow, UnsettledDate
from api.imports.written_dates import in_named_zone, without_zone, written_moments

DAY_FIRST, MONTH_FIRST, EXCEL = "day-first", "month-first", "excel"
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_FIRST_EPOCH, _LAST_EPOCH = 946_684_800, 4_102_444_800
"""The years 2000 to 2099 in epoch seconds; in milliseconds and finer they do not meet."""
_PER_SECOND = (1, 1_000, 1_000_000, 1_000_000_000)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d{1,3})?", re.ASCII)
_COMPACT = re.compile(r"(20\d\d)(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?", re.ASCII)
_EXCEL_EPOCH = datetime.combine(date(1899, 12, 30), time.min)
"""Day 0 of spreadsheets from March 1900 on, on no clock in particular."""
_EXCEL_DAYS = range(36_526, 73_051)


@dataclass(frozen=True, slots=True)
class Dates:
    """How a log writes its times, as far as they do not say so themselves.

    `zone` is that of times without an offset. `formats` are tried in their order: `day-first` and
    `month-first` settle 03/04/2026, `excel` reads the days of a spreadsheet, anything else is a
    pattern of strptime. `year` is that of the first line where lines carry none, as syslog's.
    """

    zone: ZoneInfo | None = None
    formats: tuple[str, ...] = ()
    year: int | None = None


def moment_of(value: str, dates: Dates) -> datetime:
    """A time of a log in UTC.

    Epochs may count seconds, milliseconds or finer. A wall time that came twice as clocks were
    set back is the later one, which keeps windows full for longer. A day without a time is its
    first instant. Raises UnsettledDate for what can be read in two ways, for a time without an
    offset where no zone is given, and for a year before 2000; BadRow for what is no time.
    """
    text = value.strip()
    bare, name = without_zone(text)
    moment = _of_formats(text, dates.formats)
    if moment is None:
        moment = _of_formats(bare, dates.formats)
        if moment is None and _NUMBER.fullmatch(bare):
            moment = _of_number(bare)
        if moment is not None:
            moment = in_named_zone(moment, name, dates.zone)
    if moment is None:
        moment = _written(text, dates)
    moment = _in_utc(moment, dates.zone)
    if moment < _FIRST:
        raise UnsettledDate("at: the date lies before the year 2000; say how with --date-format")
    return moment


def _in_utc(moment: datetime, zone: ZoneInfo | None) -> datetime:
    try:
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
        if zone is None:
            raise UnsettledDate("at: the time has no offset; name its zone with --time-zone")
        return max(moment.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    except OverflowError:
        raise BadRow("at: the time is out of range") from None


def _of_formats(text: str, formats: tuple[str, ...]) -> datetime | None:
    for form in formats:
        if form in (DAY_FIRST, MONTH_FIRST):
            continue
        try:
            if form == EXCEL:
                days = float(text)
                if int(days) in _EXCEL_DAYS:
                    return _EXCEL_EPOCH + timedelta(milliseconds=round(days * 86_400_000))
            else:
                return _by_pattern(text, form)
        except (ValueError, OverflowError):
            continue
    return None


def _of_number(text: str) -> datetime:
    """An epoch, or a date written in digits alone."""
    compact = _COMPACT.fullmatch(text)
    if compact is not None:
        try:
            year, month, day, hour, minute, second = map(int, compact.groups(default="0"))
            return datetime.combine(date(year, month, day), time(hour, minute, second))
        except ValueError:
            pass
    number = float(text)
    for per_second in _PER_SECOND:
        if _FIRST_EPOCH <= number / per_second < _LAST_EPOCH:
            if _last_digit(text) > per_second:
                raise UnsettledDate(
                    "at: a spreadsheet cut digits off the number; export the column as text"
                )
            return datetime.fromtimestamp(number / per_second, UTC)
    if abs(number) > _LAST_EPOCH * _PER_SECOND[-1]:
        raise BadRow("at: the epoch is out of range")
    raise UnsettledDate(
        "at: as an epoch the number lies outside the years 2000 to 2099; if it counts days as a "
        "spreadsheet does, say --date-format excel"
    )


def _last_digit(text: str) -> float:
    """What the last digit of a number such as 1.79876E+12 counts: 10,000,000 there."""
    mantissa, mark, exponent = text.lower().partition("e")
    if not mark:
        return 0
    return 10.0 ** (int(exponent) - len(mantissa.partition(".")[2]))


def _written(text: str, dates: Dates) -> datetime:
    moments = written_moments(text, dates.zone)
    if not moments:
        raise BadRow("at: this is no time; write 2026-12-01T00:00:00Z")
    different = {reading.moment for reading in moments}
    if len(different) == 1:
        return moments[0].moment
    for form in dates.formats:
        chosen = [reading.moment for reading in moments if reading.order == form]
        if chosen:
            return chosen[0]
    raise UnsettledDate(
        "at: the date can be read in two ways; say --date-format day-first or month-first"
    )


def _by_pattern(text: str, pattern: str) -> datetime:
    """The time by a pattern; where that has no offset, a time on no clock in particular."""
    return datetime.strptime(text, pattern)  # noqa: DTZ007


def check_format(text: str) -> str:
    """A format that can be used. Raises ValueError."""
    if text in (DAY_FIRST, MONTH_FIRST, EXCEL):
        return text
    if "%" not in text:
        raise ValueError("it is day-first, month-first, excel, or a pattern such as %d.%m.%Y %H:%M")
    written = datetime(2026, 12, 31, 20, 13, 42, tzinfo=UTC).strftime(text)
    if _by_pattern(written, text).date() != date(2026, 12, 31):
        raise ValueError("the pattern has no day, month and year")
    return text
