"""Stripe's subscriptions: one that ended bills nothing more."""

from datetime import datetime

from api.webhooks.bodies.invoices import Event
from api.webhooks.bodies.record import Record
from api.webhooks.provider import Translation

_ENDED = frozenset({"canceled", "incomplete_expired"})
"""Both are final: Stripe starts a new subscription for a customer who comes back."""


def subscription(event: Event, what: Record, created: datetime) -> Translation:
    """A subscription that ended as `subscription.ended`; one that lives on changes nothing.

    One cancelled for the end of its term lives until then. A customer is always named.
    """
    if what.text("status") not in _ENDED:
        return Translation(ignored="irrelevant_event")
    customer = what.reference("customer")
    if customer is None:
        return Translation(ignored="names_no_customer")
    return event.subscription(
        "subscription.ended",
        what.text("id"),
        customer,
        what.optional_unix("ended_at") or created,
        invoices=(what.reference("latest_invoice"),),
        reason=what.optional_record("cancellation_details").optional_text("reason"),
    )
