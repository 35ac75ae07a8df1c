"""Words in written dates: months and weekdays of some languages, and the names of time zones."""

from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from babel import Locale

_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs")
_FILLERS = frozenset("at on um de del à a le las los o klo kl den the of uhr".split())
_HOURS = {
    "UTC": 0.0, "GMT": 0.0, "UT": 0.0, "Z": 0.0,
    "WET": 0.0, "WEST": 1.0, "CET": 1.0, "MEZ": 1.0, "CEST": 2.0, "MESZ": 2.0,
    "EET": 2.0, "EEST": 3.0, "MSK": 3.0, "SAST": 2.0,
    "EST": -5.0, "EDT": -4.0, "CDT": -5.0, "MST": -7.0, "MDT": -6.0, "PST": -8.0, "PDT": -7.0,
    "AKST": -9.0, "AKDT": -8.0, "HST": -10.0,
    "JST": 9.0, "KST": 9.0, "AWST": 8.0, "ACST": 9.5, "ACDT": 10.5, "AEST": 10.0, "AEDT": 11.0,
    "NZST": 12.0, "NZDT": 13.0,
}  # fmt: skip
"""Names that stand for one offset. CST, IST, BST, AST and others stand for several: they are not
here, and only a zone that uses the name settles them."""


def offset_of(name: str) -> timedelta | None:
    """The offset that a zone's name stands for wherever it is used; None where there is none."""
    hours = _HOURS.get(name.upper())
    return None if hours is None else timedelta(hours=hours)


def named_by_zone(name: str, moment: datetime, zone: ZoneInfo) -> datetime | None:
    """The moment in that zone, if the zone has this name for its time then; else None."""
    for fold in (1, 0):
        there = moment.replace(tzinfo=zone, fold=fold)
        if (there.tzname() or "").upper() == name.upper():
            return there
    return None


def month_of(words: list[str]) -> int | None:
    """The month that the words of a date name, 1 to 12; None where they name none.

    Raises ValueError for a word that belongs to no date, and for two months. A word that is a
    month in one language and a weekday in another (`mar`) is the month only if no other word is.
    """
    months, days = _names()
    found = [word for word in words if word in months]
    for word in words:
        if word not in months and word not in days and word not in _FILLERS:
            raise ValueError("a word of it belongs to no date")
    certain = [word for word in found if word not in days] or found
    numbers = {months[word] for word in certain}
    if len(numbers) > 1:
        raise ValueError("it names two months")
    return next(iter(numbers), None)


@lru_cache(maxsize=1)
def _names() -> tuple[dict[str, int], frozenset[str]]:
    """Months by name and the names of weekdays, as CLDR has them, in lower case without dots."""
    meanings: dict[str, set[int]] = {"sept": {9}}
    days: set[str] = set("mon tue tues wed thu thur thurs fri sat sun".split())
    for language in _LANGUAGES:
        locale = Locale(language)
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in locale.months[context][width].items():
                    for word in _words(name):
                        meanings.setdefault(word, set()).add(number)
                for name in locale.days[context][width].values():
                    days.update(_words(name))
    months = {word: min(numbers) for word, numbers in meanings.items() if len(numbers) == 1}
    return months, frozenset(days)


def _words(name: str) -> list[str]:
    return [word for word in name.lower().replace(".", "").replace("-", " ").split() if word]
