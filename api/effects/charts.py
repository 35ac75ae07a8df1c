"""The charts of an effect report as inline SVG: bars, and curves that go down in steps."""

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT = 960, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 8, 10, 26
_COLOURS = "#3366cc #dc3912 #ff9900 #109618 #990099 #0099c6 #dd4477 #66aa00".split()
_MOST_BARS = 30


def bars(values: Sequence[tuple[str, int]]) -> str:
    """A bar for each of the first 30 values, with its name below; empty where there is none."""
    shown = list(values)[:_MOST_BARS]
    if not shown:
        return ""
    top = max(number for _, number in shown)
    width = (_WIDTH - _LEFT - _RIGHT) / len(shown)
    parts = []
    for place, (name, number) in enumerate(shown):
        height = number / top * (_HEIGHT - _TOP - _BOTTOM) if top else 0
        x, y = _LEFT + place * width, _HEIGHT - _BOTTOM - height
        parts.append(
            f'<rect x="{x + width * 0.1:.1f}" y="{y:.1f}" width="{width * 0.8:.1f}" '
            f'height="{height:.1f}" fill="{_COLOURS[0]}">'
            f"<title>{escape(name)}: {number:,}</title></rect>"
            f'<text x="{x + width / 2:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">'
            f"{escape(name)}</text>"
        )
    return _framed(f"bars, the highest is {top:,}", f"{top:,}", parts)


def steps(curves: dict[str, Sequence[tuple[int, float]]]) -> str:
    """A curve from 1 for each name, by (day, share from that day on); empty where there is none."""
    last = max((day for points in curves.values() for day, _ in points), default=0)
    if last == 0:
        return ""
    wide, high = (_WIDTH - _LEFT - _RIGHT) / last, _HEIGHT - _TOP - _BOTTOM
    parts, legend = [], []
    for place, (name, points) in enumerate(curves.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        path = [f"M{_LEFT} {_TOP}"]
        for day, share in points:
            path.append(f"H{_LEFT + day * wide:.1f}V{_TOP + (1 - share) * high:.1f}")
        parts.append(
            f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(name)}</title></path>"
        )
        legend.append(f'<li><i style="background:{colour}"></i>{escape(name)}</li>')
    for day in sorted({0, last // 2, last}):
        x = f"{_LEFT + day * wide:.1f}"
        parts.append(f'<text x="{x}" y="{_HEIGHT - 8}" text-anchor="middle">{day}</text>')
    chart = _framed(f"share unpaid by day, {last} days", "100%", parts)
    return f'{chart}\n<ul class="legend">{"".join(legend)}</ul>'


def _framed(label: str, top: str, parts: Sequence[str]) -> str:
    base = _HEIGHT - _BOTTOM
    lines = "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="#e3e6ea"/>'
        for y in (_TOP, base)
    )
    scale = (
        f'<text x="{_LEFT - 6}" y="{_TOP + 4}" text-anchor="end">{top}</text>'
        f'<text x="{_LEFT - 6}" y="{base + 4}" text-anchor="end">0</text>'
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{lines}{scale}{''.join(parts)}</svg>"
    )
