"""Recurly's XML notifications as facts."""

from dataclasses import replace
from datetime import datetime

from api.webhooks.bodies.body_id import id_from_body
from api.webhooks.bodies.invoices import Event, Snapshot
from api.webhooks.bodies.moments import rfc3339
from api.webhooks.bodies.record import Record, checked_text
from api.webhooks.bodies.strict_xml import read_xml
from api.webhooks.bodies.unusable import Unusable
from api.webhooks.provider import Fact, Refresh, Settings, Translation
from api.webhooks.providers.recurly_types import (
    ACCOUNTS,
    CREDIT_PAYMENTS,
    DUNNING,
    ENDED_SUBSCRIPTIONS,
    INVOICES,
    OTHER_NOTIFICATIONS,
    PAYMENTS,
    REFUNDS,
    RESUMED_SUBSCRIPTIONS,
)
from ledger.domain.money import exponent

STATUSES = {
    "pending": "open",
    "open": "open",
    "past_due": "open",
    "processing": "open",
    "paid": "paid",
    "collected": "paid",
    "failed": "uncollectible",
    "voided": "void",
}
"""Recurly's states of an invoice; failed means that it was written off."""
_PAYMENT_STATES = {
    "scheduled": "pending",
    "processing": "pending",
    "pending": "pending",
    "success": "succeeded",
    "succeeded": "succeeded",
    "failed": "failed",
    "failure": "failed",
    "declined": "failed",
    "error": "failed",
}


def translate_xml(body: bytes, settings: Settings) -> Translation:
    """What one XML notification means. It has no id, so its bytes are its id. Raises Unusable."""
    kind, content = read_xml(body)
    event = Event(id_from_body(settings.source, body), settings.source, settings)
    if kind in INVOICES:
        told = _invoice(event, content)
        return _with_reminder(event, content, told) if kind == DUNNING else told
    if kind in PAYMENTS or kind in REFUNDS:
        transaction = content.record("transaction")
        if transaction.has("test") and transaction.flag("test") != (settings.mode == "test"):
            return Translation(ignored="other_mode")
        return _refund(event, transaction) if kind in REFUNDS else _payment(event, transaction)
    if kind in CREDIT_PAYMENTS:
        return _credit_payment(content.record("credit_payment"))
    if kind in ACCOUNTS:
        code = content.record("account").text("account_code")
        return Translation(refresh=(Refresh("recurly", "account", code),))
    if kind in ENDED_SUBSCRIPTIONS or kind in RESUMED_SUBSCRIPTIONS:
        return _subscription(event, content, ended=kind in ENDED_SUBSCRIPTIONS)
    if OTHER_NOTIFICATIONS.is_harmless(kind):
        return Translation(ignored="irrelevant_event")
    return Translation(rejected=(OTHER_NOTIFICATIONS.unknown(kind),))


def _invoice(event: Event, content: Record) -> Translation:
    """The invoice, or its number to fetch where the notification does not tell what is owed.

    That is so for legacy invoices without a balance, and for currencies without hundredths:
    nothing says what `_in_cents` counts there, while the API's amounts are plain.
    """
    invoice, account = content.record("invoice"), content.record("account")
    state = invoice.text("state").lower()
    status = STATUSES.get(state)
    if status is None:
        raise Unusable("unknown_status", f"{invoice.where('state')} is none that is known")
    currency = invoice.currency("currency")
    if exponent(currency) != 2 or (status != "paid" and not invoice.has("balance_in_cents")):
        return Translation(refresh=(Refresh("recurly", "invoice", invoice_number(invoice)),))
    observed = _first_time(invoice, "updated_at", "closed_at", "created_at", "date")
    told = event.observed(
        Snapshot(
            invoice_id=invoice.text("uuid"),
            customer_id=account.text("account_code"),
            email=account.optional_text("email"),
            currency=currency,
            total=invoice.signed_amount("total_in_cents"),
            amount_remaining=_remaining(invoice, status),
            status=status,
            due=_due(invoice),
            issued=_first_time(invoice, "created_at", "date"),
            observed=observed,
            nothing_in_flight=state != "processing",
        )
    )
    return (
        _with_payment_in_flight(event, invoice, observed, told) if state == "processing" else told
    )


def _remaining(invoice: Record, status: str) -> int:
    """What is owed; written off with a balance of zero, nobody has paid any of it."""
    owed = invoice.signed_amount("balance_in_cents") if invoice.has("balance_in_cents") else 0
    if status == "uncollectible" and owed == 0:
        return invoice.signed_amount("total_in_cents")
    return owed


def _subscription(event: Event, content: Record, *, ended: bool) -> Translation:
    """One that will not renew or is over, or one that lives on after all (which tells no time).

    That it lives on matters only where it was said to have ended; else the notification is ignored.
    """
    if not content.has("subscription"):
        return Translation(ignored="names_no_subscription")
    what = content.record("subscription")
    names = ("canceled_at", "expires_at")
    if what.optional_text("state") == "expired":
        names = ("expires_at", "canceled_at")
    at = next((what.time(name) for name in names if what.has(name)), None) if ended else None
    told = event.subscription(
        "subscription.ended" if ended else "subscription.resumed",
        what.text("uuid"),
        content.record("account").text("account_code"),
        at,
    )
    return told if ended else replace(told, ignored="irrelevant_event")


def _with_payment_in_flight(
    event: Event, invoice: Record, observed: datetime, told: Translation
) -> Translation:
    """A payment is on its way; which one is not told, so it is named after invoice and moment.

    The next snapshot in another state says that it is over.
    """
    data: dict[str, object] = {
        "invoice_id": event.own(invoice.text("uuid")),
        "payment_id": f"processing:{rfc3339(observed)}",
        "amount": invoice.optional_amount("balance_in_cents"),
        "state": "pending",
    }
    fact = event.fact("invoice.payment", observed, data, "processing")
    return replace(told, facts=(*told.facts, fact))


def _with_reminder(event: Event, content: Record, told: Translation) -> Translation:
    if not told.facts or not event.settings.reminders:
        return told
    customer = content.record("account").text("account_code")
    invoice = content.record("invoice")
    at = _first_time(invoice, "updated_at", "closed_at", "created_at", "date")
    return replace(told, facts=(*told.facts, event.reminded(customer, invoice.text("uuid"), at)))


def _payment(event: Event, transaction: Record) -> Translation:
    state = _PAYMENT_STATES.get(transaction.text("status").lower())
    if state is None:
        return Translation(ignored="changes_no_balance")
    if not transaction.has("invoice_id"):
        return Translation(ignored="names_no_invoice")
    data: dict[str, object] = {
        "invoice_id": event.own(transaction.text("invoice_id")),
        "payment_id": transaction.text("id"),
        "amount": transaction.amount("amount_in_cents"),
        "state": state,
    }
    at = transaction.time("date")
    facts: tuple[Fact, ...] = (event.fact("invoice.payment", at, data),)
    if state == "failed":
        failure = {
            "invoice_id": data["invoice_id"],
            "event_id": event.id,
            "attempt_id": data["payment_id"],
        }
        if transaction.has("subscription_id"):
            failure["subscription_id"] = transaction.text("subscription_id")
        facts += (event.fact("invoice.payment_failed", at, failure, "failed"),)
    return Translation(facts=facts)


def _refund(event: Event, transaction: Record) -> Translation:
    if not transaction.has("invoice_id"):
        return Translation(ignored="names_no_invoice")
    data = {
        "invoice_id": event.own(transaction.text("invoice_id")),
        "refund_id": transaction.text("id"),
    }
    fact = event.fact("invoice.refund_noted", transaction.time("date"), data)
    return Translation(facts=(fact,))


def _credit_payment(payment: Record) -> Translation:
    names = ("applied_to_invoice_number", "original_invoice_number")
    numbers = [invoice_number(payment, name) for name in names if payment.has(name)]
    if not numbers:
        return Translation(ignored="names_no_invoice")
    return Translation(refresh=tuple(Refresh("recurly", "invoice", number) for number in numbers))


def _due(invoice: Record) -> datetime | None:
    for name in ("due_on", "due_at"):
        if invoice.has(name):
            return invoice.time(name)
    return None


def _first_time(record: Record, *names: str) -> datetime:
    for name in names:
        if record.has(name):
            return record.time(name)
    return record.time(names[0])


def invoice_number(record: Record, name: str = "invoice_number") -> str:
    """An invoice's number, with its prefix where the site has one (`EU-1031`)."""
    if isinstance(record.members.get(name), int):
        number = str(record.whole(name))
    else:
        number = record.text(name)
    prefix = record.optional_text(f"{name}_prefix") or ""
    return checked_text(prefix + number, record.where(name))
