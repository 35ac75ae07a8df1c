"""Calendar days of a zone: which one an instant lies in, and when one begins."""

from datetime import date

import pytest

from ledger.domain.local_days import local_day, start_of_day
from tests.support.build import at


@pytest.mark.parametrize(
    ("instant", "zone", "day"),
    [
        ("2026-11-30T21:00:00+00:00", "Australia/Sydney", "2026-12-01"),
        ("2026-11-30T21:00:00+00:00", "UTC", "2026-11-30"),
        ("2026-12-01T04:59:59+00:00", "America/New_York", "2026-11-30"),
        ("2026-12-01T05:00:00+00:00", "America/New_York", "2026-12-01"),
        ("2026-11-30T10:00:00+00:00", "Pacific/Kiritimati", "2026-12-01"),
    ],
)
def test_an_instant_lies_in_a_day_of_the_zone(instant: str, zone: str, day: str) -> None:
    assert local_day(at(instant), zone) == date.fromisoformat(day)


@pytest.mark.parametrize(
    ("day", "zone", "instant"),
    [
        ("2026-12-07", "UTC", "2026-12-07T00:00:00+00:00"),
        ("2026-12-07", "Australia/Sydney", "2026-12-06T13:00:00+00:00"),
        # The clocks skip midnight here.
        ("2026-09-06", "America/Santiago", "2026-09-06T04:00:00+00:00"),
        # Midnight comes twice here; the day begins with the first.
        ("2026-11-01", "America/Havana", "2026-11-01T04:00:00+00:00"),
    ],
)
def test_a_day_begins_at_its_first_instant(day: str, zone: str, instant: str) -> None:
    assert start_of_day(date.fromisoformat(day), zone) == at(instant)
