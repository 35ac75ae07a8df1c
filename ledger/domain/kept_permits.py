"""Which permits a customer keeps in memory: the live ones, and those that may count (D8)."""

from datetime import datetime, timedelta

from ledger.domain.permit import Permit

REMEMBERED = timedelta(hours=24)
"""How long a settled permit is kept in memory: as long as it can count in a window."""


def keep_permit(permits: dict[str, Permit], permit: Permit, at: datetime) -> None:
    """Keep a permit, and forget those that can count no more at `at` (UTC)."""
    permits.pop(permit.permit_id, None)
    permits[permit.permit_id] = permit
    first = next(iter(permits.values()))
    if first is not permit and _forgettable(first, at):
        for old in [p for p in permits.values() if _forgettable(p, at)]:
            del permits[old.permit_id]


def _forgettable(permit: Permit, at: datetime) -> bool:
    """A freed permit is kept too: its mail may turn out to have been sent, and then counts."""
    if permit.live:
        return False
    return (permit.counts_at or permit.send_by) <= at - REMEMBERED
