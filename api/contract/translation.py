"""Translates request schemas of the HTTP contract to commands of the ledger."""

from datetime import datetime
from typing import Any

from api.contract import facts as shapes
from api.contract import permits as asks
from api.contract.fields import Body
from ledger.application.fact_data import (
    UNSET,
    Credited,
    CustomerHeld,
    CustomerObserved,
    CustomersMerged,
    Delivery,
    Fact,
    FactData,
    InvoiceHeld,
    InvoiceObserved,
    PaymentFailed,
    PaymentMoved,
    RefundReported,
    SendObserved,
    ThreadMessage,
)
from ledger.application.permit_subjects import (
    ApologyRequest,
    Digest,
    Expected,
    FollowUp,
    IntentMessage,
    Notification,
    PaymentFailedNotice,
    PermitSubject,
    Reminder,
    Reply,
)
from ledger.application.world import Identity
from ledger.domain.automatic import automatic_reason
from ledger.domain.balance import PaymentState, Status
from ledger.domain.identity import Address, fingerprint, message_name


class Translator:
    """Translates requests to commands; each address gets its fingerprint beside its text (D18)."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    def address(self, text: str) -> Address:
        """The address with its keyed fingerprint."""
        return Address(text, fingerprint(self._identity.secret, text))

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
        )

    def fact(self, type_: str, data: Body) -> FactData:
        """The data of a CloudEvent of this type."""
        if isinstance(data, shapes.InvoiceObservedData):
            return self.invoice(data.invoice_id, data)
        if isinstance(data, shapes.ThreadMessageData):
            return self.message(data)
        if isinstance(data, shapes.CustomerObservedData):
            emails = tuple(self.address(email) for email in data.emails)
            return CustomerObserved(data.customer_id, emails)
        if isinstance(data, shapes.DeliveryData):
            return self._delivery(data)
        return _plain_fact(type_, data)

    def message(self, data: shapes.ThreadMessageData) -> ThreadMessage:
        """A message of a thread, with the reason why it counts as automatic, if it does."""
        automatic = None
        names = (data.message_id, *_aliases(data))
        if data.direction == "inbound":
            automatic = automatic_reason(data.headers or {}, data.return_path, data.from_)
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
            references=tuple(data.references or ()),
            aliases=names[1:],
        )

    def subject(self, body: Any) -> PermitSubject:
        """The subject of a request for a permit: the mail that it asks for."""
        if isinstance(body, asks.ReminderRequest):
            expected = {
                invoice_id: Expected(state.cycle, state.amount_remaining)
                for invoice_id, state in (body.expected or {}).items()
            }
            return Reminder(tuple(body.invoices), body.stage, expected)
        if isinstance(body, asks.PaymentFailedRequest):
            return PaymentFailedNotice(body.invoice_id, body.event_id, body.attempt_id)
        if isinstance(body, asks.ApologyPermitRequest):
            return ApologyRequest(body.incident_id, body.customer_id)
        to = self.address(body.to) if body.to else None
        if isinstance(body, asks.ReplyRequest):
            return Reply(body.thread_id, body.in_reply_to, body.customer_id, to)
        if isinstance(body, asks.NotificationRequest):
            return Notification(
                body.event_type, body.event_id, body.customer_id, to, body.thread_id
            )
        if isinstance(body, asks.DigestRequest):
            return Digest(body.inbox_id, body.date, body.customer_id, to, body.thread_id)
        if isinstance(body, asks.FollowUpRequest):
            return FollowUp(body.thread_id, body.step, body.customer_id, to)
        return IntentMessage(body.thread_id, body.intent, body.customer_id, to)

    def riding_facts(self, body: Any) -> tuple[Fact, ...]:
        """The facts that a request for a permit embeds."""
        if isinstance(body, asks.ReminderRequest | asks.PaymentFailedRequest):
            snapshots = body.facts or {}
            return tuple(Fact(self.invoice(i, s), "riding") for i, s in snapshots.items())
        if isinstance(body, asks.ReplyRequest) and body.message is not None:
            return (Fact(self.message(body.message), "riding", None, body.message.at),)
        return ()

    def _delivery(self, data: shapes.DeliveryData) -> Delivery:
        permit_id = self._identity.permit_of(data.message_id) if data.message_id else None
        return Delivery(
            data.provider, data.event, data.provider_message_id, data.message_id, permit_id
        )


def _aliases(data: shapes.ThreadMessageData) -> tuple[str, ...]:
    """The mail's Message-ID, where the message has another id in its mail system."""
    given = (text for name, text in (data.headers or {}).items() if name.lower() == "message-id")
    header = next(given, "").strip()
    fit = 0 < len(header) <= 255 and header.isprintable()
    name = message_name(header)
    return (name,) if fit and name != data.message_id else ()


def _plain_fact(type_: str, data: Any) -> FactData:
    """Translate the fact types without addresses."""
    if isinstance(data, shapes.PaymentData):
        state = PaymentState(data.state)
        return PaymentMoved(data.invoice_id, data.payment_id, data.amount, state)
    if isinstance(data, shapes.CreditData):
        return Credited(data.invoice_id, data.credit_id, data.amount)
    if isinstance(data, shapes.PaymentFailedData):
        return PaymentFailed(data.invoice_id, data.event_id, data.attempt_id)
    if isinstance(data, shapes.RefundData):
        return RefundReported(data.invoice_id or "", data.refund_id)
    if isinstance(data, shapes.InvoiceHoldData):
        return InvoiceHeld(data.invoice_id, data.reason, type_ == "invoice.hold", data.until)
    if isinstance(data, shapes.CustomerHoldData):
        kinds = tuple(data.kinds or ())
        held = type_ == "customer.hold"
        return CustomerHeld(data.customer_id, data.reason, held, data.until, kinds)
    if isinstance(data, shapes.MergedData):
        return CustomersMerged(data.from_, data.into)
    assert isinstance(data, shapes.SendObservedData)
    return SendObserved(
        data.customer_id, data.at, data.invoice_id, data.stage, data.thread_id, data.intent
    )


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
