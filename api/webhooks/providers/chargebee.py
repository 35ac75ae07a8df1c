"""Chargebee (API v2): Basic credentials, and what its events mean to an invoice's balance."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from api.webhooks.bodies.invoices import Event, Snapshot
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import Fact, Settings, Translation
from api.webhooks.providers.chargebee_money import credit_note, refund_facts, transaction_facts
from api.webhooks.providers.chargebee_types import (
    CREDIT_NOTES,
    CUSTOMERS,
    OTHER_TYPES,
    REMINDERS,
    SNAPSHOTS,
    SUBSCRIPTIONS,
    TRANSACTIONS,
)
from api.webhooks.signatures.basic import check_basic

_STATUSES = {
    "pending": "draft",
    "posted": "open",
    "payment_due": "open",
    "not_paid": "open",
    "paid": "paid",
    "voided": "void",
}


class Chargebee:
    """https://apidocs.chargebee.com/docs/api/events"""

    name = "chargebee"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Chargebee does not sign; it sends the Basic credentials of the webhook's settings."""
        check_basic(headers, settings.secrets)

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one event means; the invoice in it is ordered by its `resource_version`."""
        return rejecting(lambda: _translate(body, settings))


def _translate(body: bytes, settings: Settings) -> Translation:
    envelope = Record(read_json_object(body))
    kind = envelope.text("event_type")
    if envelope.optional_text("api_version") == "v1":
        raise Unusable("wrong_form", "choose API version 2 in this webhook's settings at Chargebee")
    if kind not in SUBSCRIPTIONS and OTHER_TYPES.is_harmless(kind):
        return Translation(ignored="irrelevant_event")
    event = Event(envelope.text("id"), settings.source, settings)
    occurred = envelope.unix("occurred_at")
    content = envelope.record("content")
    if kind in SNAPSHOTS:
        return _snapshot_event(kind, event, content, occurred)
    if kind in TRANSACTIONS:
        transaction = content.record("transaction")
        facts = transaction_facts(event, transaction, occurred)
        facts += refund_facts(event, transaction, occurred)
        return Translation(facts=facts, ignored=None if facts else "names_no_invoice")
    if kind in CREDIT_NOTES:
        deleted = kind == "credit_note_deleted"
        return credit_note(event, content.record("credit_note"), occurred, deleted=deleted)
    if kind in CUSTOMERS:
        customer = content.record("customer")
        new, email = kind == "customer_created", customer.optional_text("email")
        return event.customer(customer.text("id"), email, occurred, new=new)
    if kind in SUBSCRIPTIONS:
        return _subscription(event, content, occurred)
    return Translation(rejected=(OTHER_TYPES.unknown(kind),))


def _snapshot_event(kind: str, event: Event, content: Record, occurred: datetime) -> Translation:
    invoice = content.record("invoice")
    told = _snapshot(event, invoice, content.optional_record("customer"), occurred, kind)
    if not told.facts:
        return told
    observed = told.facts[0].time or occurred
    facts: tuple[Fact, ...] = ()
    if content.has("transaction"):
        transaction = content.record("transaction")
        facts += transaction_facts(event, transaction, occurred, already_in=observed)
        facts += refund_facts(event, transaction, occurred)
        if kind == "payment_failed" and _status(invoice) == "open":
            facts += (_failed(event, invoice, transaction, occurred),)
    if kind == "dunning_updated":
        facts += _dunning(event, invoice, occurred)
    if kind in REMINDERS and event.settings.reminders:
        facts += (event.reminded(invoice.text("customer_id"), invoice.text("id"), occurred),)
    return replace(told, facts=told.facts + facts)


def _snapshot(
    event: Event, invoice: Record, customer: Record, occurred: datetime, kind: str
) -> Translation:
    """The invoice. Written off, it is uncollectible and what was written off is still unpaid.

    `resource_version` is the time of the change in milliseconds, finer than `updated_at`; an
    invoice deleted keeps its status, so the deletion itself makes it void.
    """
    status = _status(invoice)
    customer_id = invoice.optional_text("customer_id")
    same_customer = customer_id is not None and customer.optional_text("id") == customer_id
    versioned = invoice.has("resource_version")
    observed = invoice.unix("resource_version", per_second=1000) if versioned else None
    written_off = invoice.optional_amount("write_off_amount") if status == "uncollectible" else 0
    return event.observed(
        Snapshot(
            invoice_id=invoice.text("id"),
            customer_id=customer_id,
            email=customer.optional_text("email") if same_customer else None,
            currency=invoice.currency("currency_code"),
            total=invoice.signed_amount("total"),
            amount_remaining=invoice.signed_amount("amount_due") + written_off,
            status="void" if kind == "invoice_deleted" or invoice.flag("deleted") else status,
            due=invoice.optional_unix("due_date"),
            issued=None if status == "draft" else invoice.optional_unix("date"),
            observed=observed or invoice.optional_unix("updated_at") or occurred,
            version=invoice.whole("resource_version") if versioned else None,
            nothing_in_flight=invoice.has("linked_payments") and not _in_flight(invoice),
        )
    )


def _in_flight(invoice: Record) -> bool:
    states = (p.optional_text("txn_status") for p in invoice.records("linked_payments"))
    return any(state in ("in_progress", "needs_attention") for state in states)


def _status(invoice: Record) -> str:
    status = _STATUSES.get(invoice.text("status"))
    if status is None:
        raise Unusable("unknown_status", f"{invoice.where('status')} is none that is known")
    if status == "paid" and invoice.optional_amount("write_off_amount"):
        return "uncollectible"
    return status


def _failed(event: Event, invoice: Record, transaction: Record, occurred: datetime) -> Fact:
    data = {
        "invoice_id": event.own(invoice.text("id")),
        "event_id": event.id,
        "attempt_id": transaction.text("id"),
    }
    subscription = invoice.optional_text("subscription_id")
    if subscription:
        data["subscription_id"] = subscription
    return event.fact("invoice.payment_failed", occurred, data, "failed")


def _subscription(event: Event, content: Record, occurred: datetime) -> Translation:
    """A subscription that was cancelled or deleted, or one that was reactivated after all."""
    what = content.record("subscription")
    ended = what.text("status") == "cancelled" or what.flag("deleted")
    at = what.optional_unix("cancelled_at") if ended else None
    reason = what.optional_text("cancel_reason_code") or what.optional_text("cancel_reason")
    return event.subscription(
        "subscription.ended" if ended else "subscription.resumed",
        what.text("id"),
        what.text("customer_id"),
        at or occurred,
        invoices=(content.optional_record("invoice").optional_text("id"),),
        reason=reason if ended else None,
    )


def _dunning(event: Event, invoice: Record, occurred: datetime) -> tuple[Fact, ...]:
    kinds = {"stopped": "invoice.hold", "in_progress": "invoice.unhold"}
    kind = kinds.get(invoice.optional_text("dunning_status") or "")
    if kind is None:
        return ()
    data = {"invoice_id": event.own(invoice.text("id")), "reason": "dunning stopped in Chargebee"}
    return (event.fact(kind, occurred, data, "dunning"),)
