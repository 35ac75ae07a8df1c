"""Rolling windows: how many mails of a kind count now, and when the next place frees (D8)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from ledger.domain.local_days import local_day, start_of_day
from ledger.domain.permit import Lane, Permit
from ledger.domain.policy import Policy
from ledger.domain.value import value

DAY = timedelta(hours=24)
HOUR = timedelta(hours=1)


@value
class Window:
    """One rolling window: `used` of `limit`, and when its oldest mail stops counting (UTC)."""

    name: str
    used: int
    limit: int
    frees_at: datetime | None

    @property
    def full(self) -> bool:
        """Is there no place left?"""
        return self.used >= self.limit


def window(
    name: str,
    permits: Iterable[Permit],
    lanes: tuple[Lane, ...],
    span: timedelta,
    limit: int,
    now: datetime,
) -> Window:
    """Count the permits of these lanes in a rolling, half-open window ending now.

    A mail exactly `span` old no longer counts (design D8). `frees_at` is when a place is free
    again if nothing else is granted: with more mails than places that takes more than one.
    """
    since = now - span
    times: list[datetime] = []
    for permit in permits:
        if permit.lane in lanes:
            counts_at = permit.counts_at
            if counts_at is not None and counts_at > since:
                times.append(counts_at)
    if not times:
        return Window(name, 0, limit, None)
    times.sort()
    index = max(0, len(times) - limit)
    return Window(name, len(times), limit, times[index] + span)


def outreach(permits: Iterable[Permit], policy: Policy, now: datetime) -> Window:
    """Mails that we start, per customer and 24 hours; apologies count, replies do not."""
    lanes = (Lane.OUTREACH, Lane.APOLOGY)
    return window("outreach_24h", permits, lanes, DAY, policy.outreach_per_day, now)


def next_reminder_mail(last: datetime | None, policy: Policy) -> datetime | None:
    """From when on a customer may have the next reminder mail after the one at `last` (UTC).

    Local midnight of the policy's zone, so many calendar days after it; None if it may go now.
    """
    days = policy.days_between_reminder_mails
    if last is None or days <= 1:
        return None
    zone = policy.time_zone
    return start_of_day(local_day(last, zone) + timedelta(days=days), zone)


def replies_hour(permits: Iterable[Permit], policy: Policy, now: datetime) -> Window:
    """Replies to one customer over all threads, per hour."""
    limit = policy.replies_per_customer_hour
    return window("replies_1h", permits, (Lane.REPLY,), HOUR, limit, now)


def replies_day(permits: Iterable[Permit], policy: Policy, now: datetime) -> Window:
    """Replies to one customer over all threads, per 24 hours."""
    limit = policy.replies_per_customer_day
    return window("replies_24h", permits, (Lane.REPLY,), DAY, limit, now)


def thread_replies(permits: Iterable[Permit], policy: Policy, now: datetime) -> Window:
    """Replies in one thread, per hour."""
    limit = policy.replies_per_thread_hour
    return window("thread_replies_1h", permits, (Lane.REPLY,), HOUR, limit, now)


def transactional(permits: Iterable[Permit], policy: Policy, now: datetime) -> Window:
    """Mails of transactional keys, per customer and 24 hours."""
    limit = policy.transactional_per_day
    return window("transactional_24h", permits, (Lane.TRANSACTIONAL,), DAY, limit, now)
