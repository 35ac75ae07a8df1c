"""The model of mails to another customer's address: they count for that one, too (ADR 0016)."""

from ledger.domain.identity import Address
from tests.support.model import Model
from tests.support.model_permits import ModelPermit


def another_owner(model: Model, customer: str, address: str | None) -> str | None:
    """The other customer whose address a mail is to go to, None where it is its customer's."""
    owner = model.root(model.address_of.get(address or "", customer))
    mine = address is None or address in model.customer(customer).addresses
    return None if mine or owner == model.root(customer) else owner


def misdirected(model: Model, customer: str, to: Address | None) -> bool:
    """Would mail in a thread of this customer go elsewhere than to the address in `to`? (ADR 0004).

    It goes to their preferred address, which may be another of theirs; nowhere if they have none.
    """
    addresses = model.customer(customer).addresses
    if to is None or not addresses or to.fingerprint in addresses:
        return False
    return model.root(model.address_of.get(to.fingerprint, "")) != model.root(customer)


def forbids(model: Model, owner: str, kind: str, lane: str, counted: bool = False) -> str | None:
    """Why the owner of an address may not get a mail of another customer's."""
    if model.customer(owner).holds.held(model.now, kind):
        return "on_hold"
    breaker = model.customer(owner).breaker
    if breaker == "all" or (breaker == "outreach" and lane == "outreach"):
        return "breaker_open"
    windows = () if counted else ("replies_hour", "replies_day") if lane == "reply" else (lane,)
    full = any(model.holdings.full(owner, window, model.now) for window in windows)
    return "cap_reached" if full else None


def lost_owner(model: Model, permit: ModelPermit) -> bool:
    """May the mail not go any more, for the other customer whose address it goes to?"""
    if permit.owner is None or permit.address is None:
        return False
    owner = model.root(permit.owner)
    if model.root(model.address_of.get(permit.address, owner)) != owner:
        return True
    if owner == model.root(permit.customer):
        return False
    return forbids(model, owner, permit.kind, permit.lane, permit.may_be_out) is not None
