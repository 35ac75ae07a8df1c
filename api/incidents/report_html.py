"""The report of an incident as one self-contained HTML page, without scripts or other files."""

from html import escape
from importlib.resources import files
from string import Template

from api.incidents.chart import chart_svg
from api.incidents.report import Report, ReportedCustomer
from api.incidents.report_words import (
    apology_words,
    chart_title,
    moment,
    not_listed_sentence,
    summary_sentences,
)
from projections.affected import SenderShare


def report_html(report: Report) -> str:
    """The page; every text in it is escaped."""
    incident = report.incident
    # One pass over the template: placeholders within people's text are not substituted.
    return _template().substitute(
        title=escape(incident.title),
        incident_id=escape(incident.incident_id),
        generated_at=moment(report.generated_at),
        limit=report.policy.outreach_per_day,
        sentences="\n".join(f"<li>{escape(s)}</li>" for s in summary_sentences(report)),
        cause=escape(incident.cause),
        timeline="\n".join(
            f'<tr><td class="time">{moment(entry.at)}</td><td>{escape(entry.text)}</td></tr>'
            for entry in report.timeline
        ),
        chart_title=escape(chart_title(report)),
        chart=chart_svg(report.chart, [c.affected.customer_id for c in report.customers]),
        senders="\n".join(map(_sender, report.senders)),
        customers="\n".join(map(_customer, report.customers)),
        not_listed=escape(not_listed_sentence(report)),
    )


def _template() -> Template:
    return Template((files("api.incidents") / "report.html").read_text(encoding="utf-8"))


def _sender(share: SenderShare) -> str:
    return (
        f'<tr><td>{escape(share.sender)}</td><td class="number">{share.mails:,}</td>'
        f'<td class="time">{moment(share.first_at)}</td>'
        f'<td class="time">{moment(share.last_at)}</td></tr>'
    )


def _customer(customer: ReportedCustomer) -> str:
    affected = customer.affected
    numbers = "".join(
        f'<td class="number">{number:,}</td>'
        for number in (affected.mails, affected.observed, affected.most)
    )
    mark = ' class="none"' if customer.apology is None else ""
    return (
        f"<tr><td>{escape(affected.customer_id)}</td>{numbers}"
        f'<td class="time">{moment(affected.first_at)}</td>'
        f'<td class="time">{moment(affected.last_at)}</td>'
        f"<td{mark}>{escape(apology_words(customer))}</td></tr>"
    )
