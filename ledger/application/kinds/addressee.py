"""Whom a mail goes to that names a customer, an address, or both (design D9)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ledger.application.caller import Caller
from ledger.application.effects import Contact, Outcome
from ledger.application.facts.addresses import (
    another_owner,
    claim_address,
    customer_of_address,
    ensure_customer,
    owner_of_named,
)
from ledger.application.kinds.ask import begin_ask
from ledger.application.kinds.kind import Ask, PermitSubject, Request
from ledger.application.mail_copies import copy_case
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import ADDRESS_CUSTOMER_PREFIX, Address, customer_known_by
from ledger.domain.reasons import Denial


def load_addressee(
    walk: Walk, customer_id: str | None, to: Address | None
) -> tuple[str | None, str | None]:
    """Walk to the customer, and to whoever has the address where it is another; their ids."""
    owner_id = None
    if to is not None:
        walk.mailbox(to.fingerprint)
    if to is not None and not walk.has(customer_id, to):
        owner_id = walk.owner_of(to)
        customer_id = customer_id or owner_id or customer_known_by(to)
    if customer_id is not None:
        walk.customer(customer_id)
    return customer_id, owner_id


def ids_of_addressee(world: World, customer_id: str | None, to: Address | None) -> list[str]:
    """The customer who is named and the one who has the address, else the one known by it."""
    if customer_id is not None:
        owner = owner_of_named(world, customer_id, to) if to is not None else None
        return [customer_id] if owner is None else [customer_id, owner]
    if to is not None:
        return [world.name("address", to.fingerprint) or customer_known_by(to)]
    return []


def ids_ever_had(world: World, customer_ids: list[str]) -> tuple[str, ...]:
    """Every id under which these customers may have been mailed, the present one of each first.

    Those that were merged into them or were one with them once, and those of their addresses
    before anybody told whose they are.
    """
    found: list[str] = []
    for customer_id in customer_ids:
        customer = world.customer(customer_id)
        if customer is not None:
            found += [customer.customer_id, *sorted(customer.absorbed), *customer.formerly]
            found += [ADDRESS_CUSTOMER_PREFIX + address for address in customer.addresses]
        found.append(customer_id)
    return tuple(dict.fromkeys(found))


def ask_of_addressee(
    world: World,
    request: Request,
    subject: PermitSubject,
    customer_id: str | None,
    to: Address | None,
) -> Ask | Denial:
    """An ask for a customer who is named, or known by the address alone.

    Who is named beside an address has it from the grant on; if somebody was known by it, the two
    are judged as the one that they would be.
    """
    refused = _address_obstacle(world, request.caller, customer_id, to)
    if refused is not None:
        return refused
    setup, other = Outcome(), None
    if customer_id is None:
        if to is None:
            return Denial("invalid_request", "name a customer_id or an address in `to`")
        customer_id = customer_of_address(world, setup, to)
        customer = world.customer(customer_id)
    else:
        customer = ensure_customer(world, setup, customer_id)
        if to is not None:
            other = another_owner(world, customer_id, to)
            customer = claim_address(world, setup, customer_id, to)
    if to is not None:
        setup.contacts.append(Contact(customer_id, to))
    owner = customer.customer_id if customer else customer_id
    address = to.fingerprint if to else None
    ask = begin_ask(world, request, subject, customer, owner, address=address)
    if isinstance(ask, Ask):
        ask.setup = setup
        count_for_owner(world, ask, other)
    return ask


def count_for_owner(world: World, ask: Ask, owner: Customer | None) -> None:
    """Judge the mail for the other customer whose address it goes to as a copy for them is judged.

    So that no made-up customers carry more mails to one mailbox than its owner may have (ADR 0016).
    """
    address = ask.case.address
    if owner is None or address is None:
        return
    ask.another_s = owner.customer_id
    ask.case = replace(
        ask.case, copies=(copy_case(world, ask.case, owner, address), *ask.case.copies)
    )


def _address_obstacle(
    world: World, caller: Caller, customer_id: str | None, to: Address | None
) -> Denial | None:
    """A key for some customers only may not mail another's address under the name of one of them.

    Nor one that is not on record, unless nobody has it and the customer is new: it would become
    the address of record.
    """
    limits = caller.limits
    if limits is None or limits.customers is None or customer_id is None or to is None:
        return None
    customer = world.customer(customer_id)
    if customer is not None and to.fingerprint in customer.addresses:
        return None
    if customer is None and world.name("address", to.fingerprint) is None:
        return None
    return Denial("key_limit", "this key may name only an address that the customer has")


def logged_address(logged: Mapping[str, Any]) -> Address | None:
    """The address of a request as the decision log keeps it: by its fingerprint alone (D18)."""
    fingerprint = logged.get("to_fingerprint")
    return Address("", fingerprint) if fingerprint is not None else None
