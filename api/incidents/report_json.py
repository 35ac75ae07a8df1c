"""The report of an incident as JSON."""

from dataclasses import asdict
from typing import Any

from api.incidents.report import Report, ReportedCustomer
from api.incidents.views import incident_view


def report_json(report: Report) -> dict[str, Any]:
    """The report with the field names of the HTTP interface."""
    chart = report.chart
    return {
        "incident": incident_view(report.incident),
        "generated_at": report.generated_at,
        "position": str(report.position),
        "policy": {"outreach_per_day": report.policy.outreach_per_day},
        "summary": asdict(report.summary),
        "timeline": [asdict(entry) for entry in report.timeline],
        "senders": [asdict(share) for share in report.senders],
        "customers": [_customer(customer) for customer in report.customers],
        "customers_not_listed": report.not_listed,
        "apologies": report.apologies,
        "mails_by_time": {
            "start": chart.start,
            "seconds": chart.seconds,
            "totals": chart.totals,
            "series": [
                {
                    "customer_id": customer_id,
                    "mails": [numbers.get(bar, 0) for bar in range(chart.bars)],
                }
                for customer_id, numbers in _in_order(report)
            ],
        },
    }


def _in_order(report: Report) -> list[tuple[str | None, dict[int, int]]]:
    """The series, customers with most mails first, all others together last."""
    series = report.chart.series
    named = [c.affected.customer_id for c in report.customers if c.affected.customer_id in series]
    order: list[str | None] = [*named, None] if None in series else [*named]
    return [(name, series[name]) for name in order]


def _customer(customer: ReportedCustomer) -> dict[str, Any]:
    affected = customer.affected
    return {
        "customer_id": affected.customer_id,
        "mails": affected.mails,
        "observed": affected.observed,
        "most_in_24h": affected.most,
        "first_at": affected.first_at,
        "last_at": affected.last_at,
        "over_at": affected.over_at,
        "apology": customer.apology,
    }
