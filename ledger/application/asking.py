"""What a request for a permit comes down to: subjects, customer, lane, address and send keys."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ledger.application.effects import Contact, Ids, Outcome
from ledger.application.facts.addresses import (
    claim_address,
    customer_of_address,
    ensure_customer,
)
from ledger.application.facts.threads import message_named, start_thread
from ledger.application.lanes import lane_of
from ledger.application.named_sends import holder_of, key_for, names_of
from ledger.application.permit_subjects import (
    KINDS,
    ApologyRequest,
    Digest,
    Expected,
    FollowUp,
    IntentMessage,
    Notification,
    PaymentFailedNotice,
    Reminder,
    Reply,
)
from ledger.application.requests import RequestPermit
from ledger.application.world import World
from ledger.domain import sendkey
from ledger.domain.customer import Customer
from ledger.domain.guards import Case, Subject
from ledger.domain.identity import RESERVED_CUSTOMER_PREFIX, Address
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.sends import SendBook
from ledger.domain.subjects import (
    ApologyOf,
    InvoiceNotice,
    InvoiceStage,
    MissingSubject,
    NamedSend,
    ReplyTo,
    ThreadSlot,
)
from ledger.domain.thread import Thread, follow_up_slot, intent_slot, reply_slot

_NO_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class Judged:
    """A subject, and the outside id under which an answer speaks of it."""

    ref: str
    judged: Subject


@dataclass(slots=True)
class Ask:
    """A request as the guards and the grant need it.

    `setup` registers what the ledger has not heard of; it is done only with a grant.
    """

    subjects: list[Judged]
    case: Case
    customer_id: str
    setup: Outcome = field(default_factory=Outcome)
    keys: tuple[SendKey, ...] = ()
    slots: tuple[str, ...] = ()
    rejections: int = 0
    invoice_id: str | None = None
    thread_id: str | None = None
    incident_id: str | None = None
    names: tuple[str, ...] = ()
    lists_withheld: bool = False
    extras: dict[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> Ids:
        """The ids by which the decision is found again."""
        return Ids(
            customer_id=self.customer_id or None,
            invoice_id=self.invoice_id,
            thread_id=self.thread_id,
        )


def ask_for(world: World, command: RequestPermit) -> Ask | Denial:
    """The ask that a request comes down to, or why there is none."""
    maker = _MAKERS[type(command.subject)]
    return maker(world, command, command.subject)


def _reminder(world: World, command: RequestPermit, subject: Reminder) -> Ask | Denial:
    policy = world.policy
    stage = policy.stage(subject.stage) if subject.stage is not None else None
    if subject.stage is not None and stage is None:
        return Denial("invalid_request", f"{subject.stage!r} is not a stage of the policy")
    judged: list[Judged] = []
    customers: dict[str, Customer] = {}
    for invoice_id in dict.fromkeys(subject.invoices):
        invoice = world.invoice(invoice_id)
        if invoice is None or invoice.snapshot is None:
            judged.append(Judged(invoice_id, _missing("invoice", invoice_id)))
            continue
        customer = world.customer(invoice.customer_id)
        if customer is not None:
            customers[customer.customer_id] = customer
        expected = subject.expected.get(invoice_id, Expected())
        judged.append(
            Judged(
                invoice_id,
                InvoiceStage(
                    invoice,
                    stage,
                    world.now,
                    policy,
                    expected.cycle,
                    expected.amount_remaining,
                    command.override is not None,
                ),
            )
        )
    if len(customers) > 1:
        return Denial("invalid_request", "the invoices of one reminder must be of one customer")
    customer = next(iter(customers.values()), None)
    owner = customer.customer_id if customer else ""
    ask = _ask(world, command, customer, owner, claim=subject.claim)
    if isinstance(ask, Denial):
        return ask
    ask.subjects = judged
    ask.invoice_id = subject.invoices[0]
    ask.lists_withheld = True
    return ask


def _payment_failed(
    world: World, command: RequestPermit, subject: PaymentFailedNotice
) -> Ask | Denial:
    invoice = world.invoice(subject.invoice_id)
    if invoice is None or invoice.snapshot is None:
        ask = _ask(world, command, None, "")
        if isinstance(ask, Ask):
            ask.subjects = [Judged(subject.invoice_id, _missing("invoice", subject.invoice_id))]
            ask.invoice_id = subject.invoice_id
        return ask
    customer = world.customer(invoice.customer_id)
    owner = customer.customer_id if customer else invoice.customer_id
    ask = _ask(world, command, customer, owner)
    if isinstance(ask, Denial):
        return ask
    slots = [f"event:{subject.event_id}"]
    keys = [sendkey.payment_event_key(subject.invoice_id, subject.event_id)]
    if subject.attempt_id is not None:
        slots.append(f"attempt:{subject.attempt_id}")
        keys.append(sendkey.payment_attempt_key(subject.invoice_id, subject.attempt_id))
    limit = _rejection_limit(world, command)
    notice = InvoiceNotice(invoice, tuple(slots), world.now, world.policy, limit)
    ask.subjects = [Judged(subject.invoice_id, notice)]
    ask.keys, ask.slots, ask.invoice_id = tuple(keys), tuple(slots), subject.invoice_id
    ask.rejections = max(invoice.notices.rejections.get(slot, 0) for slot in slots)
    ask.extras = {
        "invoice_id": subject.invoice_id,
        "amount_remaining": invoice.standing.balance,
        "currency": invoice.snapshot.currency,
    }
    return ask


def _reply(world: World, command: RequestPermit, subject: Reply) -> Ask | Denial:
    """The message's own thread counts, whatever thread the request names."""
    home = world.name("message", subject.in_reply_to) or subject.thread_id
    thread = world.thread(home)
    if thread is None:
        return Denial(
            "unknown_message", f"the message {subject.in_reply_to} is not known; let it ride along"
        )
    ask = _of_thread(world, command, thread.thread_id, None, None)
    if isinstance(ask, Denial):
        return ask
    message_id = message_named(world, subject.in_reply_to)
    slot = reply_slot(message_id)
    limit = _rejection_limit(world, command)
    message = thread.messages.get(message_id)
    if message is not None and world.name("sent_message", subject.in_reply_to) is not None:
        message = replace(message, ours=True)
    reply = ReplyTo(message_id, message, thread.book, slot, limit)
    ask.subjects = [Judged(message_id, reply)]
    ask.keys, ask.slots = (sendkey.reply_key(message_id),), (slot,)
    ask.rejections = thread.book.rejections.get(slot, 0)
    return ask


def _follow_up(world: World, command: RequestPermit, subject: FollowUp) -> Ask | Denial:
    slot = follow_up_slot(subject.step)
    key = sendkey.follow_up_key(subject.thread_id, subject.step)
    name = f"follow-up {subject.step} of thread {subject.thread_id}"
    return _slot_of_thread(world, command, subject, slot, key, name, "already_sent")


def _message(world: World, command: RequestPermit, subject: IntentMessage) -> Ask | Denial:
    intents = command.caller.intents
    if intents is not None and subject.intent not in intents:
        return Denial("unknown_intent", "this key may not use that intent")
    slot = intent_slot(subject.intent)
    key = sendkey.intent_key(subject.thread_id, subject.intent)
    name = f"intent {subject.intent} in thread {subject.thread_id}"
    return _slot_of_thread(world, command, subject, slot, key, name, "duplicate_intent")


def _notification(world: World, command: RequestPermit, subject: Notification) -> Ask | Denial:
    return _named(world, command, subject, f"{subject.event_type} {subject.event_id}")


def _digest(world: World, command: RequestPermit, subject: Digest) -> Ask | Denial:
    return _named(world, command, subject, f"digest of {subject.inbox_id} for {subject.date}")


def _apology(world: World, command: RequestPermit, subject: ApologyRequest) -> Ask | Denial:
    incident = world.incident(subject.incident_id)
    if incident is None:
        return Denial("unknown_incident", f"there is no incident {subject.incident_id}")
    customer = world.customer(subject.customer_id)
    if customer is None:
        return Denial("unknown_customer", f"customer {subject.customer_id} is not known")
    ask = _ask(world, command, customer, customer.customer_id)
    if isinstance(ask, Denial):
        return ask
    apology = ApologyOf(
        incident,
        customer.customer_id,
        customer.last_apology(world.now, world.policy.apology_days),
        bool(world.control.pauses),
        _rejection_limit(world, command),
        tuple(sorted(customer.absorbed)),
    )
    ask.subjects = [Judged(customer.customer_id, apology)]
    ask.keys = (sendkey.apology_key(subject.incident_id, customer.customer_id),)
    ask.incident_id = subject.incident_id
    ask.rejections = incident.rejections.get(customer.customer_id, 0)
    return ask


def _slot_of_thread(
    world: World,
    command: RequestPermit,
    subject: FollowUp | IntentMessage,
    slot: str,
    key: SendKey,
    name: str,
    duplicate_code: str,
) -> Ask | Denial:
    ask = _of_thread(world, command, subject.thread_id, subject.customer_id, subject.to)
    if isinstance(ask, Denial):
        return ask
    book = ask.case.thread.book if ask.case.thread else SendBook()
    limit = _rejection_limit(world, command)
    ask.subjects = [Judged(slot, ThreadSlot(name, book, slot, duplicate_code, limit))]
    ask.keys, ask.slots = (key,), (slot,)
    ask.rejections = book.rejections.get(slot, 0)
    return ask


def _of_thread(
    world: World,
    command: RequestPermit,
    thread_id: str,
    customer_id: str | None,
    to: Address | None,
) -> Ask | Denial:
    """Known threads know their customer; a new one needs a customer or an address."""
    thread = world.thread(thread_id)
    if thread is not None:
        customer = world.customer(thread.customer_id)
        owner = customer.customer_id if customer else thread.customer_id
        ask = _ask(world, command, customer, owner, thread=thread)
    else:
        if customer_id is None and to is None:
            return Denial(
                "unknown_thread", f"thread {thread_id} is new: name a customer_id or an address"
            )
        ask = _for_customer(world, command, customer_id, to)
        if isinstance(ask, Ask):
            start_thread(world, ask.setup, thread_id, ask.customer_id)
    if isinstance(ask, Ask):
        ask.thread_id = thread_id
    return ask


def _named(
    world: World,
    command: RequestPermit,
    subject: Notification | Digest,
    name: str,
) -> Ask | Denial:
    ask = _for_customer(world, command, subject.customer_id, subject.to)
    if isinstance(ask, Denial):
        return ask
    key_of = key_for(subject)
    names = names_of(ask.case.customer, ask.customer_id, key_of)
    holder = holder_of(world, names)
    limit = _rejection_limit(world, command)
    ask.subjects = [Judged(ask.customer_id, NamedSend(name, holder, limit))]
    ask.keys, ask.names = (key_of(ask.customer_id),), names
    ask.thread_id = subject.thread_id
    ask.rejections = holder.rejections if holder else 0
    return ask


def _for_customer(
    world: World, command: RequestPermit, customer_id: str | None, to: Address | None
) -> Ask | Denial:
    """An ask for a customer who is named, or known by the address alone (design D9).

    Who is named beside an address has it from the grant on; if somebody was known by it, the two
    are judged as the one that they would be.
    """
    setup = Outcome()
    if customer_id is None:
        if to is None:
            return Denial("invalid_request", "name a customer_id or an address in `to`")
        customer_id = customer_of_address(world, setup, to)
        customer = world.customer(customer_id)
    else:
        customer = ensure_customer(world, setup, customer_id)
        if to is not None:
            customer = claim_address(world, setup, customer_id, to)
    if to is not None:
        setup.contacts.append(Contact(customer_id, to))
    owner = customer.customer_id if customer else customer_id
    ask = _ask(world, command, customer, owner, address=to.fingerprint if to else None)
    if isinstance(ask, Ask):
        ask.setup = setup
    return ask


def _ask(
    world: World,
    command: RequestPermit,
    customer: Customer | None,
    customer_id: str,
    thread: Thread | None = None,
    address: str | None = None,
    claim: bool = False,
) -> Ask | Denial:
    kind = KINDS[type(command.subject)]
    synthetic = customer_id.startswith(RESERVED_CUSTOMER_PREFIX)
    if synthetic and command.caller.key_id != "system":
        return Denial("invalid_request", "this customer id is reserved for the guard check")
    if address is None and customer is not None and customer.addresses:
        address = customer.addresses[0]
    case = Case(
        kind=kind,
        lane=lane_of(kind, command.caller.transactional),
        sender=command.caller.name,
        now=world.now,
        policy=world.policy,
        control=world.control,
        customer=customer,
        thread=thread,
        address=address,
        override=command.override is not None,
        claim=claim,
        synthetic=synthetic,
    )
    return Ask([], case, customer_id)


def _rejection_limit(world: World, command: RequestPermit) -> int:
    """A human who overrides has looked at the refusals."""
    return _NO_LIMIT if command.override is not None else world.policy.rejections_before_hold


def _missing(what: str, name: str) -> MissingSubject:
    return MissingSubject(f"{what} {name}", f"unknown_{what}")


_MAKERS: dict[type, Callable[[World, RequestPermit, Any], Ask | Denial]] = {
    Reminder: _reminder,
    PaymentFailedNotice: _payment_failed,
    Reply: _reply,
    Notification: _notification,
    Digest: _digest,
    FollowUp: _follow_up,
    IntentMessage: _message,
    ApologyRequest: _apology,
}
