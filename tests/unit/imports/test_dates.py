"""Times as logs write them: what is read, and what is refused because it can mean two things."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from api.imports.dates import Dates, check_format, moment_of
from api.imports.rows import BadRow, UnsettledDate

EVENING = datetime(2026, 12, 31, 20, 13, 42, tzinfo=UTC)
IN_UTC = Dates(ZoneInfo("UTC"))


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-31T20:13:42Z",
        "2026-12-31 20:13:42 UTC",
        "2026-12-31 20:13:42+00",
        "2026-12-31T20:13:42.0000000Z",
        "2026-12-31 20:13:42 +0000 UTC",
        "2026-12-31T21:13:42+01:00[Europe/Paris]",
        "2026-12-31 21:13:42 Europe/Paris",
        "2026/12/31 20:13:42",
        "31 Dec 2026 21:13:42 CET",
        "Thu, 31 Dec 2026 12:13:42 -0800 (PST)",
        "Thu Dec 31 2026 21:13:42 GMT+0100 (Central European Standard Time)",
        "Thu Dec 31 21:13:42 CET 2026",
        "Thu Dec 31 20:13:42 2026",
        "Dec 31, 2026 8:13:42 PM",
        "Thu, Dec 31, 2026 at 8:13:42 PM",
        "December 31st, 2026 8:13:42 p.m.",
        "12/31/2026 8:13:42 PM",
        "12/31/26, 8:13:42 PM",
        "31/12/2026, 20:13:42",
        "31.12.2026 20:13:42",
        "31. Dezember 2026 um 20:13:42 Uhr",
        "31 déc. 2026 à 20:13:42",
        "31 de diciembre de 2026 20:13:42",
        "8:13:42 PM 12/31/2026",
        "31.12.2026 21:13:42 +01:00",
        "31.12.2026 21:13:42+01:00",
        "12/31/2026 3:13:42 PM GMT-05:00",
        "12/31/2026 3:13:42 PM \u221205:00",
        "2026-12-31 21:13:42 UTC+01:00",
        "31 Dec 2026 21:13:42 GMT+1",
        "31/Dec/2026:21:13:42 +0100",
        "[31/Dec/2026:21:13:42 +0100]",
        "12/31/2026 3:13:42 PM (EST)",
        "2026-12-31 15:13:42 (EST)",
        "31.12.2026 21:13:42 (Europe/Berlin)",
        "2026-12-31T15:13:42[America/New_York]",
        "2026-12-31 15:13:42 [America/New_York]",
        "2026-12-31 14:13:42 CST (America/Chicago)",
        "2026-12-31 20:13:42Z (EST)",
        "2026-12-31 21:13:42 CET (America/New_York)",
        "Thu, 31 Dec 26 20:13:42 GMT",
        "20261231201342",
        "1.798748022E+09",
        "1798748022",
        "1798748022.0",
        "1798748022000",
        "1798748022000000",
    ],
)
def test_what_can_be_read_in_one_way_only(text: str) -> None:
    assert moment_of(text, IN_UTC) == EVENING


@pytest.mark.parametrize(
    ("text", "hour"), [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 am", 1), ("11:05 p.m.", 23)]
)
def test_halves_of_the_day(text: str, hour: int) -> None:
    assert moment_of(f"12/31/2026 {text}", IN_UTC) == datetime(2026, 12, 31, hour, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("03/04/2026", "two ways"),
        ("03.04.2026 10:00", "two ways"),
        ("3-4-26 10:00 PM", "two ways"),
        ("31-Dec-26 20:13", "two ways"),
        ("Wed, 31 Dec 26 20:13:42 GMT", "two ways"),
        ("46387.8428", "date-format excel"),
        ("0", "outside the years 2000"),
        ("1.79876E+12", "cut digits off"),
        ("1.79875e9", "cut digits off"),
        ("2026-12-31 20:13:42 (our time)", "can mean several"),
        ("12/31/2026 8:13 PM (CST)", "can mean several"),
        ("-5", "outside the years 2000"),
        ("1999-12-31T23:59:59Z", "before the year 2000"),
        ("2026-12-31 20:13:42 CST", "can mean several"),
        ("2026-12-31 20:13:42 IST", "can mean several"),
        ("2026-12-31 20:13:42 Mars/Base", "can mean several"),
    ],
)
def test_what_can_be_read_in_two_ways_or_lands_before_2000(text: str, says: str) -> None:
    with pytest.raises(UnsettledDate, match=says):
        moment_of(text, IN_UTC)


def test_a_time_without_an_offset_is_not_settled() -> None:
    with pytest.raises(UnsettledDate, match="--time-zone"):
        moment_of("Dec 31, 2026 8:13 PM", Dates())


@pytest.mark.parametrize(
    "text", ["soon", "nan", "1e300", "2026-13-01 10:00", "20:13 PM 12/31/2026", "25:00 31/12/2026"]
)
def test_what_is_no_time_is_the_matter_of_its_row_alone(text: str) -> None:
    with pytest.raises(BadRow) as error:
        moment_of(text, IN_UTC)
    assert not isinstance(error.value, UnsettledDate)


def test_formats_settle_what_can_be_read_in_two_ways() -> None:
    def read(text: str, *formats: str) -> str:
        return moment_of(text, Dates(ZoneInfo("UTC"), formats)).isoformat()

    assert read("03/04/2026 10:00", "day-first") == "2026-04-03T10:00:00+00:00"
    assert read("03/04/2026 10:00", "month-first") == "2026-03-04T10:00:00+00:00"
    assert read("12/31/2026 10:00", "day-first") == "2026-12-31T10:00:00+00:00"
    assert read("31-Dec-26 20:13", "day-first") == "2026-12-31T20:13:00+00:00"
    assert read("46387.8428", "excel") == "2026-12-31T20:13:37.920000+00:00"
    assert read("26.12.31", "%y.%m.%d") == "2026-12-31T00:00:00+00:00"
    assert read("2026-12-31T20:13:42Z", "excel", "month-first") == "2026-12-31T20:13:42+00:00"


def test_a_zone_settles_names_that_it_uses_itself() -> None:
    chicago, shanghai = (
        moment_of("2026-12-31 20:13:42 CST", Dates(ZoneInfo(zone))).isoformat()
        for zone in ("America/Chicago", "Asia/Shanghai")
    )
    assert (chicago, shanghai) == ("2027-01-01T02:13:42+00:00", "2026-12-31T12:13:42+00:00")


def test_a_day_with_a_zone_in_brackets_begins_there() -> None:
    assert moment_of("31.12.2026 (Europe/Berlin)", Dates()) == datetime(
        2026, 12, 30, 23, tzinfo=UTC
    )


def test_a_wall_time_that_came_twice_is_the_later_one() -> None:
    dates = Dates(ZoneInfo("Europe/Berlin"))
    assert moment_of("2026-10-25 02:30:00", dates) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


def test_formats_that_cannot_be_used_are_refused() -> None:
    assert check_format("%d.%m.%Y %H:%M") == "%d.%m.%Y %H:%M"
    for text in ("US", "%H:%M"):
        with pytest.raises(ValueError, match="day"):
            check_format(text)
