"""A notice about one event of the business."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Self

from ledger.application.effects import Outcome
from ledger.application.kinds.addressee import ids_of_addressee, logged_address
from ledger.application.kinds.kind import Ask, Granted, PermitSubject, Request
from ledger.application.kinds.named_sends import (
    ask_named,
    former_holders,
    keys_of_named,
    load_named,
    record_names,
)
from ledger.application.kinds.timeliness import ANY_TIME, Timeliness, timeliness_of
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import Address
from ledger.domain.permit import Lane
from ledger.domain.policy import Policy
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.subscription import Subscription
from ledger.domain.value import value


@value
class Notification(PermitSubject):
    """A notice about one event of the business."""

    kind: ClassVar[str] = "notification"
    code: ClassVar[str] = "n"
    sets_up: ClassVar[bool] = True
    optional: ClassVar[bool] = True
    ends_with_subscription: ClassVar[bool] = True

    event_type: str
    event_id: str
    customer_id: str | None = None
    to: Address | None = None
    thread_id: str | None = None
    subscription_id: str | None = None
    timeliness: Timeliness = ANY_TIME

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """What it is about, and whom it goes to."""
        to = address(body.to) if body.to else None
        timely = timeliness_of(body)
        return cls(
            body.event_type,
            body.event_id,
            body.customer_id,
            to,
            body.thread_id,
            body.subscription_id,
            timeliness=timely,
        )

    def as_logged(self, logged: Mapping[str, Any]) -> Self:
        """With the address that it named."""
        to = logged_address(logged)
        return self if to is None else replace(self, to=to, customer_id=logged.get("customer_id"))

    def ends_at(self, policy: Policy) -> datetime | None:
        """What it tells of is old news some time after it happened."""
        return self.timeliness.ends_at(policy)

    def load(self, walk: Walk) -> None:
        """The addressee, and who has got it."""
        load_named(walk, self.customer_id, self.to, self._key)

    def customers(self, world: World) -> list[str]:
        """The addressee."""
        return ids_of_addressee(world, self.customer_id, self.to)

    def send_keys(self, world: World, at: datetime) -> tuple[tuple[SendKey, ...], ...]:
        """The notice under every id of the addressee."""
        return keys_of_named(world, self.customer_id, self.to, self._key)

    def holders(self, world: World) -> list[str]:
        """Those of customers who were one with the addressee."""
        return former_holders(world, self.customers(world), self._key)

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """A receipt where the key is transactional."""
        return Lane.TRANSACTIONAL if transactional else Lane.OUTREACH

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The customer's one notice about the event."""
        name = f"{self.event_type} {self.event_id}"
        ask = ask_named(
            world, request, self, self.customer_id, self.to, self._key, name, self._ended
        )
        if isinstance(ask, Ask):
            ask.thread_id = self.thread_id
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Let its name lead to the permit."""
        record_names(outcome, granted)

    def _ended(self, world: World, customer: Customer | None) -> Subscription | None:
        """What a notice of something to come announces is off where its subscription has ended.

        One that names no subscription is off once the customer has none that could be alive.
        """
        if customer is None or self.event_type not in world.policy.upcoming_event_types:
            return None
        if self.subscription_id is not None:
            return customer.subscriptions.ended((self.subscription_id,), world.now)
        return customer.subscriptions.all_ended(world.now)

    def _key(self, customer_id: str) -> SendKey:
        return notification_key(customer_id, self.event_type, self.event_id)


def notification_key(customer_id: str, event_type: str, event_id: str) -> SendKey:
    """A notice about one event of the business."""
    return ("notification", customer_id, event_type, event_id)
