"""`subscription.ended` and `subscription.resumed`: an end of a subscription, or its undoing."""

from datetime import datetime
from typing import ClassVar

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import ensure_customer
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.invoices import name_subscription
from ledger.application.kinds.registry import KINDS
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.subscription import Subscription, SubscriptionBook
from ledger.domain.value import value


@value
class SubscriptionTold(FactData):
    """A subscription ended or lives on; `at` None is the time of the fact."""

    TIMES: ClassVar[tuple[str, ...]] = ("at",)

    subscription_id: str
    customer_id: str
    ended: bool
    invoice_ids: tuple[str, ...] = ()
    at: datetime | None = None
    reason: str | None = None


class SubscriptionToldType(FactType[SubscriptionTold]):
    """Ends of subscriptions, in any order."""

    data = SubscriptionTold

    def load(self, walk: Walk, data: SubscriptionTold) -> None:
        """The customer, and the invoices of the subscription that are named."""
        walk.customer(data.customer_id)
        for invoice_id in data.invoice_ids:
            walk.invoice(invoice_id)

    def apply(self, world: World, fact: Fact, data: SubscriptionTold) -> Outcome:
        """Note that the subscription has ended, or that it lives; no invoice owes less by that.

        That one lives is kept, too: an older end may come later, and must not end it.
        """
        outcome = Outcome(result="applied", customer_id=data.customer_id)
        known = world.customer(data.customer_id)
        book = known.subscriptions if known is not None else SubscriptionBook()
        at = data.at or fact.time or world.now
        told = Subscription(data.subscription_id, data.ended, at, data.reason)
        if not book.newer(told):
            outcome.result = "stale"
            return outcome
        customer = ensure_customer(world, outcome, data.customer_id)
        owner_id = customer.customer_id if customer else data.customer_id
        if data.ended:
            kinds = tuple(kind for kind, cls in KINDS.items() if cls.ends_with_subscription)
            ended = Customer.SubscriptionEnded
            outcome.change("customer", owner_id, ended, subscription=told, kinds=kinds)
        else:
            outcome.change("customer", owner_id, Customer.SubscriptionResumed, subscription=told)
        for invoice_id in dict.fromkeys(data.invoice_ids):
            name_subscription(world, outcome, invoice_id, data.subscription_id)
        return outcome
