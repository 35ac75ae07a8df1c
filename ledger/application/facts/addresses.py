"""Addresses and the customers they belong to: first claim wins, shared ones raise an alert (D9)."""

from datetime import UTC, datetime

from ledger.application.effects import Alert, Contact, NameClaim, Outcome
from ledger.application.facts.merging import merge
from ledger.application.facts.unset import Unset
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, customer_known_by, known_by_address
from ledger.domain.merged_selves import fit_together

_BEFORE_ALL_NEWS = datetime(1970, 1, 1, tzinfo=UTC)
"""When the addresses of a customer were told whom nobody has told any of."""


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


def claim_address(
    world: World, outcome: Outcome, customer_id: str, address: Address
) -> Customer | None:
    """Somebody named the address beside the customer: it is theirs, unless it is another's (D9).

    Answers with the customer as they will be, None if they are new. The address goes behind those
    that the billing system tells of, and makes none of its news stale.
    """
    customer = world.customer(customer_id)
    owner_id = owner_of_named(world, customer_id, address)
    if owner_id is not None:
        owner = world.customer(owner_id)
        united = unite(world, outcome, customer_id, owner) if owner is not None else None
        if united is not None:
            claim = NameClaim("address", address.fingerprint, united.customer_id, replaces=True)
            outcome.names.append(claim)
            return united
        if owner is not None and owner is not customer:
            _alert_shared(outcome, owner.customer_id, customer_id, address)
        return customer
    known = customer.addresses if customer is not None else ()
    if address.fingerprint in known:
        return customer
    newest = customer.addresses_observed_at if customer is not None else None
    if customer is not None:
        customer_id = customer.customer_id
    outcome.names.append(NameClaim("address", address.fingerprint, customer_id))
    outcome.contacts.append(Contact(customer_id, address))
    outcome.change(
        "customer",
        customer_id,
        Customer.AddressesObserved,
        fingerprints=(*known, address.fingerprint),
        observed_at=newest or _BEFORE_ALL_NEWS,
    )
    return customer


def owner_of_named(world: World, customer_id: str, address: Address) -> str | None:
    """Whose an address is that was named beside a customer; not looked up if known as theirs."""
    customer = world.customer(customer_id)
    if customer is not None and address.fingerprint in customer.addresses:
        return None
    return world.name("address", address.fingerprint)


def another_owner(world: World, customer_id: str, address: Address) -> Customer | None:
    """The other customer whose an address stays that is named beside a customer (ADR 0016).

    None where it is the customer's, too, or nobody's, or the two become one by it.
    """
    owner_id = owner_of_named(world, customer_id, address)
    owner = world.customer(owner_id) if owner_id is not None else None
    customer = world.customer(customer_id)
    if owner is None or owner is customer or _are_one(customer, owner):
        return None
    return owner


def unite(world: World, outcome: Outcome, customer_id: str, other: Customer) -> Customer | None:
    """The two as the one that they are from now on, if either was known by an address alone.

    That one goes into the other, whichever of them was heard of first (design D9). Not where they
    would be known under too many ids: the address is then another's.
    """
    customer = world.customer(customer_id)
    if customer is other or not _are_one(customer, other):
        return None
    if _known_by_address_alone(other):
        ensure_customer(world, outcome, customer_id)
        into_id = customer.customer_id if customer is not None else customer_id
        return merge(world, outcome, other, customer, into_id)
    assert customer is not None
    return merge(world, outcome, customer, other, other.customer_id)


def _are_one(customer: Customer | None, other: Customer) -> bool:
    """Are they one person: is either of them known by an address alone?"""
    alone = _known_by_address_alone(other)
    alone = alone or (customer is not None and _known_by_address_alone(customer))
    return alone and fit_together(other, customer)


def _known_by_address_alone(customer: Customer) -> bool:
    """Has nobody who was merged into them a billing id either?"""
    return all(map(known_by_address, (customer.customer_id, *customer.absorbed)))


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
    told_of = customer_id
    for email in emails:
        outcome.contacts.append(Contact(customer_id, email))
        customer_id = _claim(world, outcome, customer_id, email)
    if customer_id != told_of:
        return
    if customer is None or customer.addresses != fingerprints:
        outcome.change(
            "customer",
            customer_id,
            Customer.AddressesObserved,
            fingerprints=fingerprints,
            observed_at=at,
        )


def _claim(world: World, outcome: Outcome, customer_id: str, email: Address) -> str:
    """Claim the address; who the customer is from now on.

    That is another one if they were known by an address alone and this one is a customer's.
    """
    owner_id = world.name("address", email.fingerprint)
    if owner_id is None:
        outcome.names.append(NameClaim("address", email.fingerprint, customer_id))
        return customer_id
    owner = world.customer(owner_id)
    if owner is None or owner.customer_id == customer_id:
        return customer_id
    united = unite(world, outcome, customer_id, owner)
    if united is not None:
        new_id = united.customer_id
        outcome.names.append(NameClaim("address", email.fingerprint, new_id, replaces=True))
        return new_id
    _alert_shared(outcome, owner.customer_id, customer_id, email)
    return customer_id


def _alert_shared(outcome: Outcome, owner_id: str, customer_id: str, address: Address) -> None:
    pair = ":".join(sorted((owner_id, customer_id)))
    outcome.alerts.append(
        Alert(
            "shared_address",
            f"shared_address:{address.fingerprint}:{pair}",
            f"customers {owner_id} and {customer_id} have the same address",
            customer_id,
        )
    )
