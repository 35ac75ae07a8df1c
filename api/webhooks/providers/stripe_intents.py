"""Stripe's payment intents: a debit on its way to an invoice, and its failure."""

from datetime import datetime

from api.webhooks.bodies.invoices import Event
from api.webhooks.bodies.record import Record
from api.webhooks.provider import Refresh, Translation
from api.webhooks.providers.stripe_invoices import money

_INVOICE = "in_"


def intent(event: Event, what: Record, created: datetime, state: str) -> Translation:
    """A payment intent of an invoice: on its way, paid, or failed. Most belong to no invoice.

    One on its way that names a customer and no invoice may still pay one, and only the API can
    tell: it is noted to be fetched, as disputes are. Its failure comes as the invoice's own.
    """
    invoice = _invoice(what)
    if invoice is None:
        if state == "pending" and (what.has("customer") or what.has("customer_account")):
            return Translation(refresh=(Refresh("stripe", "payment_intent", what.text("id")),))
        return Translation(ignored="names_no_invoice")
    data: dict[str, object] = {
        "invoice_id": event.own(invoice),
        "payment_id": what.text("id"),
        "amount": money(what, "amount", what.currency("currency")),
        "state": state,
    }
    return Translation(facts=(event.fact("invoice.payment", created, data),))


def _invoice(what: Record) -> str | None:
    """The invoice: named outright before basil, and as the order's reference since clover."""
    named = what.reference("invoice")
    if named is not None:
        return named
    order = what.optional_record("payment_details").optional_text("order_reference")
    return order if order is not None and order.startswith(_INVOICE) else None
