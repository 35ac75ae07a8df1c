"""What commands will look at, so that a whole batch is loaded in a few round trips.

It may guess too little: a decision that misses something says so by NotLoaded.
"""

from uuid import UUID

from ledger.application.fact_data import (
    CustomerHeld,
    CustomerObserved,
    CustomersMerged,
    Delivery,
    Fact,
    InvoiceObserved,
    SendObserved,
    ThreadMessage,
)
from ledger.application.facts.fact_names import fact_name
from ledger.application.permit_subjects import (
    ApologyRequest,
    Digest,
    FollowUp,
    IntentMessage,
    Notification,
    PaymentFailedNotice,
    Reminder,
    Reply,
)
from ledger.application.ports import Need
from ledger.application.requests import (
    ApplyFact,
    Command,
    Lapse,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, aggregate_id, customer_known_by
from ledger.domain.invoice import Invoice
from ledger.domain.thread import Thread


def first_needs(command: Command, need: Need) -> None:
    """What the command names itself."""
    if isinstance(command, RequestPermit):
        if command.idempotency is not None:
            need.bindings.add(command.idempotency.scope)
        if command.job is not None:
            need.aggregates.add(aggregate_id("job", command.job.name))
        if command.override is not None:
            need.names.add(("override", command.override.action_id))
        for fact in command.facts:
            _fact_needs(fact, need)
        _subject_needs(command, need)
    elif isinstance(command, Redeem | ReportOutcome | Lapse):
        need.permits.add(command.permit_id)
        if isinstance(command, ReportOutcome) and command.provider_message_id is not None:
            need.names.add(("early_delivery", command.provider_message_id))
    elif isinstance(command, ApplyFact):
        _fact_needs(command.fact, need)


def _fact_needs(fact: Fact, need: Need) -> None:
    data = fact.data
    if fact.fact_id is not None:
        need.names.add(("fact", fact_name(fact)))
    if isinstance(data, CustomerObserved | CustomerHeld):
        need.aggregates.add(aggregate_id("customer", data.customer_id))
        if isinstance(data, CustomerObserved):
            _address_needs(data.emails, need)
    elif isinstance(data, CustomersMerged):
        need.aggregates.add(aggregate_id("customer", data.from_id))
        need.aggregates.add(aggregate_id("customer", data.into_id))
    elif isinstance(data, ThreadMessage):
        need.aggregates.add(aggregate_id("thread", data.thread_id))
        need.names.add(("message", data.message_id))
        need.names.add(("sent_message", data.message_id))
        _address_needs(tuple(a for a in (data.sender, data.recipient) if a), need)
    elif isinstance(data, SendObserved):
        need.aggregates.add(aggregate_id("customer", data.customer_id))
        if data.invoice_id is not None:
            need.aggregates.add(aggregate_id("invoice", data.invoice_id))
        if data.thread_id is not None:
            need.aggregates.add(aggregate_id("thread", data.thread_id))
    elif isinstance(data, Delivery):
        if data.permit_id is not None:
            need.permits.add(data.permit_id)
        if data.message_id is not None:
            need.names.add(("sent_message", data.message_id))
        if data.provider_message_id is not None:
            need.names.add(("provider_message", data.provider_message_id))
    else:
        need.aggregates.add(aggregate_id("invoice", data.invoice_id))
        if isinstance(data, InvoiceObserved):
            if data.customer_id is not None:
                need.aggregates.add(aggregate_id("customer", data.customer_id))
            if isinstance(data.email, Address):
                _address_needs((data.email,), need)


def _address_needs(addresses: tuple[Address, ...], need: Need) -> None:
    for address in addresses:
        need.names.add(("address", address.fingerprint))


def _subject_needs(command: RequestPermit, need: Need) -> None:
    subject = command.subject
    if isinstance(subject, Reminder):
        for invoice_id in subject.invoices:
            need.aggregates.add(aggregate_id("invoice", invoice_id))
        return
    if isinstance(subject, PaymentFailedNotice):
        need.aggregates.add(aggregate_id("invoice", subject.invoice_id))
        return
    if isinstance(subject, ApologyRequest):
        need.aggregates.add(aggregate_id("incident", subject.incident_id))
        need.aggregates.add(aggregate_id("customer", subject.customer_id))
        return
    if isinstance(subject, Reply):
        need.names.add(("message", subject.in_reply_to))
        need.names.add(("sent_message", subject.in_reply_to))
    if isinstance(subject, Reply | FollowUp | IntentMessage):
        need.aggregates.add(aggregate_id("thread", subject.thread_id))
    if isinstance(subject, Notification | Digest | FollowUp | IntentMessage | Reply):
        if subject.customer_id is not None:
            need.aggregates.add(aggregate_id("customer", subject.customer_id))
        elif subject.to is not None:
            need.names.add(("address", subject.to.fingerprint))
            need.aggregates.add(aggregate_id("customer", customer_known_by(subject.to)))


def second_needs(command: Command, world: World, need: Need) -> None:
    """What the things named by the command point to: customers, and the invoices of permits."""
    for id_ in _named_aggregates(command):
        found = world.aggregates.get(id_)
        if isinstance(found, Invoice) and found.snapshot is not None:
            need.aggregates.add(aggregate_id("customer", found.customer_id))
        elif isinstance(found, Thread):
            need.aggregates.add(aggregate_id("customer", found.customer_id))
        elif isinstance(found, Customer):
            _lapsed_needs(found, world, need)
    if isinstance(command, Redeem | ReportOutcome | Lapse):
        permit = world.permits.get(command.permit_id)
        if permit is not None:
            need.aggregates.add(aggregate_id("customer", permit.customer_id))
            for item in permit.items:
                need.aggregates.add(aggregate_id("invoice", item.invoice_id))
            if permit.thread_id is not None:
                need.aggregates.add(aggregate_id("thread", permit.thread_id))
            if isinstance(command, Redeem) and permit.address is not None:
                need.fingerprints.add(permit.address)


def third_needs(command: Command, world: World, need: Need) -> None:
    """What the customers point to: permits whose time is up, and the address to write to."""
    if not isinstance(command, RequestPermit):
        return
    for id_ in _named_aggregates(command):
        found = world.aggregates.get(id_)
        if isinstance(found, Invoice | Thread) and found.customer_id:
            owner = world.aggregates.get(aggregate_id("customer", found.customer_id))
            if isinstance(owner, Customer):
                _lapsed_needs(owner, world, need)


def _lapsed_needs(customer: Customer, world: World, need: Need) -> None:
    if customer.addresses:
        need.fingerprints.add(customer.addresses[0])
    for permit in customer.lapsed(world.now):
        need.permits.add(permit.permit_id)
        for item in permit.items:
            need.aggregates.add(aggregate_id("invoice", item.invoice_id))
        if permit.thread_id is not None:
            need.aggregates.add(aggregate_id("thread", permit.thread_id))


def _named_aggregates(command: Command) -> set[UUID]:
    need = Need()
    first_needs(command, need)
    return need.aggregates
