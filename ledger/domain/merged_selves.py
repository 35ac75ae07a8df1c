"""What a merge and its undoing do to customers: who takes what over, and who has it back (D9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.domain.credits import CreditBook
from ledger.domain.hold import HoldBook
from ledger.domain.kept_reminders import keep_reminder
from ledger.domain.subscription import SubscriptionBook

if TYPE_CHECKING:
    from datetime import datetime

    from ledger.domain.customer import Customer
    from ledger.domain.subscription import Subscription

MOST_IDS = 256
"""Under so many ids one customer is known at most. A merge copies all of them, and a request by the
oldest one follows them all: without a bound a chain of merges costs the square of its length."""
_PARTED = "two customers who had been merged were parted"


def fit_together(gone: Customer | None, into: Customer | None) -> bool:
    """May the two become one? Not where that one would be known under more ids than `MOST_IDS`.

    One that the ledger has not heard of (None) has one id.
    """
    known = sum(len(customer.absorbed) for customer in (gone, into) if customer is not None)
    return 2 + known <= MOST_IDS


def absorb(customer: Customer, event: Customer.Absorbed) -> None:
    """Take over what another customer has; for the event only."""
    for permit in event.permits:
        moved = replace(permit, customer_id=customer.customer_id)
        customer.remember(moved, event.timestamp)
    for hold in event.holds:
        if customer.holds.newer(hold):
            customer.holds.note(hold)
    _take_subscriptions(customer, event.subscriptions)
    if event.breaker is not None:
        mine = customer.breaker
        if mine is None or (mine.scope != "all" and event.breaker.scope == "all"):
            customer.breaker = event.breaker
    known = customer.addresses
    customer.addresses = known + tuple(a for a in event.addresses if a not in known)
    customer.held_addresses.update(event.held_addresses)
    customer.apologies.update(event.apologies)
    for permit in event.reminders:
        keep_reminder(customer.reminders, replace(permit, customer_id=customer.customer_id))
    customer.absorbed |= {event.customer_id, *event.absorbed}
    _remember_selves(customer, event.formerly)
    customer.credit.add(event.credits)


def leave(customer: Customer, event: Customer.Unmerged) -> None:
    """Be one's own again; for the event only."""
    customer.merged_into = customer.merged_at = None
    customer.absorbed = set(event.ids) - {customer.customer_id}
    customer.permits = {permit.permit_id: permit for permit in event.permits}
    customer.holds = HoldBook()
    for hold in event.holds:
        customer.holds.note(hold)
    customer.subscriptions = SubscriptionBook()
    _take_subscriptions(customer, event.subscriptions)
    customer.breaker = event.breaker
    customer.held_addresses = dict(event.held_addresses)
    customer.apologies = dict(event.apologies)
    customer.reminders = {permit.permit_id: permit for permit in event.reminders}
    _remember_selves(customer, event.formerly)
    customer.credit = CreditBook()
    customer.credit.add(event.credits)
    customer.overtake(_PARTED, ())


def let_go(customer: Customer, event: Customer.LetGo) -> None:
    """Give up what is another's; for the event only."""
    for permit_id in event.permits:
        customer.permits.pop(permit_id, None)
    for subscription_id in event.subscriptions:
        customer.subscriptions.known.pop(subscription_id, None)
    customer.addresses = event.addresses
    customer.absorbed -= set(event.ids)
    customer.credit.drop(event.ids)
    _remember_selves(customer, dict.fromkeys(event.ids, event.timestamp))
    customer.overtake(_PARTED, ())


def _take_subscriptions(customer: Customer, told: tuple[Subscription, ...]) -> None:
    """Take the later word on each subscription."""
    for subscription in told:
        if customer.subscriptions.newer(subscription):
            customer.subscriptions.note(subscription)


def _remember_selves(customer: Customer, formerly: dict[str, datetime]) -> None:
    """Remember until when others were this customer."""
    for customer_id, at in formerly.items():
        known = customer.formerly.get(customer_id, at)
        customer.formerly[customer_id] = max(known, at)
    for customer_id in (customer.customer_id, *customer.absorbed):
        customer.formerly.pop(customer_id, None)
