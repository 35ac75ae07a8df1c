"""Local midnights and dates in SQL are those of the zone, also where clocks go back at 0:00.

PostgreSQL reads some names as abbreviations without summer time, and takes the second of two
midnights: both would make a reminder due an hour late or early.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from psycopg import AsyncConnection

from ledger.domain.policy import Policy
from projections.generations import Generation
from projections.invoices import INVOICES
from projections.schema import prepare
from projections.statements import one

FIRST, LAST = date(2025, 1, 1), date(2029, 12, 31)
MOMENT = timedelta(microseconds=1)
NOT_PLACES = frozenset({"Factory", "localtime", "posixrules"})
"""Files beside the zones that say nothing, or what this machine is set to."""


def days_near_changes(zone: ZoneInfo) -> Iterator[date]:
    """The days on which the zone's clocks change, those beside them, and a plain one."""
    yield date(2026, 7, 1)
    day = FIRST
    before = offset(zone, day)
    while day < LAST:
        day += timedelta(days=1)
        after = offset(zone, day)
        if after != before:
            yield from (day + timedelta(days=n) for n in (-2, -1, 0, 1))
        before = after


def offset(zone: ZoneInfo, day: date) -> timedelta | None:
    """How far the zone is from UTC at noon of the day."""
    return datetime.combine(day, time(12), zone).utcoffset()


@pytest.fixture
def named_days() -> list[tuple[str, date]]:
    """Every zone with the days that are hard in it."""
    zones = sorted(available_timezones() - NOT_PLACES)
    return [(name, day) for name in zones for day in days_near_changes(ZoneInfo(name))]


def test_midnights_and_dates_are_those_of_the_zone(
    database: str, named_days: list[tuple[str, date]]
) -> None:
    rows = asyncio.run(midnights(database, named_days))
    unknown = {name for name, _, zone, _ in rows if zone == "UTC" and name != "UTC"}
    assert unknown == {name for name in unknown if not has_changes(name, named_days)}
    assert len(rows) > 3_000
    wrong = [
        (name, day, at)
        for name, day, zone, at in rows
        if name not in unknown and not begins(name, day, at)
    ]
    assert wrong == []


def begins(name: str, day: date, at: datetime) -> bool:
    """Is it the first instant at which the zone's calendar shows this day, or a later one?

    Servers bring their own edition of the zones: the machine's or a newer one, as of the package.
    """
    return any(
        (at - MOMENT).astimezone(zone).date() < day <= at.astimezone(zone).date()
        for zone in (ZoneInfo(name), packaged(name))
    )


@cache
def packaged(name: str) -> ZoneInfo:
    """The zone as the package tzdata has it."""
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, name)


def has_changes(name: str, named_days: list[tuple[str, date]]) -> bool:
    """Do the clocks of the zone ever change within these years?"""
    return sum(known == name for known, _ in named_days) > 1


async def midnights(
    conninfo: str, named_days: list[tuple[str, date]]
) -> list[tuple[str, date, str, datetime]]:
    """What the read model makes of each: the zone's name for PostgreSQL, and the midnight."""
    await prepare(conninfo, Policy())
    text = b"""
        SELECT name, day, usable_zone(name), local_midnight(day, usable_zone(name))
        FROM unnest(%s::text[], %s::date[]) AS x(name, day)
    """
    names, days = [name for name, _ in named_days], [day for _, day in named_days]
    connection: AsyncConnection[Any]
    async with await AsyncConnection.connect(conninfo) as connection:
        await one(connection, "control", "enter", **Generation(INVOICES, 1).key)
        cursor = await connection.execute(text, (names, days))
        found = await cursor.fetchall()
    return [(name, day, zone, at.astimezone(UTC)) for name, day, zone, at in found]
