"""A report is bounded in time and memory, however many customers an incident has."""

import asyncio
import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from api.incidents.report import MOST_LISTED, Report, report_of
from api.incidents.report_html import report_html
from api.incidents.report_json import report_json
from api.incidents.report_markdown import report_markdown
from ledger.application.answers import to_json
from ledger.application.clock import stopwatch
from ledger.domain.incident import Incident
from ledger.domain.policy import Policy
from projections.generations import entered
from projections.schema import prepare_projections

FROM = datetime(2026, 7, 14, tzinfo=UTC)
MAILS = """
INSERT INTO mails
SELECT gen_random_uuid(), 'cus_' || c, 'cus_' || c, 'observed', 'outreach', 'observed:import',
    true, false, t.at, t.at, 'sent', NULL, t.at
FROM generate_series(1, %(customers)s) c
CROSS JOIN generate_series(1, %(mails)s) n
CROSS JOIN LATERAL (SELECT %(from)s + make_interval(secs => c + 7200 * n) AS at) t
"""


def an_incident(days: float) -> Incident:
    """An incident of that many days."""
    made: Any = Incident.Created
    created = made(
        originator_id=Incident.create_id(),
        originator_version=1,
        timestamp=FROM + timedelta(days=days),
        originator_topic=Incident.TOPIC,
        incident_id="F1",
        title="A flood",
        cause="a poller bug",
        window_from=FROM,
        window_to=FROM + timedelta(days=days),
        declared_by="ann",
    )
    incident: Incident = created.mutate(None)
    return incident


def reported(conninfo: str, customers: int, mails: int, days: float = 1) -> Report:
    """The report of an incident in which so many customers got so many mails each."""
    prepare_projections(conninfo, Policy())

    async def work() -> Report:
        options = "-c timezone=UTC -c statement_timeout=15000"
        connection = await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, options=options
        )
        async with connection:
            values = {"customers": customers, "mails": mails, "from": FROM}
            async with entered(connection):
                await connection.execute(MAILS.encode(), values)
            now = FROM + timedelta(days=days)
            return await report_of(connection, an_incident(days), now, 1, Policy())

    return asyncio.run(work())


def test_five_thousand_customers(database: str) -> None:
    """Without statistics, as after a restore, the planner must not lose its way either."""
    started = stopwatch()
    report = reported(database, 5_000, 5)
    assert stopwatch() - started < 30
    assert (report.summary.customers, report.summary.mails) == (5_000, 25_000)
    assert (len(report.customers), report.not_listed) == (5_000, 0)
    tracemalloc.start()
    sizes = [
        len(render(report))
        for render in (report_html, report_markdown, lambda r: to_json(report_json(r)))
    ]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(100_000 < size < 2_000_000 for size in sizes), sizes
    assert peak < 40_000_000


def test_more_customers_than_a_report_names_are_counted(database: str) -> None:
    report = reported(database, MOST_LISTED + 500, 3)
    assert report.summary.customers == MOST_LISTED + 500
    assert (len(report.customers), report.not_listed) == (MOST_LISTED, 500)
    sentence = "500 more customers are not named here; GET /v1/incidents/F1/affected lists all"
    assert sentence in report_html(report)
    assert sentence in report_markdown(report)
    assert report_json(report)["customers_not_listed"] == 500


@pytest.mark.parametrize(
    ("days", "seconds", "bars"),
    [(1 / 24, 3600, 1), (14, 3600, 336), (14 + 1 / 24, 7200, 169), (3650, 261 * 3600, 336)],
)
def test_the_chart_has_at_most_two_weeks_of_bars(
    days: float, seconds: int, bars: int, database: str
) -> None:
    report = reported(database, 15, 3, days)
    chart = report.chart
    assert (chart.seconds, chart.bars) == (seconds, bars)
    page = report_html(report)
    assert page.count("<rect") <= bars * 11
    if days > 1:
        # Ten customers have a colour of their own, the other five share one.
        assert len(chart.series) == 11
        assert sum(chart.series[None].values()) == 15
        assert "all others: 15" in page
