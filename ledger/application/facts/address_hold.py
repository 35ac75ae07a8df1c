"""`address.hold` and `address.unhold`: mail to an address stops or goes on, whoever has it."""

from datetime import datetime

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.suppression import hold_address, release_address, room_for
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.hold import Hold
from ledger.domain.identity import Address
from ledger.domain.value import value


@value
class AddressHoldTold(FactData):
    """An address was put on hold or released, for all kinds of mail or the named ones.

    The ledger need not have heard of the address: a list of suppressions is told like that.
    """

    address: Address
    reason: str
    held: bool
    until: datetime | None = None
    kinds: tuple[str, ...] = ()


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
        if not room_for(world, fingerprint, data.reason):
            outcome.result = "rejected"
            outcome.body = {"detail": "the address is held for too many reasons already"}
            return outcome
        at = min(fact.time or world.now, world.now)
        hold = Hold(data.reason, data.held, at, data.until, data.kinds)
        if data.held:
            news = hold_address(world, outcome, fingerprint, hold, customer_id=owner_id)
        else:
            by = fact.source or "a fact"
            news = release_address(world, outcome, fingerprint, hold, by, data.reason)
        if not news:
            outcome.result = "stale"
        return outcome
