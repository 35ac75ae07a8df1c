"""Addresses and the customers they belong to: first claim wins, shared ones raise an alert (D9)."""

from datetime import datetime

from ledger.application.effects import Alert, Contact, NameClaim, Outcome
from ledger.application.fact_data import Unset
from ledger.application.facts.merging import merge
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, customer_known_by, known_by_address


def ensure_customer(world: World, outcome: Outcome, customer_id: str) -> Customer | None:
    """The customer, registered in this outcome if the ledger has not heard of them."""
    customer = world.customer(customer_id)
    if customer is None:
        outcome.register(
            "customer", customer_id, Customer.Created, Customer.TOPIC, customer_id=customer_id
        )
    return customer


def customer_of_address(world: World, outcome: Outcome, address: Address) -> str:
    """The customer whom an address belongs to: the first who claimed it, else itself (D9)."""
    claimed = world.name("address", address.fingerprint)
    if claimed is not None:
        return claimed
    customer_id = customer_known_by(address)
    ensure_customer(world, outcome, customer_id)
    outcome.names.append(NameClaim("address", address.fingerprint, customer_id))
    outcome.contacts.append(Contact(customer_id, address))
    outcome.change(
        "customer",
        customer_id,
        Customer.AddressesObserved,
        fingerprints=(address.fingerprint,),
        observed_at=world.now,
    )
    return customer_id


def note_invoice_address(
    world: World,
    outcome: Outcome,
    customer_id: str,
    email: Address | Unset | None,
    gone: str | None,
    at: datetime,
) -> None:
    """The address on an invoice becomes the customer's preferred one; null takes `gone` off.

    That is the fingerprint of the one that the invoice named before: said twice, null must not
    take another one.
    """
    if isinstance(email, Unset):
        return
    customer = world.customer(customer_id)
    known = customer.addresses if customer else ()
    if email is None:
        rest = tuple(fp for fp in known if fp != gone)
        note_addresses(world, outcome, customer_id, (), rest, at)
        return
    rest = tuple(fp for fp in known if fp != email.fingerprint)
    note_addresses(world, outcome, customer_id, (email,), (email.fingerprint, *rest), at)


def note_addresses(
    world: World,
    outcome: Outcome,
    customer_id: str,
    emails: tuple[Address, ...],
    fingerprints: tuple[str, ...],
    at: datetime,
) -> None:
    """Keep the customer's addresses in this order and claim the new ones."""
    customer = world.customer(customer_id)
    if customer is not None:
        customer_id = customer.customer_id
        newest = customer.addresses_observed_at
        if newest is not None and at < newest:
            return
    for email in emails:
        outcome.contacts.append(Contact(customer_id, email))
        _claim(world, outcome, customer_id, email)
    if customer is None or customer.addresses != fingerprints:
        outcome.change(
            "customer",
            customer_id,
            Customer.AddressesObserved,
            fingerprints=fingerprints,
            observed_at=at,
        )


def _claim(world: World, outcome: Outcome, customer_id: str, email: Address) -> None:
    owner_id = world.name("address", email.fingerprint)
    if owner_id is None:
        outcome.names.append(NameClaim("address", email.fingerprint, customer_id))
        return
    owner = world.customer(owner_id)
    if owner is None or owner.customer_id == customer_id:
        return
    if known_by_address(owner.customer_id):
        outcome.names.append(NameClaim("address", email.fingerprint, customer_id, replaces=True))
        merge(world, outcome, owner, world.customer(customer_id), customer_id)
        return
    pair = ":".join(sorted((owner.customer_id, customer_id)))
    outcome.alerts.append(
        Alert(
            "shared_address",
            f"shared_address:{email.fingerprint}:{pair}",
            f"customers {owner.customer_id} and {customer_id} have the same address",
            customer_id,
        )
    )
