"""A fact that is dated ahead counts from its arrival, and raises an alert (D10)."""

from dataclasses import replace
from typing import Any

from ledger.application.effects import Alert
from ledger.application.facts.fact import Fact
from ledger.application.world import World
from ledger.domain.news import is_ahead


def as_of_arrival(world: World, fact: Fact) -> Fact:
    """The fact without those of its times that lie ahead of the ledger's clock.

    A fact without a time is of its arrival. The same fact where none lies ahead.
    """
    data: Any = fact.data
    ahead = [
        name
        for name in data.TIMES
        if (told := getattr(data, name)) is not None and is_ahead(told, world.now)
    ]
    if ahead:
        fact = replace(fact, data=replace(data, **dict.fromkeys(ahead)))
    if fact.time is not None and is_ahead(fact.time, world.now):
        fact = replace(fact, time=None)
    return fact


def clock_ahead(world: World, source: str) -> Alert:
    """The page for a source that tells of the future: one a day, however much it tells."""
    day = world.now.date().isoformat()
    return Alert(
        "clock_ahead",
        f"clock_ahead:{source}:{day}",
        f"the source {source} dates its facts more than 5 minutes ahead of the ledger's clock; "
        "they are taken as of their arrival",
    )
