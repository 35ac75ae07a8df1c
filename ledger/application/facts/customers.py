"""Facts about customers: their addresses, holds on them, and two who turn out to be one."""

from ledger.application.effects import Outcome
from ledger.application.fact_data import CustomerHeld, CustomerObserved, CustomersMerged, Fact
from ledger.application.facts.addresses import ensure_customer, note_addresses
from ledger.application.facts.merging import merge, new_customer
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.hold import Hold, HoldBook


def observed(world: World, fact: Fact, data: CustomerObserved) -> Outcome:
    """Take the customer's addresses in, the first preferred."""
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


def held(world: World, fact: Fact, data: CustomerHeld) -> Outcome:
    """Put a customer on hold, or lift a hold; for all kinds of mail or the named ones."""
    outcome = Outcome(result="applied", customer_id=data.customer_id)
    customer = ensure_customer(world, outcome, data.customer_id)
    book = HoldBook(dict(customer.holds.holds)) if customer else HoldBook()
    hold = Hold(data.reason, data.held, fact.time or world.now, data.until, data.kinds)
    if not book.newer(hold):
        outcome.result = "stale"
        return outcome
    book.note(hold)
    until, indefinite = book.until(world.now, "reminder")
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


def merged(world: World, fact: Fact, data: CustomersMerged) -> Outcome:
    """Two customers are one; telling it again changes nothing."""
    outcome = Outcome(result="applied", customer_id=data.into_id)
    gone = world.customer(data.from_id)
    into = world.customer(data.into_id)
    if data.from_id == data.into_id or (gone is not None and gone is into):
        outcome.result = "ignored"
        outcome.body = {"detail": "they are one customer already"}
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
