"""Merging two customers: windows, holds, breaker and apologies carry over (design D9)."""

from ledger.application.effects import Outcome
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.hold import HoldBook


def merge(
    world: World, outcome: Outcome, gone: Customer, into: Customer | None, into_id: str
) -> None:
    """Let `gone` go into the other customer, who may be registered in this very outcome."""
    book = HoldBook(dict(into.holds.holds) if into else {})
    for hold in gone.holds.holds.values():
        if book.newer(hold):
            book.note(hold)
    until, indefinite = book.until(world.now, "reminder")
    outcome.change("customer", gone.customer_id, Customer.MergedInto, into=into_id)
    outcome.change(
        "customer",
        into_id,
        Customer.Absorbed,
        customer_id=gone.customer_id,
        permits=tuple(gone.permits.values()),
        holds=tuple(gone.holds.holds.values()),
        breaker=gone.breaker,
        addresses=gone.addresses,
        held_addresses=gone.held_addresses,
        apologies=gone.apologies,
        held_until=until,
        indefinite=indefinite,
        absorbed=tuple(sorted(gone.absorbed)),
    )
