"""Times as the ledger writes them, and the header Retry-After (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

_LONG_FRACTION = re.compile(r"(\.\d{6})\d+")


def instant(value: Any) -> datetime | None:
    """A time of an answer; None where there is none or it cannot be read.

    Before Python 3.11 `fromisoformat` takes neither a `Z` nor a fraction of other than 6 digits.
    """
    if not isinstance(value, str):
        return None
    text = _LONG_FRACTION.sub(r"\1", value.replace("Z", "+00:00").replace("z", "+00:00"))
    short = re.search(r"\.(\d{1,5})(?=[+-])", text)
    if short:
        text = text.replace(short[0], "." + short[1].ljust(6, "0"), 1)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds from now, from a number or a date; None where it is not told."""
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text) if text else None
    except (TypeError, ValueError):
        return None
    if at is None:
        return None
    zone = at if at.tzinfo else at.replace(tzinfo=timezone.utc)
    return max(0.0, (zone - datetime.now(timezone.utc)).total_seconds())
