"""`address.hold` and `address.unhold`: mail to an address stops or goes on, whoever has it."""

from datetime import datetime

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.suppression import (
    hold_address,
    others_holding,
    release_address,
    room_for,
)
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.hold import Hold
from ledger.domain.identity import Address
from ledger.domain.value import value

_MOST_NAMED = 3


@value
class AddressHoldTold(FactData):
    """An address was put on hold or released, for all kinds of mail or the named ones.

    The ledger need not have heard of the address: a list of suppressions is told like that. A
    release lifts what `told_by` told; without that what every source told.
    """

    address: Address
    reason: str
    held: bool
    until: datetime | None = None
    kinds: tuple[str, ...] = ()
    told_by: str | None = None


class AddressHoldToldType(FactType[AddressHoldTold]):
    """Holds on addresses: bounced, complained, unsubscribed, blocked by a human."""

    data = AddressHoldTold

    def load(self, walk: Walk, data: AddressHoldTold) -> None:
        """The address, and whose it is."""
        walk.owner_of(data.address)

    def apply(self, world: World, fact: Fact, data: AddressHoldTold) -> Outcome:
        """Put the address on hold, or lift a hold; for all kinds of mail or the named ones."""
        fingerprint = data.address.fingerprint
        owner_id = world.name("address", fingerprint)
        outcome = Outcome(result="applied", customer_id=owner_id)
        source = fact.source if data.held else data.told_by or fact.source
        if not room_for(world, fingerprint, data.reason, source):
            outcome.result = "rejected"
            outcome.body = {"detail": "the address is held for too many reasons already"}
            return outcome
        at = min(fact.time or world.now, world.now)
        hold = Hold(data.reason, data.held, at, data.until, data.kinds)
        if data.held:
            news = hold_address(
                world, outcome, fingerprint, hold, source=source, customer_id=owner_id
            )
        else:
            news = self._release(world, outcome, fingerprint, hold, data.told_by, fact.source)
        if not news:
            outcome.result = "stale"
        return outcome

    def _release(
        self,
        world: World,
        outcome: Outcome,
        fingerprint: str,
        lifted: Hold,
        told_by: str | None,
        by: str,
    ) -> bool:
        """Lift what is on record of these sources, and of none. Was it news?"""
        mailbox, reason = world.mailbox(fingerprint), lifted.reason
        nameless = mailbox is not None and reason in mailbox.holds.holds
        own = told_by or by
        others = others_holding(world, fingerprint, reason, own)
        lifts = (own, *(others if told_by is None else ()), *([""] if nameless else ()))
        news = [
            release_address(world, outcome, fingerprint, lifted, by or "a fact", reason, source)
            for source in dict.fromkeys(lifts)
        ]
        if told_by is not None and others:
            names = ", ".join(others[:_MOST_NAMED])
            outcome.body = {"detail": f"it is still held by what was told by {names} (told_by)"}
        return any(news)
