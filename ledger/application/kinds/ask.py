"""Begins what a request comes down to: the case that the guards judge, whatever the kind."""

from dataclasses import replace

from ledger.application.kinds.kind import Ask, PermitSubject, Request
from ledger.application.mail_copies import copy_cases
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.guards import Case
from ledger.domain.identity import RESERVED_CUSTOMER_PREFIX
from ledger.domain.reasons import Denial
from ledger.domain.subjects import MissingSubject
from ledger.domain.thread import Thread

_NO_LIMIT = 2**31


def begin_ask(
    world: World,
    request: Request,
    subject: PermitSubject,
    customer: Customer | None,
    customer_id: str,
    thread: Thread | None = None,
    address: str | None = None,
) -> Ask | Denial:
    """An ask for this customer, with nothing to judge yet.

    `address` is a fingerprint; without one the mail goes to the customer's preferred address.
    """
    caller, named = request.caller, address is not None
    synthetic = customer_id.startswith(RESERVED_CUSTOMER_PREFIX)
    if synthetic and caller.key_id != "system":
        return Denial("invalid_request", "this customer id is reserved for the guard check")
    if address is None and customer is not None and customer.addresses:
        address = customer.addresses[0]
    case = Case(
        kind=subject.kind,
        lane=subject.lane(caller.transactional),
        sender=caller.name,
        now=world.now,
        policy=world.policy,
        control=world.control,
        customer=customer,
        thread=thread,
        address=address,
        mailbox=world.mailbox(address) if address is not None else None,
        override=request.override is not None,
        claim=subject.claim,
        synthetic=synthetic,
        dunning=subject.dunning,
        not_after=subject.ends_at(world.policy),
    )
    if request.cc:
        case = replace(case, copies=copy_cases(world, case, request.cc))
    return Ask([], case, customer_id, address_named=named)


def rejection_limit(world: World, request: Request) -> int:
    """After how many refusals a send key is on hold; a human who overrides has looked at them."""
    return _NO_LIMIT if request.override is not None else world.policy.rejections_before_hold


def missing_invoice(invoice_id: str) -> MissingSubject:
    """An invoice that the ledger has not been told of."""
    return MissingSubject(f"invoice {invoice_id}", "unknown_invoice")
