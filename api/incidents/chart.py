"""The chart of an incident as inline SVG: stacked bars by customer, the rest in one series."""

from collections.abc import Iterator, Sequence
from html import escape

from api.incidents.report import Chart
from api.incidents.report_words import moment

_WIDTH, _HEIGHT = 960, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 8, 10, 26
_COLOURS = "#3366cc #dc3912 #ff9900 #109618 #990099 #0099c6 #dd4477 #66aa00 #8b4513 #316395".split()
_REST = "#b6bcc6"


def chart_svg(chart: Chart, customer_ids: Sequence[str]) -> str:
    """The chart and its legend; `customer_ids` are in the order of the legend.

    Each part of a bar has a tooltip. The number of elements is bounded by the chart's bars and
    series.
    """
    if not chart.series:
        return '<p class="note">No mail to an affected customer.</p>'
    top = max(chart.totals)
    names: list[str | None] = [name for name in customer_ids if name in chart.series]
    if None in chart.series:
        names.append(None)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="stacked bars, at most {top:,} mails in one">',
        *_axes(chart, top),
        *_bars(chart, names, top),
        "</svg>",
        '<ul class="legend">',
        *_legend(chart, names),
        "</ul>",
    ]
    return "\n".join(parts)


def _axes(chart: Chart, top: int) -> Iterator[str]:
    base = _HEIGHT - _BOTTOM
    for share in (0, 0.5, 1):
        y = base - share * (base - _TOP)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:g}" y2="{y:g}" stroke="#e3e6ea"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end">{round(top * share):,}</text>'
    for place, anchor in ((0, "start"), (chart.bars // 2, "middle"), (chart.bars, "end")):
        x = _LEFT + place * _bar_width(chart)
        shown = moment(chart.starts(place))[:16]
        yield f'<text x="{x:.2f}" y="{_HEIGHT - 8}" text-anchor="{anchor}">{shown}</text>'


def _bars(chart: Chart, names: Sequence[str | None], top: int) -> Iterator[str]:
    base, width = _HEIGHT - _BOTTOM, _bar_width(chart)
    scale = (base - _TOP) / top
    gap = min(1.0, width * 0.1)
    for bar in range(chart.bars):
        y = float(base)
        for place, name in enumerate(names):
            number = chart.series[name].get(bar, 0)
            if not number:
                continue
            height = number * scale
            y -= height
            label = f"{_name(name)}: {number:,} from {moment(chart.starts(bar))}"
            yield (
                f'<rect x="{_LEFT + bar * width:.2f}" y="{y:.2f}" width="{width - gap:.2f}" '
                f'height="{height:.2f}" fill="{_colour(place, name)}">'
                f"<title>{escape(label)}</title></rect>"
            )


def _legend(chart: Chart, names: Sequence[str | None]) -> Iterator[str]:
    for place, name in enumerate(names):
        total = sum(chart.series[name].values())
        yield (
            f'<li><i style="background:{_colour(place, name)}"></i>'
            f"{escape(_name(name))}: {total:,}</li>"
        )


def _bar_width(chart: Chart) -> float:
    return (_WIDTH - _LEFT - _RIGHT) / chart.bars


def _colour(place: int, name: str | None) -> str:
    return _REST if name is None else _COLOURS[place % len(_COLOURS)]


def _name(name: str | None) -> str:
    return "all others" if name is None else name
