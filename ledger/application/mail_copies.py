"""Copies of a mail (`cc`): each recipient is judged, counted in their windows, and judged again."""

from collections.abc import Iterable
from dataclasses import replace
from uuid import uuid5

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import customer_of_address
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.guards import Case, copies
from ledger.domain.identity import Address, aggregate_id
from ledger.domain.permit import Copy, Lane, Permit, State

_COUNTED = aggregate_id("copy", "mail")


def copy_cases(world: World, case: Case, cc: Iterable[Address]) -> tuple[Case, ...]:
    """What the guards judge for each copy. Raises NotLoaded."""
    found = []
    for address in _further(cc, case.address):
        owner_id = world.name("address", address.fingerprint)
        customer = world.customer(owner_id) if owner_id is not None else None
        found.append(copy_case(world, case, customer, address.fingerprint))
    return tuple(found)


def copy_case(world: World, case: Case, customer: Customer | None, fingerprint: str) -> Case:
    """The case of one who gets a copy: another customer and address, no thread of theirs."""
    return replace(
        case,
        lane=_lane(case.lane),
        customer=customer,
        thread=None,
        conversation=None,
        address=fingerprint,
        mailbox=world.mailbox(fingerprint),
        copies=(),
    )


def take_copies(
    world: World, outcome: Outcome, permit: Permit, cc: Iterable[Address], another_s: str | None
) -> tuple[Copy, ...]:
    """The copies of a permit that is being granted; who is not known yet is registered.

    The first is that of `another_s`, the other customer whose address the mail itself goes to.
    """
    copies = [
        Copy(address.fingerprint, customer_of_address(world, outcome, address))
        for address in _further(cc, permit.address)
    ]
    if another_s is not None and permit.address is not None:
        copies.insert(0, Copy(permit.address, another_s))
    return tuple(copies)


def count_copies(world: World, outcome: Outcome, permit: Permit) -> None:
    """Count a mail that may go out now in the windows of everyone who gets a copy of it, once.

    While it is not settled its copies are of unknown outcome: they count from `send_by`, the latest
    time from which the mail itself may turn out to count, so that no window fills up later.
    """
    if not permit.copies:
        return
    sent = permit.state is State.SENT
    at = permit.counts_at or world.now
    for customer_id in _others(world, permit):
        counted = Permit(
            permit_id=_name(permit, customer_id),
            kind="observed",
            lane=_lane(permit.lane),
            state=State.SENT if sent else State.UNKNOWN,
            customer_id=customer_id,
            key_id="",
            sender=permit.sender,
            redeem_required=False,
            granted_at=at,
            send_by=max(permit.send_by, at),
            thread_id=permit.thread_id,
            invoice_id=permit.invoice_id,
            settled_at=world.now if sent else None,
        )
        outcome.change("customer", customer_id, Customer.MailObserved, permit=counted)


def settle_copies(world: World, outcome: Outcome, before: Permit, settled: Permit) -> None:
    """Let the copies end as the mail did: a refused mail had none, one that went out had all.

    From `sent` on they count from when the mail counts; a correction of it frees them again.
    """
    if not before.copies:
        return
    if settled.state is State.SENT and not before.may_be_out:
        count_copies(world, outcome, settled)
        return
    if not before.may_be_out or settled.state not in (State.SENT, State.REJECTED):
        return
    for customer_id in {copy.customer_id for copy in before.copies}:
        customer = world.customer(customer_id)
        if customer is None:
            continue
        for name in _names(before, customer):
            if name in customer.permits:
                outcome.change(
                    "customer",
                    customer.customer_id,
                    Customer.MailSettled,
                    permit_id=name,
                    state=settled.state,
                    reason="the mail that it is a copy of was settled",
                    provider_message_id=None,
                    message_id=None,
                )


def copies_overtaken(world: World, permit: Permit) -> str | None:
    """Why a copy of a permit may not go out any more, None if all may. Raises NotLoaded.

    The windows of those who get one are judged at the redeem, too: they were not counted before.
    """
    if not permit.copies:
        return None
    case = Case(
        kind=permit.kind,
        lane=permit.lane,
        sender=permit.sender,
        now=world.now,
        policy=world.policy,
        control=world.control,
        customer=world.customer(permit.customer_id),
        address=permit.address,
        copies_counted=permit.may_be_out,
    )
    cases = []
    for copy in permit.copies:
        customer = world.customer(copy.customer_id)
        owner_id = world.name("address", copy.address) or copy.customer_id
        if world.customer(owner_id) is not customer:
            return "the address of a copy has another owner"
        cases.append(copy_case(world, case, customer, copy.address))
    denial = copies(replace(case, copies=tuple(cases)))
    return denial.detail if denial is not None else None


def _lane(lane: Lane) -> Lane:
    """By which windows a copy is judged: one of an apology is no apology to who gets it."""
    return Lane.OUTREACH if lane is Lane.APOLOGY else lane


def _further(cc: Iterable[Address], to: str | None) -> list[Address]:
    """Each address once, without the one that the mail itself goes to."""
    return list({a.fingerprint: a for a in cc if a.fingerprint != to}.values())


def _others(world: World, permit: Permit) -> list[str]:
    """The customers who get a copy and are not the one whose mail it is, each once."""
    found: dict[str, None] = {}
    for copy in permit.copies:
        customer = world.customer(copy.customer_id)
        found[customer.customer_id if customer is not None else copy.customer_id] = None
    own = world.customer(permit.customer_id)
    found.pop(own.customer_id if own is not None else permit.customer_id, None)
    return list(found)


def _names(permit: Permit, customer: Customer) -> list[str]:
    """Under which ids the copy may count: that of the customer, and of all merged into them."""
    ids = (customer.customer_id, *sorted(customer.absorbed))
    return [_name(permit, customer_id) for customer_id in ids]


def _name(permit: Permit, customer_id: str) -> str:
    return str(uuid5(_COUNTED, f"{permit.permit_id}:{customer_id}"))
