"""`customer.observed`: the addresses of a customer."""

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import ensure_customer, note_addresses
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.value import value


@value
class CustomerObserved(FactData):
    """The addresses of a customer that hold now, the first preferred; none where it has none."""

    customer_id: str
    emails: tuple[Address, ...]


class CustomerObservedType(FactType[CustomerObserved]):
    """Addresses of customers."""

    data = CustomerObserved

    def load(self, walk: Walk, data: CustomerObserved) -> None:
        """The customer, and whose the addresses are."""
        walk.customer(data.customer_id)
        walk.claims(data.emails)

    def apply(self, world: World, fact: Fact, data: CustomerObserved) -> Outcome:
        """Take the customer's addresses in, the first preferred; one that is not told is gone.

        Of a customer whom nobody has told of, that there is none is kept too: an address that is
        told later may be older news.
        """
        outcome = Outcome(result="applied", customer_id=data.customer_id)
        customer = ensure_customer(world, outcome, data.customer_id)
        at = fact.time or world.now
        newest = customer.addresses_observed_at if customer else None
        if newest is not None and at < newest:
            outcome.result = "stale"
            return outcome
        fingerprints = tuple(dict.fromkeys(email.fingerprint for email in data.emails))
        note_addresses(world, outcome, data.customer_id, data.emails, fingerprints, at)
        return outcome
