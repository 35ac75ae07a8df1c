"""The sentences of an incident report that all its formats share."""

from datetime import UTC, datetime

from api.incidents.report import Chart, Report, ReportedCustomer

_STATES = {
    "granted": "permitted, not handed over yet",
    "redeemed": "being handed over",
    "sent": "sent",
    "unknown": "with an unknown outcome: a human must find out, no machine repeats them",
}


def moment(at: datetime | None) -> str:
    """A time in the report's format: UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at is not None else "never"


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun: 1 mail, 1,200 mails."""
    return f"{number:,} {one if number == 1 else many}"


def summary_sentences(report: Report) -> list[str]:
    """The summary: what happened, and the incident's state."""
    incident, summary = report.incident, report.summary
    window = f"{moment(incident.window_from)} and {moment(incident.window_to)}"
    limit = counted(report.policy.outreach_per_day, "mail", "mails")
    if not summary.customers:
        said = [f"Between {window} no customer got more than {limit} within 24 hours."]
    else:
        customers = counted(summary.customers, "customer", "customers")
        said = [
            f"Between {window} {customers} got more than the {limit} within 24 hours that the "
            f"policy allows: {counted(summary.mails, 'mail', 'mails')} in all, at most "
            f"{summary.most_mails:,} to one customer, at most {summary.most_in_a_day:,} within "
            "24 hours.",
            f"Of these {summary.observed:,} went out past the ledger, without a permit; "
            f"{summary.mails - summary.observed:,} had a permit.",
            f"The first mail too many went out at {moment(summary.over_at)}, to customer "
            f"{summary.first_customer}.",
        ]
    return [*said, _apologies(report), _state(report)]


def span_name(chart: Chart) -> str:
    """The time span of one bar of the chart, in words."""
    hours = chart.seconds // 3600
    return "hour" if hours == 1 else f"{hours} hours"


def chart_title(report: Report) -> str:
    """The title of the chart."""
    return f"Mails per {span_name(report.chart)} to affected customers"


def apology_words(customer: ReportedCustomer) -> str:
    """The state of a customer's apology, in words."""
    apology = customer.apology
    return "none" if apology is None else f"{apology.state} at {moment(apology.at)}"


def not_listed_sentence(report: Report) -> str:
    """How many customers the report does not name; empty if it names all."""
    if not report.not_listed:
        return ""
    count = counted(report.not_listed, "more customer is", "more customers are")
    path = f"GET /v1/incidents/{report.incident.incident_id}/affected"
    return f"{count} not named here; {path} lists all of them."


def _apologies(report: Report) -> str:
    if not report.apologies:
        return "No apology has been made."
    parts = [
        f"{count:,} {_STATES.get(state, state)}"
        for state, count in sorted(report.apologies.items())
    ]
    made = sum(1 for c in report.customers if c.apology is not None)
    left = report.summary.customers - report.not_listed - made
    without = f"; {left:,} of the customers named here have none" if left else ""
    return f"Apologies: {', '.join(parts)}{without}."


def _state(report: Report) -> str:
    incident = report.incident
    if incident.closed_at is None:
        return f"The incident is open, as of {moment(report.generated_at)}."
    return f"{incident.closed_by} closed the incident at {moment(incident.closed_at)}."
