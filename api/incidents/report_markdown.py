"""The report of an incident as Markdown: tables that also read as plain text."""

import re
from collections.abc import Iterable, Iterator

from api.incidents.report import Report
from api.incidents.report_words import (
    apology_words,
    chart_title,
    moment,
    not_listed_sentence,
    span_name,
    summary_sentences,
)

_SPECIAL = re.compile(r"([\\`*_\[\]<>&|~])")
_MOST_SPANS = 48


def report_markdown(report: Report) -> str:
    """The report; text that people wrote is escaped, so that it is not read as Markdown."""
    return "\n".join(_lines(report)) + "\n"


def plain(text: str) -> str:
    """Escape a text for Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _lines(report: Report) -> Iterator[str]:
    incident = report.incident
    yield f"# Incident: {plain(incident.title)}"
    yield ""
    yield f"Incident {plain(incident.incident_id)}, as of {moment(report.generated_at)}."
    yield ""
    yield "## Summary"
    yield ""
    for sentence in summary_sentences(report):
        yield f"- {plain(sentence)}"
    yield f"- Cause: {plain(incident.cause)}"
    yield ""
    yield "## Timeline"
    yield ""
    yield from _table(("when", "what"), ((moment(e.at), plain(e.text)) for e in report.timeline))
    yield ""
    yield f"## {chart_title(report)}"
    yield ""
    yield from _spans(report)
    yield ""
    yield "## Senders"
    yield ""
    yield from _table(
        ("sender", "mails", "first", "last"),
        (
            (plain(s.sender), f"{s.mails:,}", moment(s.first_at), moment(s.last_at))
            for s in report.senders
        ),
    )
    yield ""
    yield "## Affected customers"
    yield ""
    yield from _customers(report)


def _spans(report: Report) -> Iterator[str]:
    """The spans with most mails, in order of time: a table of all bars would be too long."""
    totals = report.chart.totals
    busiest = sorted(range(len(totals)), key=lambda bar: (-totals[bar], bar))[:_MOST_SPANS]
    rows = [
        (moment(report.chart.starts(b)), f"{totals[b]:,}") for b in sorted(busiest) if totals[b]
    ]
    yield from _table((f"{span_name(report.chart)} from", "mails"), rows)
    left = sum(1 for total in totals if total) - len(rows)
    if left > 0:
        yield ""
        yield f"The {_MOST_SPANS} busiest; {left} with fewer mails are left out."


def _customers(report: Report) -> Iterator[str]:
    columns = ("customer", "mails", "past the ledger", "most in 24 h", "first", "last", "apology")
    rows = (
        (
            plain(c.affected.customer_id),
            f"{c.affected.mails:,}",
            f"{c.affected.observed:,}",
            f"{c.affected.most:,}",
            moment(c.affected.first_at),
            moment(c.affected.last_at),
            plain(apology_words(c)),
        )
        for c in report.customers
    )
    yield from _table(columns, rows)
    if report.not_listed:
        yield ""
        yield plain(not_listed_sentence(report))


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(columns) + " |"
    yield "|" + " --- |" * len(columns)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
