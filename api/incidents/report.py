"""Gathers the report of an incident, which can be read without access to the ledger (D14)."""

import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import AsyncConnection

from api.incidents.timeline import Entry, timeline_of
from ledger.domain.incident import Apology, Incident
from ledger.domain.policy import Policy
from ledger.store.looking_back.incident_acts import breakers_closed, switches_since
from projections.affected import AffectedCustomer, SenderShare, Summary, Window, overview_of

MOST_LISTED = 5_000
"""How many affected customers a report names; the HTTP list has all of them."""
_MOST_SENDERS = 20
_MOST_SWITCHES = 500
_IN_CHART = 10
"""How many customers have their own colour in the chart."""
_MOST_BARS = 336
"""The maximum number of bars: two weeks of hours; in longer windows a bar spans more hours."""
_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Chart:
    """Mails per span of `seconds` since `start`, in `bars` spans.

    `series` maps each of the customers with most mails, and None for all others together, to its
    numbers by bar; a missing bar is 0.
    """

    start: datetime
    seconds: int
    bars: int
    series: dict[str | None, dict[int, int]]

    @property
    def totals(self) -> list[int]:
        """The height of each bar."""
        total = Counter[int]()
        for numbers in self.series.values():
            total.update(numbers)
        return [total[bar] for bar in range(self.bars)]

    def starts(self, bar: int) -> datetime:
        """When a bar's span begins."""
        return self.start + timedelta(seconds=bar * self.seconds)


@dataclass(frozen=True, slots=True)
class ReportedCustomer:
    """An affected customer and the apology that was made to them, if one was."""

    affected: AffectedCustomer
    apology: Apology | None


@dataclass(frozen=True, slots=True)
class Report:
    """A report as of `generated_at` (UTC) and a position of the log."""

    incident: Incident
    generated_at: datetime
    position: int
    policy: Policy
    summary: Summary
    timeline: list[Entry]
    senders: list[SenderShare]
    customers: list[ReportedCustomer]
    chart: Chart
    apologies: dict[str, int]

    @property
    def not_listed(self) -> int:
        """Affected customers whom the report does not name."""
        return self.summary.customers - len(self.customers)


def window_of(incident: Incident, now: datetime, policy: Policy) -> Window:
    """The window of mails that count for the incident."""
    return Window(incident.window_from, incident.window_to, now, policy.outreach_per_day)


async def report_of(
    connection: AsyncConnection[Any],
    incident: Incident,
    now: datetime,
    position: int,
    policy: Policy,
) -> Report:
    """Gather the report of an incident; its size is bounded. Raises psycopg.Error."""
    window = window_of(incident, now, policy)
    seconds, bars = _spans(window)
    overview = await overview_of(
        connection,
        window,
        until=now,
        customers=MOST_LISTED,
        senders=_MOST_SENDERS,
        top=_IN_CHART,
        seconds=seconds,
    )
    switches = await switches_since(connection, incident.window_from, _MOST_SWITCHES)
    ids = [i for a in overview.customers for i in (a.customer_id, *a.also_known_as)]
    until = incident.closed_at or now
    closed = await breakers_closed(connection, ids, incident.window_from, until, _MOST_SWITCHES)
    return Report(
        incident=incident,
        generated_at=now,
        position=position,
        policy=policy,
        summary=overview.summary,
        timeline=timeline_of(incident, overview.summary, overview.alerts, switches, closed),
        senders=overview.senders,
        customers=[ReportedCustomer(a, apology_to(incident, a)) for a in overview.customers],
        chart=Chart(window.from_, seconds, bars, overview.series),
        apologies=apologies_by_state(incident),
    )


def apology_to(incident: Incident, affected: AffectedCustomer) -> Apology | None:
    """The incident's apology to a customer, under any of their ids."""
    ids = (affected.customer_id, *affected.also_known_as)
    return next((incident.apologies[i] for i in ids if i in incident.apologies), None)


def apologies_by_state(incident: Incident) -> dict[str, int]:
    """The number of apologies in each state."""
    return dict(Counter(apology.state for apology in incident.apologies.values()))


def _spans(window: Window) -> tuple[int, int]:
    """The span of a bar in seconds (whole hours), and the number of bars."""
    hours = math.ceil((window.to - window.from_).total_seconds() / _HOUR)
    seconds = math.ceil(hours / _MOST_BARS) * _HOUR
    return seconds, math.ceil(hours * _HOUR / seconds)
