"""What commands will look at, so that a whole batch is loaded in a few round trips.

A walk goes as deep as what is loaded leads, and notes what is missing. It may guess too little: a
decision that misses something says so by NotLoaded.
"""

from ledger.application.commands import (
    ApplyFact,
    Command,
    Lapse,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
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
from ledger.application.walk import Walk
from ledger.domain.identity import Address


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
        _fact(walk, command.fact)


def _request(walk: Walk, command: RequestPermit) -> None:
    if command.idempotency is not None:
        walk.need.bindings.add(command.idempotency.scope)
    if command.job is not None:
        walk.aggregate("job", command.job.name)
    if command.override is not None:
        walk.name("override", command.override.action_id)
    for fact in command.facts:
        _fact(walk, fact)
    command.subject.load(walk)


def _fact(walk: Walk, fact: Fact) -> None:
    data = fact.data
    if fact.fact_id is not None:
        walk.name("fact", fact_name(fact))
    if isinstance(data, CustomerObserved | CustomerHeld):
        walk.customer(data.customer_id)
        if isinstance(data, CustomerObserved):
            walk.claims(data.emails)
    elif isinstance(data, CustomersMerged):
        walk.customer(data.from_id)
        walk.customer(data.into_id)
    elif isinstance(data, ThreadMessage):
        walk.aggregate("thread", data.thread_id)
        for name in (data.message_id, *data.aliases):
            walk.name("message", name)
            walk.name("message_alias", name)
            walk.name("sent_message", name)
        correspondent = data.sender if data.direction == "inbound" else data.recipient
        walk.owner(data.customer_id, correspondent)
        walk.claims(tuple(a for a in (data.sender, data.recipient) if a))
    elif isinstance(data, SendObserved):
        walk.customer(data.customer_id)
        if data.invoice_id is not None:
            walk.invoice(data.invoice_id)
        if data.thread_id is not None:
            walk.aggregate("thread", data.thread_id)
    elif isinstance(data, Delivery):
        _delivery(walk, data)
    else:
        walk.invoice(data.invoice_id)
        if isinstance(data, InvoiceObserved):
            email = data.email if isinstance(data.email, Address) else None
            walk.owner(data.customer_id, email)
            if email is not None:
                walk.claims((email,))


def _delivery(walk: Walk, data: Delivery) -> None:
    if data.permit_id is not None:
        permit = walk.permit(data.permit_id)
        if permit is not None:
            walk.permit_parts(permit, False)
    if data.message_id is not None:
        walk.name("sent_message", data.message_id)
        walk.name("early_delivery", data.message_id)
    if data.provider_message_id is not None:
        walk.name("provider_message", data.provider_message_id)
        walk.name("early_delivery", data.provider_message_id)
