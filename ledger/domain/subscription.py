"""Subscriptions of a customer: which are known, and which have ended, in any order of news."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from ledger.domain.instants import told
from ledger.domain.reasons import Denial
from ledger.domain.value import value

MOST_REMEMBERED = 200
"""Subscriptions that are kept of one customer; those with the oldest news are forgotten first."""


@value
class Subscription:
    """The latest word on one subscription: it has ended at that time (UTC), or it lives."""

    subscription_id: str
    ended: bool
    at: datetime
    reason: str | None = None

    def obstacle(self, name: str) -> Denial:
        """Why a mail that only a living subscription is a reason for is not sent."""
        why = f": {self.reason}" if self.reason else ""
        return Denial(
            "subscription_ended",
            f"{name}: subscription {self.subscription_id} ended at {told(self.at)}{why}",
        )


@dataclass(slots=True)
class SubscriptionBook:
    """What is known of the subscriptions of one customer, by their ids."""

    known: dict[str, Subscription] = field(default_factory=dict)

    def newer(self, told: Subscription) -> bool:
        """Is this word news? Of two of one instant the last to arrive stands."""
        known = self.known.get(told.subscription_id)
        return known is None or (told.at >= known.at and told != known)

    def note(self, told: Subscription) -> None:
        """Take the word; called by events only."""
        self.known[told.subscription_id] = told
        if len(self.known) > MOST_REMEMBERED:
            oldest = min(self.known.values(), key=lambda one: (one.at, one.subscription_id))
            del self.known[oldest.subscription_id]

    def ended(self, ids: Iterable[str], now: datetime) -> Subscription | None:
        """The subscription that ended last where all of these have; None while one may live.

        One that nobody has told of may live, and nothing is known where none is named.
        """
        found = [self.known.get(id) for id in ids]
        over = [one for one in found if one is not None and one.ended and one.at <= now]
        if not over or len(over) < len(found):
            return None
        return max(over, key=lambda one: (one.at, one.subscription_id))

    def all_ended(self, now: datetime) -> Subscription | None:
        """The one that ended last where every subscription that is known has."""
        return self.ended(tuple(self.known), now)
