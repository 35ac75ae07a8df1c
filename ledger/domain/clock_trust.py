"""Whether the database's clock is to be trusted: compared with a second clock (design D16)."""

from datetime import datetime, timedelta

from ledger.domain.instants import told
from ledger.domain.value import value

_DRIFT = 0.0002
"""How far two good clocks may drift apart, per second: four times the 50 ppm of a bad quartz."""


@value
class Reading:
    """The database's clock (UTC), and the process's monotonic seconds at about that moment."""

    at: datetime
    seconds: float


@value
class Suspicion:
    """Why the database's clock is not trusted, and the time (UTC) that events get meanwhile."""

    cause: str
    now: datetime


def judge(
    trusted: Reading,
    read: Reading,
    log_at: datetime | None,
    accepted_at: datetime | None,
    bound: timedelta,
) -> Suspicion | None:
    """May decisions go by the clock as it was `read`, after the last reading that was `trusted`?

    Not if it moved by more than `bound` against the monotonic clock, forward or back, unless a
    named human accepted it since (`accepted_at`: what it showed then); and not if the last event
    of the log (`log_at`) is ahead of it by more than `bound`: the log was written by a wrong clock.
    """
    passed = timedelta(seconds=read.seconds - trusted.seconds)
    allowed = bound + passed * _DRIFT
    jump = read.at - trusted.at - passed
    causes = []
    if abs(jump) > allowed and not _was_accepted(read, accepted_at, passed, allowed):
        causes.append(
            f"the database's clock shows {told(read.at)}, {_seconds(jump)} off what passed "
            f"since {told(trusted.at)}"
        )
    if log_at is not None and log_at - read.at > bound:
        causes.append(
            f"the last event of the log is of {told(log_at)}, {_seconds(log_at - read.at)} "
            f"ahead of the database's clock, {told(read.at)}"
        )
    if not causes:
        return None
    now = min(read.at, trusted.at + passed)
    return Suspicion("; ".join(causes), max(now, log_at) if log_at is not None else now)


def _was_accepted(
    read: Reading, accepted_at: datetime | None, passed: timedelta, allowed: timedelta
) -> bool:
    """Did a human accept the clock after the trusted reading, and has it kept going since?"""
    if accepted_at is None:
        return False
    return -allowed <= read.at - accepted_at <= passed + allowed


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():+.0f} s"
