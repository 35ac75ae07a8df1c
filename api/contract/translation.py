"""Translates request schemas of the HTTP contract to commands of the ledger."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from api.contract import facts as shapes
from api.contract.fields import Body
from api.contract.permits import Asked
from api.contract.sent_mails import SendObservedData
from ledger.application.facts.address_hold import AddressHoldTold
from ledger.application.facts.customer_credit import CustomerCredited
from ledger.application.facts.customer_hold import CustomerHeld
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.customer_unmerged import CustomerUnmerged
from ledger.application.facts.customers_merged import CustomersMerged
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import RIDING, Fact, FactData
from ledger.application.facts.invoice_credit import Credited
from ledger.application.facts.invoice_hold import InvoiceHeld
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.application.facts.lost_mail import Carried
from ledger.application.facts.mail_reports import MailReport
from ledger.application.facts.payment_failed_reported import PaymentFailed
from ledger.application.facts.refund_reported import RefundReported
from ledger.application.facts.send_observed import SendObserved
from ledger.application.facts.subscription_ended import SubscriptionTold
from ledger.application.facts.thread_hold import ThreadHeld
from ledger.application.facts.thread_message import ThreadMessage
from ledger.application.facts.unset import UNSET
from ledger.application.kinds.kind import PermitSubject
from ledger.application.kinds.registry import KINDS
from ledger.application.world import Identity
from ledger.domain.automatic import (
    answers_by_itself,
    automatic_reason,
    failed_recipients,
    first_address,
    report_type,
)
from ledger.domain.balance import Status
from ledger.domain.identity import (
    Address,
    BadAddress,
    fingerprint,
    message_name,
    normal_form,
    untagged_fingerprint,
)
from ledger.domain.mail_references import bounded_references, header_references
from ledger.domain.payments import PaymentState

_REPORTED = "it is a report of a mail system"


class Translator:
    """Translates requests to commands; each address gets its fingerprint beside its text (D18)."""

    def __init__(self, identity: Identity, own_lists: tuple[str, ...] = ()) -> None:
        self._identity = identity
        self._own_lists = own_lists

    def address(self, text: str) -> Address:
        """The address with its keyed fingerprint, and that of its mailbox if it has a plus tag."""
        secret = self._identity.secret
        return Address(text, fingerprint(secret, text), untagged_fingerprint(secret, text))

    def invoice(self, invoice_id: str, body: shapes.InvoiceSnapshot) -> InvoiceObserved:
        """An invoice snapshot; a missing field is unchanged, null clears it."""
        given = body.model_fields_set
        email: Any = UNSET
        if "email" in given:
            email = None if body.email is None else self.address(body.email)
        return InvoiceObserved(
            invoice_id=invoice_id,
            customer_id=body.customer_id,
            currency=body.currency,
            total=body.total,
            amount_remaining=body.amount_remaining,
            status=Status(body.status),
            email=email,
            issued_on=body.issued_on if "issued_on" in given else UNSET,
            due_on=body.due_on if "due_on" in given else UNSET,
            time_zone=body.time_zone if "time_zone" in given else UNSET,
            observed_at=body.observed_at,
            version=body.version,
            whole_second=body.precision == "second",
            nothing_in_flight=body.payment_in_flight is False,
        )

    def fact(self, type_: str, data: Body) -> FactData:
        """The data of a CloudEvent of this type."""
        return FACT_READERS[type_](self, data)

    def message(self, data: shapes.ThreadMessageData) -> ThreadMessage:
        """A message of a thread, with the reason why it counts as automatic, if it does.

        It refers to what `references` says and to what its headers say (RFC 5322, section 3.6.4).
        """
        names = (data.message_id, *_aliases(data))
        headers, writer = data.headers or {}, _reply_to(data)
        reports: tuple[MailReport, ...] = ()
        if data.direction == "inbound":
            to = writer or data.from_
            automatic = automatic_reason(headers, data.return_path, to, self._own_lists)
            reports = _reports(data, headers, self.address)
            automatic = automatic or (_REPORTED if reports else None)
        else:
            automatic = answers_by_itself(headers)
        return ThreadMessage(
            thread_id=data.thread_id,
            message_id=data.message_id,
            direction=data.direction,
            sender=self.address(data.from_) if data.from_ else None,
            recipient=self.address(data.to) if data.to else None,
            customer_id=data.customer_id,
            at=data.at,
            automatic=automatic,
            ours=next(filter(None, map(self._identity.permit_of, names)), None),
            references=bounded_references((*(data.references or ()), *header_references(headers))),
            aliases=names[1:],
            reply_to=self.address(writer) if writer else None,
            reports=reports,
        )

    def subject(self, body: Any) -> PermitSubject:
        """The subject of a request for a permit: the mail that it asks for."""
        return KINDS[body.kind].from_body(body, self.address)

    def riding_facts(self, body: Asked) -> tuple[Fact, ...]:
        """The facts that a request for a permit embeds."""
        snapshots = body.riding_snapshots()
        if snapshots:
            return tuple(Fact(self.invoice(i, s), RIDING) for i, s in snapshots.items())
        message = body.riding_message()
        return (Fact(self.message(message), RIDING, None, message.at),) if message else ()

    def customer(self, data: shapes.CustomerObservedData) -> CustomerObserved:
        """The addresses of a customer."""
        emails = tuple(self.address(email) for email in data.emails)
        return CustomerObserved(data.customer_id, emails)

    def delivery(self, data: shapes.DeliveryData) -> Delivery:
        """A provider's report on a mail, with the permit that our own Message-ID names."""
        permit_id = self._identity.permit_of(data.message_id) if data.message_id else None
        return Delivery(
            data.provider,
            data.event,
            data.provider_message_id,
            data.message_id,
            permit_id,
            recipient=self.address(data.recipient) if data.recipient else None,
            token=data.send_token,
            provider_key=data.provider_idempotency_key,
        )

    def sent(self, data: SendObservedData) -> SendObserved:
        """A mail that went out without a known permit, and what it carries of a lost one."""
        return SendObserved(
            data.customer_id,
            data.at,
            data.invoice_id,
            data.stage,
            data.thread_id,
            data.intent,
            data.in_reply_to,
            data.mail(),
            Carried(data.message_id, data.send_token, data.provider_idempotency_key),
        )


def _aliases(data: shapes.ThreadMessageData) -> tuple[str, ...]:
    """The mail's Message-ID, where the message has another id in its mail system."""
    given = (text for name, text in (data.headers or {}).items() if name.lower() == "message-id")
    header = next(given, "").strip()
    fit = bool(header) and header.isprintable()
    name = message_name(header)
    return (name,) if fit and name != data.message_id else ()


def _reply_to(data: shapes.ThreadMessageData) -> str | None:
    """Where the message wants its reply: told outright, or in the header; None for a bad one."""
    if data.reply_to is not None:
        return data.reply_to
    given = (text for name, text in (data.headers or {}).items() if name.lower() == "reply-to")
    address = first_address(next(given, ""))
    if address is None or len(address) > 320 or not address.isprintable():
        return None
    try:
        normal_form(address)
    except BadAddress:
        return None
    return address


def _reports(
    data: shapes.ThreadMessageData,
    headers: Mapping[str, str],
    address: Callable[[str], Address],
) -> tuple[MailReport, ...]:
    """The report that the message is: as its sender read it, else as its headers tell.

    A report that names no recipient speaks of those in the header `X-Failed-Recipients`.
    """
    given = (*((data.report,) if data.report is not None else ()), *(data.reports or ()))
    told = [
        MailReport(
            r.type, r.action, r.about, address(r.recipient) if r.recipient else None, r.status
        )
        for r in given
    ]
    type_ = report_type(headers)
    if not told and type_ is not None:
        told = [MailReport(type_)]
    failed = [address(text) for text in failed_recipients(headers)]
    if len(told) != 1 or told[0].recipient is not None or not told[0].failed or not failed:
        return tuple(told)
    return tuple(replace(told[0], recipient=one) for one in failed)


def _payment(_: Translator, data: shapes.PaymentData) -> FactData:
    over = data.state in ("canceled", "expired")
    state = PaymentState.FAILED if over else PaymentState(data.state)
    return PaymentMoved(data.invoice_id, data.payment_id, data.amount, state)


def _invoice_hold(held: bool) -> Callable[[Translator, shapes.InvoiceHoldData], FactData]:
    return lambda _, data: InvoiceHeld(data.invoice_id, data.reason, held, data.until)


def _customer_hold(held: bool) -> Callable[[Translator, shapes.CustomerHoldData], FactData]:
    return lambda _, data: CustomerHeld(
        data.customer_id, data.reason, held, data.until, tuple(data.kinds or ())
    )


def _address_hold(held: bool) -> Callable[[Translator, shapes.AddressHoldData], FactData]:
    return lambda to, data: AddressHoldTold(
        to.address(data.address),
        data.reason,
        held,
        data.until,
        tuple(data.kinds or ()),
        data.told_by if isinstance(data, shapes.AddressUnholdData) else None,
    )


def _subscription(ended: bool) -> Callable[[Translator, shapes.SubscriptionData], FactData]:
    return lambda _, data: SubscriptionTold(
        data.subscription_id,
        data.customer_id,
        ended,
        tuple(data.invoice_ids or ()),
        data.at,
        data.reason,
    )


def _thread_hold(held: bool) -> Callable[[Translator, shapes.ThreadHoldData], FactData]:
    return lambda _, data: ThreadHeld(
        data.thread_id, data.reason, held, data.until, tuple(data.kinds or ())
    )


FACT_READERS: dict[str, Callable[[Translator, Any], FactData]] = {
    "invoice.observed": lambda to, data: to.invoice(data.invoice_id, data),
    "invoice.payment": _payment,
    "invoice.credit": lambda _, data: Credited(data.invoice_id, data.credit_id, data.amount),
    "invoice.payment_failed": lambda _, data: PaymentFailed(
        data.invoice_id, data.event_id, data.attempt_id, data.subscription_id
    ),
    "invoice.refund_noted": lambda _, data: RefundReported(data.invoice_id or "", data.refund_id),
    "invoice.hold": _invoice_hold(True),
    "invoice.unhold": _invoice_hold(False),
    "customer.observed": Translator.customer,
    "customer.hold": _customer_hold(True),
    "customer.unhold": _customer_hold(False),
    "customer.credit": lambda _, data: CustomerCredited(
        data.customer_id, data.credit_id, data.amount, data.currency
    ),
    "customer.merged": lambda _, data: CustomersMerged(data.from_, data.into),
    "customer.unmerged": lambda _, data: CustomerUnmerged(data.customer_id, data.from_),
    "subscription.ended": _subscription(True),
    "subscription.resumed": _subscription(False),
    "address.hold": _address_hold(True),
    "address.unhold": _address_hold(False),
    "thread.hold": _thread_hold(True),
    "thread.unhold": _thread_hold(False),
    "thread.message": Translator.message,
    "send.observed": Translator.sent,
    "delivery": Translator.delivery,
}
"""What reads the data of each CloudEvent type; the shapes are those of `FACT_DATA`."""


def fact_of(
    translator: Translator,
    type_: str,
    data: Body,
    source: str,
    id_: str | None,
    time: datetime | None,
) -> Fact:
    """A fact with the envelope by which it is deduplicated."""
    at = time
    if at is None and isinstance(data, shapes.ThreadMessageData):
        at = data.at
    return Fact(translator.fact(type_, data), source, id_, at)
