"""The time that a row tells: in one field, or in fields for the day, the clock and the zone."""

import re
from collections.abc import Iterable
from functools import lru_cache

from api.imports.fields import Fields, plain

_LONGEST = 100
_DAYS = ("send date", "sent date", "date sent", "date", "day")
_CLOCKS = ("send time", "sent time", "time sent", "time", "time of day")
_ZONES = ("time zone", "time zone offset", "tz", "utc offset")
_DAY_NAMES = frozenset(map(plain, _DAYS))
_HAS_CLOCK = re.compile(r"\d:\d\d", re.ASCII)
_CLOCK_ALONE = re.compile(
    r"T?\d{1,2}[:.h]\d\d(?:[:.]\d\d(?:[.,]\d+)?)?(?:\s*[ap]\.?\s?m\b\.?)?(?:\s*Uhr)?"
    r"(?:\s*[A-Za-z(\[+-]\S*)?|\d{1,2}\s*[ap]\.?m\.?",
    re.ASCII | re.IGNORECASE,
)
_HAS_DAY = re.compile(r"\d{8}|\d{4}-\d|\d[./]\d{1,2}[./]\d|[A-Za-z]{3}.*\d{4}", re.ASCII)
_ZONE_IN_NAME = re.compile(
    r"(?P<name>.*[^\s_])[\s_]*(?:\((?P<round>[^()]+)\)|\[(?P<square>[^\[\]]+)\])"
    r"|(?P<plain>.*[^\s_])[\s_]+(?P<zone>UTC|GMT)",
    re.IGNORECASE,
)


def time_in(record: Fields, paths: Iterable[str]) -> str | None:
    """The time at the first path where there is one; None where there is none.

    `Date` is joined with `Time`. A zone of the field's name, as in `Sent At (UTC)`, or of a field
    of its own stands behind the time in brackets: it counts where the time has no offset.
    """
    named = _named_zones(record)
    for path in paths:
        text, zone = _text(record, named, path)
        if text is not None:
            break
    else:
        return None
    if _CLOCK_ALONE.fullmatch(text):
        days = (_text(record, named, name) for name in _DAYS)
        day, other = next((found for found in days if found[0] is not None), ("", None))
        text = f"{day} {text}".strip()
        zone = zone or other
    elif plain(path) in _DAY_NAMES and not _HAS_CLOCK.search(text):
        clocks = (_text(record, named, name) for name in _CLOCKS)
        clock, other = next((found for found in clocks if found[0] is not None), (None, None))
        if clock is not None:
            whole = _HAS_DAY.search(clock[:_LONGEST]) and not _CLOCK_ALONE.fullmatch(clock)
            text = clock if whole else f"{text} {clock}"
            zone = zone or other
    zone = zone or record.text(_ZONES)
    return text if zone is None else f"{text} [{zone.strip('[]')}]"


def _text(
    record: Fields, named: dict[str, tuple[str, str]], path: str
) -> tuple[str | None, str | None]:
    """What stands at a path, and the zone that the field's name tells."""
    text = record.text((path,))
    if text is not None or plain(path) not in named:
        return text, None
    name, zone = named[plain(path)]
    return record.text((name,)), zone


def _named_zones(record: Fields) -> dict[str, tuple[str, str]]:
    """The fields whose names tell a zone, by their names without it."""
    found: dict[str, tuple[str, str]] = {}
    for name in record.columns:
        split = _zone_in_name(name)
        if split is not None:
            found.setdefault(split[0], (name, split[1]))
    return found


@lru_cache(maxsize=4096)
def _zone_in_name(name: str) -> tuple[str, str] | None:
    found = _ZONE_IN_NAME.fullmatch(name.strip())
    if found is None:
        return None
    zone = found["round"] or found["square"] or found["zone"]
    return plain(found["name"] or found["plain"]), zone.strip()
