"""Stripe's invoices, payments, credit notes and refunds as facts."""

from datetime import datetime

from api.webhooks.bodies.invoices import Event, Snapshot
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.unusable import Unusable
from api.webhooks.provider import Fact, Translation

_STATUSES = frozenset({"draft", "open", "paid", "void", "uncollectible", "deleted"})
_OWED = frozenset({"open", "uncollectible"})


def snapshot(event: Event, invoice: Record, created: datetime, *, deleted: bool) -> Translation:
    """The invoice as Stripe saw it when the event was made; a deleted draft is void.

    Who owes it is a customer, or an account that is billed as one (`customer_account`).

    An invoice that Stripe charges by itself has no due date, so it never has a stage (design D7).
    """
    status = invoice.text("status")
    if status not in _STATUSES:
        raise Unusable("unknown_status", f"{invoice.where('status')} is none that is known")
    deleted = deleted or status == "deleted"
    currency = invoice.currency("currency")
    charged = invoice.optional_text("collection_method") or invoice.optional_text("billing")
    return event.observed(
        Snapshot(
            invoice_id=invoice.text("id"),
            customer_id=invoice.reference("customer") or invoice.reference("customer_account"),
            email=invoice.optional_text("customer_email"),
            currency=currency,
            total=money(invoice, "total", currency, signed=True),
            amount_remaining=money(invoice, "amount_remaining", currency, signed=True),
            status="void" if deleted else status,
            due=None if charged == "charge_automatically" else invoice.optional_unix("due_date"),
            issued=None if deleted else _issued(invoice, status),
            observed=created,
        )
    )


def failed_payment(
    event: Event, invoice: Record, created: datetime, request: str | None
) -> tuple[Fact, ...]:
    """The failure as `invoice.payment_failed`, unless the invoice has been paid or voided by now.

    `attempt_count` does not tell attempts apart, so the attempt is the charge, or else the payment
    intent. Since basil an invoice names neither: then it is the `request` that tried, which two
    events of one attempt share. Stripe's own retries have none.
    """
    if invoice.text("status") not in _OWED:
        return ()
    data: dict[str, object] = {
        "invoice_id": event.own(invoice.text("id")),
        "event_id": event.id,
    }
    attempt = invoice.reference("charge") or invoice.reference("payment_intent") or request
    if attempt:
        data["attempt_id"] = attempt
    subscription = subscription_of(invoice)
    if subscription:
        data["subscription_id"] = subscription
    return (event.fact("invoice.payment_failed", created, data, "failed"),)


def partial_payment(event: Event, payment: Record, created: datetime) -> Translation:
    """`invoice_payment.paid`: money for one invoice, dated when it was paid.

    That is never after the event, so a snapshot made after the payment is known to hold it.
    """
    currency = payment.currency("currency")
    paid_at = payment.optional_record("status_transitions").optional_unix("paid_at") or created
    data: dict[str, object] = {
        "invoice_id": event.own(_invoice(payment)),
        "payment_id": _payment_id(payment),
        "amount": money(payment, "amount_paid", currency),
        "state": "succeeded",
    }
    return Translation(facts=(event.fact("invoice.payment", paid_at, data),))


def credit_note(event: Event, note: Record, created: datetime, *, voided: bool) -> Translation:
    """A credit note: only what was credited before payment lowers what is owed.

    A void one takes the credit back: the same `credit_id`, a negative amount.
    """
    currency = note.currency("currency")
    if note.has("pre_payment_amount"):
        amount = money(note, "pre_payment_amount", currency)
    elif note.text("type") == "pre_payment":
        amount = money(note, "amount", currency)
    else:
        amount = 0
    if not amount:
        return Translation(ignored="changes_no_balance")
    voided = voided or note.optional_text("status") == "void"
    at = note.optional_unix("voided_at" if voided else "created") or created
    data: dict[str, object] = {
        "invoice_id": event.own(_invoice(note)),
        "credit_id": note.text("id"),
        "amount": -amount if voided else amount,
    }
    return Translation(facts=(event.fact("invoice.credit", at, data),))


def refund(event: Event, what: Record, created: datetime) -> Translation:
    """A refund, given as such or as the charge that it belongs to: noted, no balance changes.

    Since basil neither names an invoice, and then there is nothing to note it on.
    """
    latest = what.optional_record("refunds").records("data")
    refund_id = latest[0].text("id") if latest else what.text("id")
    invoice = what.reference("invoice")
    if invoice is None:
        return Translation(ignored="names_no_invoice")
    data = {"invoice_id": event.own(invoice), "refund_id": refund_id}
    return Translation(facts=(event.fact("invoice.refund_noted", created, data),))


def money(record: Record, name: str, currency: str, *, signed: bool = False) -> int:
    """An amount of Stripe's in ISO 4217 minor units; below zero only where it is `signed`.

    Stripe counts these in the currency's minor unit but for three special cases: ISK and UGX in
    hundredths that do not exist, MGA in whole ariary (https://docs.stripe.com/currencies).
    """
    amount = record.signed_amount(name) if signed else record.amount(name)
    if currency in ("ISK", "UGX"):
        whole, fraction = divmod(amount, 100)
        if fraction:
            raise Unusable("bad_amount", f"{record.where(name)} is finer than the currency")
        return whole
    return amount * 100 if currency == "MGA" else amount


def subscription_of(invoice: Record) -> str | None:
    """The subscription that an invoice bills, None for others; basil moved it under `parent`."""
    parent = invoice.optional_record("parent").optional_record("subscription_details")
    return invoice.reference("subscription") or parent.reference("subscription")


def _issued(invoice: Record, status: str) -> datetime | None:
    if status == "draft":
        return None
    finalized = invoice.optional_record("status_transitions").optional_unix("finalized_at")
    return (
        invoice.optional_unix("effective_at")
        or finalized
        or invoice.optional_unix("finalized_at")
        or invoice.optional_unix("created")
        or invoice.optional_unix("date")
    )


def _invoice(record: Record) -> str:
    invoice = record.reference("invoice")
    if invoice is None:
        raise Unusable("missing_field", f"{record.where('invoice')} is missing")
    return invoice


def _payment_id(payment: Record) -> str:
    means = payment.optional_record("payment")
    named = (means.reference(name) for name in ("payment_intent", "charge", "payment_record"))
    return next(filter(None, named), None) or payment.text("id")
