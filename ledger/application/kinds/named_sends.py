"""Sends that are named by a customer: their names under every id the customer ever had (D9)."""

from collections.abc import Callable

from ledger.application.effects import NameClaim, Outcome
from ledger.application.kinds.addressee import (
    ask_of_addressee,
    ids_ever_had,
    ids_of_addressee,
    load_addressee,
)
from ledger.application.kinds.ask import rejection_limit
from ledger.application.kinds.kind import Ask, Granted, Judged, PermitSubject, Request
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain import sendkey
from ledger.domain.customer import Customer
from ledger.domain.identity import Address
from ledger.domain.permit import FREED, Permit
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.subjects import NamedSend
from ledger.domain.subscription import Subscription

KeyOf = Callable[[str], SendKey]
"""The send key under an id of the customer."""


def load_named(walk: Walk, customer_id: str | None, to: Address | None, key_of: KeyOf) -> None:
    """Walk to the addressee, and to the holders of the send under the ids that are known."""
    customer_id, owner_id = load_addressee(walk, customer_id, to)
    if customer_id is None:
        return
    _load_names(walk, customer_id, key_of)
    if owner_id is not None and owner_id != customer_id:
        _load_names(walk, owner_id, key_of)


def ask_named(
    world: World,
    request: Request,
    subject: PermitSubject,
    customer_id: str | None,
    to: Address | None,
    key_of: KeyOf,
    name: str,
    ended: Callable[[World, Customer | None], Subscription | None] = lambda _, __: None,
) -> Ask | Denial:
    """An ask for a send of which each customer gets one; `name` is what a person calls it.

    `ended` says which subscription it announces something of that will not come.
    """
    ask = ask_of_addressee(world, request, subject, customer_id, to)
    if isinstance(ask, Denial):
        return ask
    keys = _keys_of(ask.case.customer, ask.customer_id, key_of)
    names = tuple(sendkey.digest_of(key).hex() for key in keys)
    holder = _holder_of(world, names)
    if holder is None or holder.state in FREED:
        holder = _held_formerly(world, ask.case.customer, key_of) or holder
    limit = rejection_limit(world, request)
    over = ended(world, ask.case.customer)
    ask.subjects = [Judged(ask.customer_id, NamedSend(name, holder, limit, over))]
    ask.keys, ask.aliases, ask.names = keys[:1], keys[1:], names
    ask.rejections = holder.rejections if holder else 0
    return ask


def keys_of_named(
    world: World, customer_id: str | None, to: Address | None, key_of: KeyOf
) -> tuple[tuple[SendKey, ...], ...]:
    """The keys of one send under every id of the addressee."""
    ids = ids_ever_had(world, ids_of_addressee(world, customer_id, to))
    return (tuple(key_of(id_) for id_ in ids),)


def former_holders(world: World, customer_ids: list[str], key_of: KeyOf) -> list[str]:
    """The permits that may hold the send from another customer's windows, after a parting."""
    found: list[str] = []
    for customer_id in customer_ids:
        customer = world.customer(customer_id)
        if customer is not None and customer.formerly:
            keys = _keys_of(customer, customer.customer_id, key_of)
            names = [sendkey.digest_of(key).hex() for key in keys]
            former = (_name_of(key_of, former_id) for former_id in customer.formerly)
            holders = [world.name("send", name) for name in (*names, *former)]
            found.extend(holder for holder in holders if holder is not None)
    return found


def record_names(outcome: Outcome, granted: Granted) -> None:
    """Let the names lead to the permit; a deliberate repeat leaves them with the first send."""
    if not granted.repeated:
        permit_id = granted.permit.permit_id
        for name in granted.ask.names:
            outcome.names.append(NameClaim("send", name, permit_id, replaces=True))


def _load_names(walk: Walk, customer_id: str, key_of: KeyOf) -> None:
    customer = walk.loaded_customer(customer_id)
    present_id = customer.customer_id if customer is not None else customer_id
    for key in _keys_of(customer, present_id, key_of):
        walk.name("send", sendkey.digest_of(key).hex())
    for former_id in customer.formerly if customer else ():
        walk.name("send", _name_of(key_of, former_id))


def _keys_of(customer: Customer | None, customer_id: str, key_of: KeyOf) -> tuple[SendKey, ...]:
    """The keys of one send, the one under the present id first.

    A merge must not let out again what went to the customer under an id that was merged into it.
    """
    ids = (customer_id, *sorted(customer.absorbed if customer else ()))
    return tuple(key_of(id_) for id_ in ids)


def _name_of(key_of: KeyOf, customer_id: str) -> str:
    return sendkey.digest_of(key_of(customer_id)).hex()


def _held_formerly(world: World, customer: Customer | None, key_of: KeyOf) -> Permit | None:
    """The permit of another customer who was this one when it was granted, and is not any more.

    What was sent to the two as one, or to either before, must not go to the other one again.
    """
    for customer_id, until in customer.formerly.items() if customer else ():
        held = _holder_of(world, (_name_of(key_of, customer_id),))
        if held is not None and held.state not in FREED and held.granted_at <= until:
            return held
    return None


def _holder_of(world: World, names: tuple[str, ...]) -> Permit | None:
    """The permit that holds the send under any of its names, else the freed one refused most."""
    holder_ids = dict.fromkeys(world.name("send", name) for name in names)
    permits = [world.permit(holder_id) for holder_id in holder_ids if holder_id is not None]
    found = [permit for permit in permits if permit is not None]
    held = [permit for permit in found if permit.state not in FREED]
    return held[0] if held else max(found, key=lambda permit: permit.rejections, default=None)
