"""`customer.hold` and `customer.unhold`: mail to a customer stops or goes on."""

from datetime import datetime

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import ensure_customer
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.hold import Hold, HoldBook
from ledger.domain.permit import DUNNING
from ledger.domain.value import value


@value
class CustomerHeld(FactData):
    """A customer was put on hold or released, for all kinds of mail or the named ones."""

    customer_id: str
    reason: str
    held: bool
    until: datetime | None = None
    kinds: tuple[str, ...] = ()


class CustomerHeldType(FactType[CustomerHeld]):
    """Holds on customers."""

    data = CustomerHeld

    def load(self, walk: Walk, data: CustomerHeld) -> None:
        """The customer."""
        walk.customer(data.customer_id)

    def apply(self, world: World, fact: Fact, data: CustomerHeld) -> Outcome:
        """Put a customer on hold, or lift a hold; for all kinds of mail or the named ones."""
        outcome = Outcome(result="applied", customer_id=data.customer_id)
        customer = ensure_customer(world, outcome, data.customer_id)
        book = customer.holds.copy() if customer else HoldBook()
        hold = Hold(data.reason, data.held, fact.time or world.now, data.until, data.kinds)
        if not book.newer(hold):
            outcome.result = "stale"
            return outcome
        book.note(hold)
        until, indefinite = book.until(world.now, DUNNING)
        event = Customer.HoldPlaced if data.held else Customer.HoldLifted
        outcome.change(
            "customer",
            customer.customer_id if customer else data.customer_id,
            event,
            hold=hold,
            held_until=until,
            indefinite=indefinite,
        )
        return outcome
