"""`customer.unmerged`: undoes a merge of two customers (design D9)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import uuid5

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.walk import Walk
from ledger.application.world import LONGEST_MERGE_CHAIN, World
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, aggregate_id, customer_known_by
from ledger.domain.kept_permits import REMEMBERED
from ledger.domain.permit import DUNNING, Permit, State
from ledger.domain.subscription import Subscription
from ledger.domain.value import value

_UNMERGED = "unmerged"
_COUNTS_TOO = aggregate_id("unmerged", "mail")


@value
class CustomerUnmerged(FactData):
    """`customer_id` was merged into `from_id`, at once or by way of others, and should not be."""

    customer_id: str
    from_id: str


class CustomerUnmergedType(FactType[CustomerUnmerged]):
    """Merges that are undone."""

    data = CustomerUnmerged

    def load(self, walk: Walk, data: CustomerUnmerged) -> None:
        """Both customers."""
        walk.customer(data.customer_id)
        walk.customer(data.from_id)

    def permits(self, world: World, data: CustomerUnmerged) -> Iterable[Permit | None]:
        """Those of the customer that they are so far: what lapsed is settled on the right side."""
        one = world.customer(data.from_id)
        return one.lapsed(world.now) if one is not None else ()

    def apply(self, world: World, fact: Fact, data: CustomerUnmerged) -> Outcome:
        """Let the customer be their own again, with what was theirs; fail closed in doubt.

        A merge that is told with an earlier time than this changes nothing any more.
        """
        outcome = Outcome(result="applied", customer_id=data.customer_id)
        at = fact.time or world.now
        gone = world.customer_of_id(data.customer_id)
        told = unmerged_at(world, data.customer_id, data.from_id)
        if told is None or told < at:
            name = _pair(data.customer_id, data.from_id)
            outcome.names.append(NameClaim(_UNMERGED, name, at.isoformat(), replaces=True))
        if gone is None or gone.merged_into is None:
            outcome.result = "ignored"
            outcome.body = {"detail": f"{data.customer_id} is not merged into {data.from_id}"}
            return outcome
        chain = list(_merged_through(world, gone))
        if all(customer.customer_id != data.from_id for customer in chain):
            outcome.result = "ignored"
            outcome.body = {"detail": f"the customer was merged into {gone.merged_into}"}
            return outcome
        _part(world, outcome, gone, chain)
        return outcome


def unmerged_at(world: World, customer_id: str, from_id: str) -> datetime | None:
    """Of when the latest word is that the two are not one (UTC), None if nobody said so."""
    told = world.name(_UNMERGED, _pair(customer_id, from_id))
    return datetime.fromisoformat(told) if told is not None else None


def _pair(customer_id: str, from_id: str) -> str:
    return f"{len(customer_id)}:{customer_id}{from_id}"


def _merged_through(world: World, gone: Customer) -> Iterable[Customer]:
    """The customers that this one went into, one after the other; the last is nobody else's."""
    following = gone.merged_into
    for _ in range(LONGEST_MERGE_CHAIN):
        if following is None:
            return
        customer = world.customer_of_id(following)
        if customer is None:
            return
        yield customer
        following = customer.merged_into
    raise RuntimeError(f"customer {gone.customer_id} is merged in a circle")


def _part(world: World, outcome: Outcome, gone: Customer, chain: list[Customer]) -> None:
    """The events of the parting: `gone` gets back what is theirs, the others let go of it.

    Both keep the holds, held addresses, reminders, apologies and the open breaker of the customer
    that they were. A mail that was sent to that one counts for both.
    """
    one = chain[-1]
    ids = (gone.customer_id, *sorted(gone.absorbed & one.absorbed))
    others = (one.customer_id, *sorted(one.absorbed - set(ids)))
    own = [one.permits[name] for name in gone.permits if name in one.permits]
    until, indefinite = one.holds.until(world.now, DUNNING)
    formerly = {name: at for name, at in one.formerly.items() if name not in ids}
    outcome.change(
        "customer",
        gone.customer_id,
        Customer.Unmerged,
        ids=ids,
        others=others,
        permits=tuple(replace(permit, customer_id=gone.customer_id) for permit in own),
        holds=one.holds.words(),
        breaker=one.breaker,
        held_addresses=dict(one.held_addresses),
        apologies=dict(one.apologies),
        held_until=until,
        indefinite=indefinite,
        formerly=formerly | dict.fromkeys(others, world.now),
        credits=one.credit.of(ids),
        reminders=tuple(one.reminders.values()),
        subscriptions=_subscriptions_of(gone, one),
    )
    mine = {permit.permit_id for permit in own}
    for permit in one.permits.values():
        if permit.permit_id not in mine and _went_to_both(permit, gone.merged_at, world.now):
            copy = _counting_for(gone, permit)
            outcome.change("customer", gone.customer_id, Customer.MailObserved, permit=copy)
    addresses = _addresses_of(world, outcome, gone, ids)
    for customer in chain:
        outcome.change(
            "customer",
            customer.customer_id,
            Customer.LetGo,
            customer_id=gone.customer_id,
            ids=ids,
            permits=tuple(gone.permits),
            subscriptions=tuple(gone.subscriptions.known),
            addresses=tuple(a for a in customer.addresses if a not in addresses),
        )


def _subscriptions_of(gone: Customer, one: Customer) -> tuple[Subscription, ...]:
    """Their subscriptions, each in its latest state, and those that ended during the merge.

    Nobody can say whose the latter are, so an end counts for both: it stops mails.
    """
    own, known = gone.subscriptions.known, one.subscriptions.known
    since = gone.merged_at
    ended = (s for s in known.values() if s.subscription_id not in own and s.ended)
    later = [s for s in ended if since is not None and s.at >= since]
    return (*(known.get(name, word) for name, word in own.items()), *later)


def _went_to_both(permit: Permit, since: datetime | None, now: datetime) -> bool:
    """Does it count, and may it have gone out to the two as one, who were it `since` then (UTC)?

    What was granted to them and is not out is revoked. Of a mail that went out past the ledger
    nobody knows when it was told.
    """
    as_one = since is None or permit.granted_at >= since or permit.kind == "observed"
    out = not permit.live or permit.may_be_out
    return as_one and out and permit.counts_within(now, REMEMBERED)


def _counting_for(gone: Customer, permit: Permit) -> Permit:
    """The same mail in the windows of the other one, as one that was seen to go out."""
    at = permit.send_by if permit.live else permit.counts_at
    assert at is not None
    return Permit(
        permit_id=str(uuid5(_COUNTS_TOO, f"{permit.permit_id}:{gone.customer_id}")),
        kind="observed",
        lane=permit.lane,
        state=State.SENT,
        customer_id=gone.customer_id,
        key_id="",
        sender=permit.sender,
        redeem_required=False,
        granted_at=at,
        send_by=at,
        settled_at=at,
        thread_id=permit.thread_id,
        invoice_id=permit.invoice_id,
    )


def _addresses_of(
    world: World, outcome: Outcome, gone: Customer, ids: tuple[str, ...]
) -> frozenset[str]:
    """The addresses that are theirs alone. Whoever is known by an address has that one again."""
    theirs = set()
    for fingerprint in gone.addresses:
        owner_id = world.name("address", fingerprint)
        if owner_id in ids:
            theirs.add(fingerprint)
        elif customer_known_by(Address("", fingerprint)) == gone.customer_id:
            theirs.add(fingerprint)
            claim = NameClaim("address", fingerprint, gone.customer_id, replaces=True)
            outcome.names.append(claim)
    return frozenset(theirs)
