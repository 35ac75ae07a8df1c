"""The breaker: a latch that stops a customer's mail until a human resets it (design D8)."""

from datetime import datetime

from ledger.domain.permit import Lane
from ledger.domain.value import value


@value
class Breaker:
    """The latch that opens when a cap would be passed; `scope` is `outreach` or `all`."""

    scope: str
    opened_at: datetime
    cause: str

    def blocks(self, lane: Lane) -> bool:
        """Does it hold this lane back? Transactional and replies pass a breaker for outreach."""
        if lane is Lane.APOLOGY:
            return False
        return self.scope == "all" or lane is Lane.OUTREACH
