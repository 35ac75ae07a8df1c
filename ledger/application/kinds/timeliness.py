"""Mail about something that happened: after a while it is too old to be of use to anybody."""

from datetime import datetime, timedelta
from typing import Any

from ledger.domain.policy import Policy
from ledger.domain.value import value


@value
class Timeliness:
    """When what a mail tells of happened, and until when the sender wants it to go (UTC)."""

    happened_at: datetime | None = None
    not_after: datetime | None = None

    def ends_at(self, policy: Policy) -> datetime | None:
        """From when on the mail is too late, None if it never is.

        The earlier of `not_after` and the policy's `too_late_hours` since it happened.
        """
        ends = self.not_after
        if self.happened_at is not None and policy.too_late_hours:
            by_policy = self.happened_at + timedelta(hours=policy.too_late_hours)
            ends = by_policy if ends is None else min(ends, by_policy)
        return ends


ANY_TIME = Timeliness()
"""Of a mail that names neither."""


def timeliness_of(body: Any) -> Timeliness:
    """What a request's body says of it."""
    if body.happened_at is None and body.not_after is None:
        return ANY_TIME
    return Timeliness(body.happened_at, body.not_after)
