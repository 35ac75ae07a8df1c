"""How often a customer's full windows refused a mail: one more request is no flood yet (D8)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

LONGEST = timedelta(hours=24)
"""The span of the longest window: a refusal that is older counts for none."""


@dataclass(slots=True)
class RefusalBook:
    """When each window refused a mail (UTC), since its breaker was last opened or reset."""

    times: dict[str, tuple[datetime, ...]] = field(default_factory=dict)

    def note(self, window: str, at: datetime) -> None:
        """A window refused a mail."""
        recent = (time for time in self.times.get(window, ()) if time > at - LONGEST)
        self.times[window] = (*recent, at)

    def count(self, window: str, span: timedelta, now: datetime) -> int:
        """How often that window refused within its own span."""
        return sum(time > now - span for time in self.times.get(window, ()))
