"""From when on a fact counts: its own time, or its arrival if it is dated too far ahead (D10)."""

from datetime import datetime, timedelta

AHEAD = timedelta(minutes=5)
"""How far a well-kept clock of somebody else may be ahead of the ledger's."""


def is_ahead(told: datetime, arrival: datetime) -> bool:
    """Is the news dated further after its arrival than clocks differ? Times are UTC."""
    return told > arrival + AHEAD


def dated(told: datetime, arrival: datetime) -> datetime:
    """The time that counts for news: what it says, or its arrival if that lies ahead (UTC).

    Else one wrong date would outrank all true news until that day.
    """
    return arrival if is_ahead(told, arrival) else told
