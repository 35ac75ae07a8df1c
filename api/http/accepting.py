"""Chooses a media type by the `Accept` header (RFC 9110, section 12.5.1)."""

from collections.abc import Sequence


def preferred(accept: str | None, offers: Sequence[str]) -> str:
    """The offer with the highest quality; the first of equals, and the first if none matches.

    The most specific range that matches an offer gives its quality. Invalid ranges are ignored.
    """
    ranges = [r for r in map(_range, (accept or "").split(",")) if r is not None]
    best = max(offers, key=lambda offer: (_quality(offer, ranges), -offers.index(offer)))
    return best if _quality(best, ranges) > 0 else offers[0]


def _range(text: str) -> tuple[str, float] | None:
    """A media range and its quality."""
    name, *parameters = (part.strip() for part in text.lower().split(";"))
    quality = 1.0
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                quality = float(parameter[2:])
            except ValueError:
                return None
    return (name, quality) if "/" in name and 0 <= quality <= 1 else None


def _quality(offer: str, ranges: Sequence[tuple[str, float]]) -> float:
    kind = offer.partition("/")[0]
    for specific in (offer, f"{kind}/*", "*/*"):
        for name, quality in ranges:
            if name == specific:
                return quality
    return 0.0
