"""An effect report as Markdown, as one self-contained HTML page, and as JSON."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from api.effects.sections import Section, sections, summary
from ledger.application.answers import to_json
from projections.effect import Effect


def effect_markdown(effect: Effect) -> str:
    """The report as Markdown: definitions, then tables."""
    parts = [f"# {_title(effect)}", "", _meta(effect), ""]
    parts += [f"- {sentence}" for sentence in summary(effect)]
    for section in sections(effect):
        parts += ["", f"## {section.title}", "", section.meaning, ""]
        parts += _table(section)
    return "\n".join(parts) + "\n"


def effect_html(effect: Effect) -> str:
    """The page, without scripts or other files; every text in it is escaped."""
    page = (files("api.effects") / "report.html").read_text(encoding="utf-8")
    return Template(page).substitute(
        title=escape(_title(effect)),
        meta=escape(_meta(effect)),
        sentences="\n".join(f"<li>{escape(sentence)}</li>" for sentence in summary(effect)),
        sections="\n".join(map(_section, sections(effect))),
    )


def effect_json(effect: Effect) -> str:
    """The figures; amounts in minor units, shares from 0 to 1, times UTC."""
    said = asdict(effect)
    said["from"] = said.pop("from_")
    for curve, known in zip(said["curves"], effect.curves, strict=True):
        curve["median_days"] = known.median_days
    for end in said["ends"]:
        end["balance_minor_units"] = end.pop("balance")
    return to_json(said).decode()


FORMS: dict[str, Callable[[Effect], str]] = {
    "markdown": effect_markdown,
    "html": effect_html,
    "json": effect_json,
}
"""Each form by its name."""


def _title(effect: Effect) -> str:
    return f"What the send ledger did from {_moment(effect.from_)} to {_moment(effect.to)}"


def _meta(effect: Effect) -> str:
    return f"As of {_moment(effect.generated_at)}, position {effect.position} of the log. UTC."


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M")


def _table(section: Section) -> list[str]:
    if not section.rows:
        return ["Nothing in this time."]
    lines = [f"| {' | '.join(section.columns)} |", f"|{'---|' * len(section.columns)}"]
    for row in section.rows:
        cells = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _section(section: Section) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in section.columns)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in section.rows)
    table = f"<table>\n<tr>{head}</tr>\n{body}\n</table>" if section.rows else ""
    return (
        f'<h2>{escape(section.title)}</h2>\n<p class="note">{escape(section.meaning)}</p>\n'
        f"{section.chart}\n{table or '<p>Nothing in this time.</p>'}"
    )


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{escape(value)}</td>"
