"""The digest of an inbox for one day."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
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
from ledger.domain.identity import Address
from ledger.domain.permit import Lane
from ledger.domain.policy import Policy
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.value import value


@value
class Digest(PermitSubject):
    """The digest of an inbox for one day."""

    kind: ClassVar[str] = "digest"
    code: ClassVar[str] = "d"
    sets_up: ClassVar[bool] = True
    optional: ClassVar[bool] = True

    inbox_id: str
    date: date
    customer_id: str | None = None
    to: Address | None = None
    thread_id: str | None = None
    timeliness: Timeliness = ANY_TIME

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """What it is about, and whom it goes to."""
        to = address(body.to) if body.to else None
        timely = timeliness_of(body)
        return cls(
            body.inbox_id,
            body.date,
            body.customer_id,
            to,
            body.thread_id,
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
        """The digest under every id of the addressee."""
        return keys_of_named(world, self.customer_id, self.to, self._key)

    def holders(self, world: World) -> list[str]:
        """Those of customers who were one with the addressee."""
        return former_holders(world, self.customers(world), self._key)

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """A receipt where the key is transactional."""
        return Lane.TRANSACTIONAL if transactional else Lane.OUTREACH

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The customer's one digest of the inbox for that day."""
        name = f"digest of {self.inbox_id} for {self.date}"
        ask = ask_named(world, request, self, self.customer_id, self.to, self._key, name)
        if isinstance(ask, Ask):
            ask.thread_id = self.thread_id
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Let its name lead to the permit."""
        record_names(outcome, granted)

    def _key(self, customer_id: str) -> SendKey:
        return digest_key(customer_id, self.inbox_id, self.date.isoformat())


def digest_key(customer_id: str, inbox_id: str, date: str) -> SendKey:
    """The digest of an inbox for one day."""
    return ("digest", customer_id, inbox_id, date)
