"""The one clock: the database's time, never before the last row's; and waiting time (D16)."""

import time
from datetime import UTC, datetime


def decision_time(read_at: datetime, head_recorded_at: datetime | None) -> datetime:
    """The time of a batch (UTC): read after the writer lock, never earlier than the log's end."""
    if head_recorded_at is not None and head_recorded_at > read_at:
        return head_recorded_at
    return read_at


def stopwatch() -> float:
    """Seconds of a clock that only goes forward, for measuring waits; its zero means nothing."""
    return time.monotonic()


def process_time() -> datetime:
    """This machine's own time (UTC): for a guard check that compares it, never for a decision."""
    return datetime.now(UTC)
