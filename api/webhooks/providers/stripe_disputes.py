"""Stripe's disputes: a hold while one is open, the payment reversed where it is lost."""

from datetime import datetime

from api.webhooks.bodies.invoices import Event
from api.webhooks.bodies.record import Record
from api.webhooks.provider import Refresh, Translation
from api.webhooks.providers.stripe_invoices import money

_WON = frozenset({"won", "warning_closed", "prevented"})


def dispute(event: Event, what: Record, created: datetime) -> Translation:
    """A dispute opened or closed. The state counts, not the type: an open one holds the invoice.

    A dispute names a charge and a payment intent, and those name their invoice only before basil
    and only where expanded; otherwise only the API can tell which invoice it is.
    """
    dispute_id = what.text("id")
    invoice = _invoice(what)
    if invoice is None:
        return Translation(refresh=(Refresh("stripe", "dispute", dispute_id),))
    invoice_id = event.own(invoice)
    status = what.text("status")
    reason = {"invoice_id": invoice_id, "reason": f"dispute {dispute_id}"}
    if status in _WON:
        return Translation(facts=(event.fact("invoice.unhold", created, reason),))
    if status != "lost":
        return Translation(facts=(event.fact("invoice.hold", created, reason),))
    reversal: dict[str, object] = {
        "invoice_id": invoice_id,
        "payment_id": what.reference("payment_intent") or what.reference("charge") or dispute_id,
        "amount": money(what, "amount", what.currency("currency")),
        "state": "reversed",
    }
    return Translation(
        facts=(
            event.fact("invoice.payment", created, reversal),
            event.fact("invoice.unhold", created, reason, "unhold"),
        )
    )


def _invoice(what: Record) -> str | None:
    for name in ("charge", "payment_intent"):
        if isinstance(what.members.get(name), dict):
            found = what.record(name).reference("invoice")
            if found:
                return found
    return what.reference("invoice")
