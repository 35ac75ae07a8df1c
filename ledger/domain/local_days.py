"""Calendar days of a time zone: which one an instant lies in, and when one begins."""

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo


@lru_cache(maxsize=256)
def local_day(instant: datetime, zone: str) -> date:
    """The calendar day of an instant in an IANA zone.

    A batch asks for the day of one instant again and again, in few zones.
    """
    return instant.astimezone(ZoneInfo(zone)).date()


def start_of_day(day: date, zone_name: str) -> datetime:
    """The start of a calendar day in an IANA zone, as UTC.

    Where the clocks skip midnight the first instant that exists is taken.
    """
    zone = ZoneInfo(zone_name)
    midnight = datetime.combine(day, time(0), zone).astimezone(ZoneInfo("UTC"))
    if midnight.astimezone(zone).date() < day:
        midnight += timedelta(hours=1)
    return midnight
