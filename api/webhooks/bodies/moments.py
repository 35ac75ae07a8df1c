"""Parses times in the formats of providers: Unix seconds, milliseconds, RFC 3339, mail dates."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo

from api.webhooks.bodies.unusable import Unusable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)


def rfc3339(moment: datetime) -> str:
    """The time in UTC as RFC 3339, with fractions of a second only if they are not zero."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def day_in(moment: datetime, time_zone: str) -> str:
    """The calendar day of a moment in an IANA time zone, `YYYY-MM-DD`."""
    return moment.astimezone(ZoneInfo(time_zone)).date().isoformat()


def from_unix(value: object, where: str, *, per_second: int = 1) -> datetime:
    """A moment from Unix time in whole or fractional seconds, or `per_second` parts of one.

    Raises Unusable for anything but a number, and outside the years 1990 to 2199: such a date is a
    mistake, and guessing the right one could send a wrong reminder.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unusable("bad_date", f"{where} is not Unix time")
    try:
        if per_second == 1 and isinstance(value, int):
            moment = _EPOCH + timedelta(seconds=value)
        else:
            moment = _EPOCH + timedelta(microseconds=round(value * 1_000_000 / per_second))
    except OverflowError:
        raise Unusable("bad_date", f"{where} is out of range") from None
    return _within_reason(moment, where)


def from_rfc3339(value: object, where: str) -> datetime:
    """A moment from RFC 3339 text with an offset. Raises Unusable otherwise, as from_unix does."""
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise Unusable("bad_date", f"{where} is not an RFC 3339 time with an offset")
    try:
        moment = datetime.fromisoformat(value.upper())
    except ValueError:
        raise Unusable("bad_date", f"{where} is not a date of the calendar") from None
    return _within_reason(moment, where)


def from_mail_date(value: object, where: str) -> datetime:
    """A moment from the Date of a mail (RFC 5322). Raises Unusable otherwise."""
    try:
        moment = parsedate_to_datetime(value if isinstance(value, str) else "")
    except (ValueError, TypeError, IndexError, OverflowError):
        raise Unusable("bad_date", f"{where} is not the date of a mail") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _within_reason(moment, where)


def _within_reason(moment: datetime, where: str) -> datetime:
    if not _EARLIEST <= moment < _LATEST:
        raise Unusable("bad_date", f"{where} is out of range")
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
