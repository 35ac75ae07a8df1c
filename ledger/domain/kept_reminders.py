"""The latest reminder mails of a customer, kept longer than they count in windows (design D8)."""

from datetime import datetime

from ledger.domain.permit import Permit

_KEPT = 4


def keep_reminder(reminders: dict[str, Permit], permit: Permit) -> None:
    """Keep the latest reminder mails; for events only.

    Several, since each may yet turn out to have been sent, or not.
    """
    reminders[permit.permit_id] = permit
    if len(reminders) > _KEPT:
        oldest = min(reminders.values(), key=lambda p: p.counts_at or p.granted_at)
        del reminders[oldest.permit_id]


def latest_reminder(reminders: dict[str, Permit]) -> datetime | None:
    """When the latest of them counts from, by a permit or past the ledger (UTC)."""
    times = (permit.counts_at for permit in reminders.values())
    return max((at for at in times if at is not None), default=None)
