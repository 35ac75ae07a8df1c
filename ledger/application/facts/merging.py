"""Merging two customers: windows, holds, breaker and apologies carry over (design D9)."""

from copy import copy
from typing import Any

from ledger.application.effects import Outcome
from ledger.application.world import World
from ledger.domain.credits import CreditBook
from ledger.domain.customer import Customer
from ledger.domain.hold import HoldBook
from ledger.domain.identity import aggregate_id
from ledger.domain.permit import DUNNING
from ledger.domain.subscription import SubscriptionBook


def merge(
    world: World, outcome: Outcome, gone: Customer, into: Customer | None, into_id: str
) -> Customer:
    """Let `gone` go into the other customer, who may be registered in this very outcome.

    Answers with that customer as they will be. Once: two addresses that are claimed together may be
    of one and the same.
    """
    after = _copy_of(into) if into is not None else new_customer(world, into_id)
    own = aggregate_id("customer", gone.customer_id)
    again = any(c.aggregate_id == own and c.event is Customer.MergedInto for c in outcome.changes)
    book = into.holds.copy() if into else HoldBook()
    for hold in gone.holds.words():
        if book.newer(hold):
            book.note(hold)
    until, indefinite = book.until(world.now, DUNNING)
    carried: dict[str, Any] = {
        "customer_id": gone.customer_id,
        "permits": tuple(gone.permits.values()),
        "holds": gone.holds.words(),
        "breaker": gone.breaker,
        "addresses": gone.addresses,
        "held_addresses": gone.held_addresses,
        "apologies": gone.apologies,
        "held_until": until,
        "indefinite": indefinite,
        "absorbed": tuple(sorted(gone.absorbed)),
        "formerly": dict(gone.formerly),
        "credits": gone.credit.of(tuple(gone.credit.sums)),
        "reminders": tuple(gone.reminders.values()),
        "subscriptions": tuple(gone.subscriptions.known.values()),
    }
    if not again:
        outcome.change("customer", gone.customer_id, Customer.MergedInto, into=into_id)
        outcome.change("customer", into_id, Customer.Absorbed, **carried)
    Customer.Absorbed(
        originator_id=aggregate_id("customer", into_id),
        originator_version=1,
        timestamp=world.now,
        **carried,
    ).apply(after)
    return after


def new_customer(world: World, customer_id: str) -> Customer:
    """A customer as they are right after registration, for an outcome that registers them."""
    fields: dict[str, Any] = {"originator_topic": Customer.TOPIC, "customer_id": customer_id}
    own = aggregate_id("customer", customer_id)
    created = Customer.Created(
        originator_id=own, originator_version=1, timestamp=world.now, **fields
    )
    customer: Customer | None = created.mutate(None)
    assert customer is not None
    return customer


def _copy_of(customer: Customer) -> Customer:
    """A copy to which an event can be applied: the aggregate itself changes with the outcome."""
    after = copy(customer)
    after.permits = dict(customer.permits)
    after.holds = customer.holds.copy()
    after.held_addresses = dict(customer.held_addresses)
    after.apologies = dict(customer.apologies)
    after.reminders = dict(customer.reminders)
    after.absorbed = set(customer.absorbed)
    after.formerly = dict(customer.formerly)
    after.credit = CreditBook(customer.credit.of(tuple(customer.credit.sums)))
    after.subscriptions = SubscriptionBook(dict(customer.subscriptions.known))
    return after
