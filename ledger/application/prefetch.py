"""What commands will look at, so that a whole batch is loaded in a few round trips.

A walk goes as deep as what is loaded leads, and notes what is missing. It may guess too little: a
decision that misses something says so by NotLoaded.
"""

from ledger.application.facts.intake import load_fact
from ledger.application.named_sends import key_for, names_of
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
from ledger.application.requests import (
    ApplyFact,
    Command,
    Lapse,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
from ledger.application.walk import Walk
from ledger.domain.customer import Customer
from ledger.domain.identity import aggregate_id, customer_known_by
from ledger.domain.thread import Thread


def follow(walk: Walk, command: Command) -> None:
    """Note everything that this command leads to."""
    if isinstance(command, RequestPermit):
        _request(walk, command)
    elif isinstance(command, Redeem | ReportOutcome | Lapse):
        permit = walk.permit(command.permit_id)
        if permit is not None:
            walk.permit_parts(permit, isinstance(command, Redeem))
        if isinstance(command, ReportOutcome):
            for name in (command.provider_message_id, command.message_id):
                if name is not None:
                    walk.name("early_delivery", name)
    elif isinstance(command, ApplyFact):
        load_fact(walk, command.fact)


def _request(walk: Walk, command: RequestPermit) -> None:
    if command.idempotency is not None:
        walk.need.bindings.add(command.idempotency.scope)
    if command.job is not None:
        walk.aggregate("job", command.job.name)
    if command.override is not None:
        walk.name("override", command.override.action_id)
    for fact in command.facts:
        load_fact(walk, fact)
    subject = command.subject
    if isinstance(subject, Reminder):
        for invoice_id in subject.invoices:
            walk.invoice(invoice_id)
    elif isinstance(subject, PaymentFailedNotice):
        walk.invoice(subject.invoice_id)
    elif isinstance(subject, ApologyRequest):
        walk.aggregate("incident", subject.incident_id)
        walk.customer(subject.customer_id)
    else:
        _mail(walk, subject)


def _mail(walk: Walk, subject: Reply | Notification | Digest | FollowUp | IntentMessage) -> None:
    if isinstance(subject, Reply):
        walk.name("message", subject.in_reply_to)
        walk.name("message_alias", subject.in_reply_to)
        walk.name("sent_message", subject.in_reply_to)
    if isinstance(subject, Reply | FollowUp | IntentMessage):
        thread = walk.aggregate("thread", subject.thread_id)
        if isinstance(thread, Thread):
            walk.customer(thread.customer_id)
            return
    customer_id, owner_id = subject.customer_id, None
    if subject.to is not None and not walk.has(customer_id, subject.to):
        owner_id = walk.owner_of(subject.to)
        customer_id = customer_id or owner_id or customer_known_by(subject.to)
    if customer_id is None:
        return
    walk.customer(customer_id)
    if isinstance(subject, Notification | Digest):
        _sends(walk, subject, customer_id)
        if owner_id is not None and owner_id != customer_id:
            _sends(walk, subject, owner_id)


def _sends(walk: Walk, subject: Notification | Digest, customer_id: str) -> None:
    found = walk.aggregates.get(aggregate_id("customer", customer_id))
    customer = found if isinstance(found, Customer) else None
    for name in names_of(customer, customer_id, key_for(subject)):
        walk.name("send", name)
