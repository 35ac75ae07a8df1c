"""Builders of facts, callers and commands with defaults, so that a test sets only what matters."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ledger.application.caller import Caller
from ledger.application.commands import (
    Correction,
    Idempotency,
    JobToken,
    Lapse,
    Override,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
from ledger.application.facts.address_hold import AddressHoldTold
from ledger.application.facts.customer_credit import CustomerCredited
from ledger.application.facts.customer_hold import CustomerHeld
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.customer_unmerged import CustomerUnmerged
from ledger.application.facts.customers_merged import CustomersMerged
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.invoice_credit import Credited
from ledger.application.facts.invoice_hold import InvoiceHeld
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.application.facts.mail_reports import MailReport
from ledger.application.facts.send_observed import SendObserved
from ledger.application.facts.subscription_ended import SubscriptionTold
from ledger.application.facts.thread_message import ThreadMessage
from ledger.application.facts.unset import UNSET as UNSET
from ledger.application.facts.unset import Unset
from ledger.application.kinds.apology import ApologyRequest
from ledger.application.kinds.digest import Digest
from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.kind import PermitSubject
from ledger.application.kinds.message import IntentMessage
from ledger.application.kinds.notification import Notification
from ledger.application.kinds.payment_failed import PaymentFailedNotice
from ledger.application.kinds.reminder import Expected, Reminder
from ledger.application.kinds.reply import Reply
from ledger.application.world import Identity
from ledger.domain.balance import Status
from ledger.domain.identity import Address, fingerprint, untagged_fingerprint
from ledger.domain.payments import PaymentState

SECRET = b"a secret of the tests, 32 bytes."
IDENTITY = Identity(SECRET, "ledger.example")
SCOPES = frozenset({"send", "facts"})
POLLER = Caller("key-poller", "poller", SCOPES)
"""A key that must redeem, as `keys create` makes them."""
AGENT = Caller("key-agent", "agent", SCOPES, redeem_required=False)
"""A key for which redeeming is optional."""
RECEIPTS = Caller("key-receipts", "receipts", SCOPES, transactional=True)
"""A transactional key."""
OPERATOR = Caller("key-operator", "operator", SCOPES | {"operate"})
"""A key that a human uses."""
CALLERS = (POLLER, AGENT, RECEIPTS, OPERATOR)
LAST = "$last"
"""A placeholder for the permit granted last; `$1` is the first one."""


def at(text: str) -> datetime:
    """Parse a time in RFC 3339 with an offset; a date alone means its midnight, UTC."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if len(text) == 10 else moment.astimezone(UTC)


def minutes(count: float) -> timedelta:
    """A step of the clock."""
    return timedelta(minutes=count)


def hours(count: float) -> timedelta:
    """A step of the clock."""
    return timedelta(hours=count)


def days(count: float) -> timedelta:
    """A step of the clock."""
    return timedelta(days=count)


def address(text: str) -> Address:
    """An address with the fingerprint that the tests' secret gives it."""
    return Address(text, fingerprint(SECRET, text), untagged_fingerprint(SECRET, text))


def invoice(
    invoice_id: str = "inv_1",
    customer: str | None = "cus_1",
    due: str | Unset | None = "2026-12-01",
    owes: int = 30000,
    total: int | None = None,
    currency: str = "USD",
    status: Status = Status.OPEN,
    issued: str | Unset | None = UNSET,
    zone: str | Unset | None = UNSET,
    email: str | Unset | None = UNSET,
    seen: str | None = None,
    version: int | None = None,
) -> InvoiceObserved:
    """A snapshot of an invoice: 300.00 USD, due on 1 December 2026, open."""
    return InvoiceObserved(
        invoice_id=invoice_id,
        customer_id=customer,
        currency=currency,
        total=max(owes, 30000) if total is None else total,
        amount_remaining=owes,
        status=status,
        email=address(email) if isinstance(email, str) else email,
        issued_on=date.fromisoformat(issued) if isinstance(issued, str) else issued,
        due_on=date.fromisoformat(due) if isinstance(due, str) else due,
        time_zone=zone,
        observed_at=at(seen) if seen else None,
        version=version,
    )


def fact(data: FactData, when: str | None = None, id: str | None = None, source: str = "") -> Fact:
    """A fact in its envelope; without an id it is never a duplicate."""
    return Fact(data, source, id, at(when) if when else None)


def paid(
    amount: int, invoice_id: str = "inv_1", id: str = "pay_1", state: str = "succeeded"
) -> PaymentMoved:
    """A payment's state."""
    return PaymentMoved(invoice_id, id, amount, PaymentState(state))


def credit(amount: int, invoice_id: str = "inv_1", id: str = "cre_1") -> Credited:
    """A credit; a negative one reverses a credit."""
    return Credited(invoice_id, id, amount)


def customer_credit(
    amount: int, customer: str = "cus_1", id: str = "cre_1", currency: str = "USD"
) -> CustomerCredited:
    """A credit beside any invoice; a negative one takes a credit back."""
    return CustomerCredited(customer, id, amount, currency)


def hold(reason: str = "dispute", invoice_id: str = "inv_1", until: str | None = None) -> Any:
    """An invoice put on hold."""
    return InvoiceHeld(invoice_id, reason, True, at(until) if until else None)


def unhold(reason: str = "dispute", invoice_id: str = "inv_1") -> InvoiceHeld:
    """An invoice released."""
    return InvoiceHeld(invoice_id, reason, False)


def customer_hold(
    customer: str = "cus_1",
    reason: str = "bankrupt",
    until: str | None = None,
    kinds: tuple[str, ...] = (),
) -> CustomerHeld:
    """A customer put on hold."""
    return CustomerHeld(customer, reason, True, at(until) if until else None, kinds)


def customer_unhold(customer: str = "cus_1", reason: str = "bankrupt") -> CustomerHeld:
    """A customer released."""
    return CustomerHeld(customer, reason, False)


def address_hold(
    text: str = "pat@x.example",
    reason: str = "blocked",
    until: str | None = None,
    kinds: tuple[str, ...] = (),
) -> AddressHoldTold:
    """An address put on hold, whoever has it."""
    return AddressHoldTold(address(text), reason, True, at(until) if until else None, kinds)


def address_unhold(
    text: str = "pat@x.example", reason: str = "blocked", kinds: tuple[str, ...] = ()
) -> AddressHoldTold:
    """An address released."""
    return AddressHoldTold(address(text), reason, False, None, kinds)


def customer(customer_id: str = "cus_1", *emails: str) -> CustomerObserved:
    """The addresses of a customer."""
    return CustomerObserved(customer_id, tuple(address(e) for e in emails))


def merged(gone: str, into: str) -> CustomersMerged:
    """A merge of two customers."""
    return CustomersMerged(gone, into)


def unmerged(customer_id: str, from_id: str) -> CustomerUnmerged:
    """A merge of two customers that is undone."""
    return CustomerUnmerged(customer_id, from_id)


def subscription_told(
    subscription: str = "sub_1",
    customer: str = "cus_1",
    ended: bool = True,
    invoices: tuple[str, ...] = (),
    when: str | None = None,
) -> SubscriptionTold:
    """A subscription ended, or lives on; `invoices` are those that it bills."""
    return SubscriptionTold(subscription, customer, ended, invoices, at(when) if when else None)


def message(
    message_id: str = "<m1@example.com>",
    thread: str = "thr_1",
    customer: str | None = "cus_1",
    direction: str = "inbound",
    sender: str | None = None,
    recipient: str | None = None,
    automatic: str | None = None,
    ours: str | None = None,
    references: tuple[str, ...] = (),
    reply_to: str | None = None,
    report: MailReport | None = None,
    when: str | None = None,
) -> ThreadMessage:
    """A message of a thread: inbound, written by a person."""
    return ThreadMessage(
        thread,
        message_id,
        direction,
        address(sender) if sender else None,
        address(recipient) if recipient else None,
        customer,
        at(when) if when else None,
        automatic,
        ours,
        references,
        reply_to=address(reply_to) if reply_to else None,
        reports=(report,) if report is not None else (),
    )


def observed_send(
    when: str,
    customer: str = "cus_1",
    invoice_id: str | None = None,
    stage: str | None = None,
    thread: str | None = None,
    intent: str | None = None,
    in_reply_to: str | None = None,
) -> SendObserved:
    """A mail that was sent without the ledger."""
    return SendObserved(customer, at(when), invoice_id, stage, thread, intent, in_reply_to)


def delivery(
    event: str = "delivered", id: str | None = None, permit: str | None = None
) -> Delivery:
    """A provider's report on a mail."""
    return Delivery("resend", event, id, None, permit)


def ask(
    subject: PermitSubject,
    by: Caller = POLLER,
    key: str | None = None,
    redeem: bool = False,
    override: str | None = None,
    token: int | None = None,
    facts: tuple[FactData, ...] = (),
    cc: tuple[str, ...] = (),
) -> RequestPermit:
    """A request for a permit; `key` is its Idempotency-Key, `override` names a human's action."""
    command = RequestPermit(
        subject,
        by,
        decision_id="",
        request=json.dumps(repr((subject, cc))).encode(),
        redeem=redeem,
        override=Override(override, "ann", "asked for it again") if override else None,
        job=JobToken("dunning", token) if token is not None else None,
        facts=tuple(Fact(data, "riding") for data in facts),
        cc=tuple(map(address, cc)),
    )
    return replace(command, idempotency=_idempotency(command, key)) if key else command


def reminder(
    *invoices: str,
    stage: str | None = None,
    expected: dict[str, Expected] | None = None,
    claim: bool = False,
    **how: Any,
) -> RequestPermit:
    """A request for a reminder: of `inv_1` where no invoice is named."""
    return ask(Reminder(invoices or ("inv_1",), stage, expected or {}, claim), **how)


def payment_failed(
    event_id: str = "evt_1", attempt: str | None = None, invoice_id: str = "inv_1", **how: Any
) -> RequestPermit:
    """A request for the mail about a failed payment."""
    return ask(PaymentFailedNotice(invoice_id, event_id, attempt), **how)


def reply(to: str = "<m1@example.com>", thread: str = "thr_1", **how: Any) -> RequestPermit:
    """A request to reply to a message."""
    return ask(Reply(thread, to), **how)


def notification(
    event_id: str = "ord_9",
    event_type: str = "shipped",
    customer: str | None = "cus_1",
    to: str | None = None,
    **how: Any,
) -> RequestPermit:
    """A request for a notice about an event of the business."""
    where = address(to) if to else None
    return ask(Notification(event_type, event_id, customer, where), **how)


def digest(
    day: str = "2026-12-04", inbox: str = "inb_1", customer: str = "cus_1", **how: Any
) -> RequestPermit:
    """A request for an inbox's digest."""
    return ask(Digest(inbox, date.fromisoformat(day), customer), **how)


def follow_up(step: int = 1, thread: str = "thr_1", **how: Any) -> RequestPermit:
    """A request for a numbered follow-up."""
    return ask(FollowUp(thread, step), **how)


def intent(
    name: str = "refund_notice",
    thread: str = "thr_1",
    customer: str | None = None,
    to: str | None = None,
    **how: Any,
) -> RequestPermit:
    """A request for a message with an intent."""
    return ask(IntentMessage(thread, name, customer, address(to) if to else None), **how)


def apology(customer: str = "cus_1", incident: str = "F1", **how: Any) -> RequestPermit:
    """A request for the apology of an incident."""
    return ask(ApologyRequest(incident, customer), **how)


def redeem(permit: str = LAST, attempt: str | None = None, by: Caller = POLLER) -> Redeem:
    """A redeem right before hand-over."""
    return Redeem(permit, attempt, by, decision_id="", request=b"{}")


def report(
    outcome: str = "sent", permit: str = LAST, by: Caller = POLLER, id: str | None = None
) -> ReportOutcome:
    """A sender's report on its mail; `id` is the provider's id of the mail."""
    return ReportOutcome(permit, outcome, by, "resend", id)


def corrected(permit: str = LAST, by: Caller = OPERATOR, reason: str = "never left") -> Any:
    """A human's correction of a false `sent`."""
    return ReportOutcome(permit, "rejected", by, correction=Correction("ann", reason))


def lapse(permit: str = LAST) -> Lapse:
    """The sweeper's command."""
    return Lapse(permit)


def _idempotency(command: RequestPermit, key: str) -> Idempotency:
    """As the HTTP side makes it: what the sender expects and riding facts are not compared."""
    subject = command.subject
    if isinstance(subject, Reminder):
        subject = replace(subject, expected={})
    scope = hashlib.sha256(f"{command.caller.key_id}/{key}".encode()).digest()
    compared = repr((subject, command.redeem, command.override))
    return Idempotency(scope, hashlib.sha256(compared.encode()).digest())
