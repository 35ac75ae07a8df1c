"""The token of a permit, wherever a provider tells a mail's own headers, tags or metadata."""

from collections.abc import Iterator

from ledger.domain.send_imprint import LONGEST_TOKEN, SEND_HEADER

_NAME = SEND_HEADER.lower()


def token_in(*places: object) -> str | None:
    """The text under `X-Ledger-Send` in the first place that has it, in whichever case.

    A place is an object with that member, or a list of objects with a `name` and a `value` each.
    One of another shape has none: that a sender keeps something else there makes no body unusable.
    """
    for place in places:
        for name, value in _named(place):
            if str(name).lower().replace("_", "-") == _NAME and isinstance(value, str):
                return _usable(value)
    return None


def _named(place: object) -> Iterator[tuple[object, object]]:
    if isinstance(place, dict):
        yield from place.items()
    elif isinstance(place, list):
        yield from ((p.get("name"), p.get("value")) for p in place if isinstance(p, dict))


def _usable(text: str) -> str | None:
    """The token on one line; None for what is too long or not printable, which is none of ours."""
    line = " ".join(text.split())
    return line if 0 < len(line) <= LONGEST_TOKEN and line.isprintable() else None
