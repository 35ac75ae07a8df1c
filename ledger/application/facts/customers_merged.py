"""`customer.merged`: two customers turn out to be one."""

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import ensure_customer
from ledger.application.facts.customer_unmerged import unmerged_at
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.merging import merge, new_customer
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.merged_selves import MOST_IDS, fit_together
from ledger.domain.value import value


@value
class CustomersMerged(FactData):
    """Two customers are one."""

    from_id: str
    into_id: str


class CustomersMergedType(FactType[CustomersMerged]):
    """Merges of customers."""

    data = CustomersMerged

    def load(self, walk: Walk, data: CustomersMerged) -> None:
        """Both customers."""
        walk.customer(data.from_id)
        walk.customer(data.into_id)

    def apply(self, world: World, fact: Fact, data: CustomersMerged) -> Outcome:
        """Two customers are one; telling it again changes nothing."""
        outcome = Outcome(result="applied", customer_id=data.into_id)
        gone = world.customer(data.from_id)
        into = world.customer(data.into_id)
        if data.from_id == data.into_id or (gone is not None and gone is into):
            outcome.result = "ignored"
            outcome.body = {"detail": "they are one customer already"}
            return outcome
        told = unmerged_at(world, data.from_id, data.into_id)
        if told is not None and fact.time is not None and fact.time <= told:
            outcome.result = "stale"
            outcome.body = {"detail": "they were told to be two customers since"}
            return outcome
        if not fit_together(gone, into):
            outcome.result = "rejected"
            outcome.body = {"detail": f"one customer has at most {MOST_IDS} ids"}
            return outcome
        if gone is None:
            outcome.register(
                "customer", data.from_id, Customer.Created, Customer.TOPIC, customer_id=data.from_id
            )
            gone = new_customer(world, data.from_id)
        if into is None:
            ensure_customer(world, outcome, data.into_id)
        merge(world, outcome, gone, into, into.customer_id if into else data.into_id)
        return outcome
