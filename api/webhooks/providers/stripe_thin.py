"""Stripe's thin events: they name an object and say nothing of it."""

from api.webhooks.bodies.record import Record
from api.webhooks.bodies.unusable import Unusable
from api.webhooks.provider import Refresh, Translation
from api.webhooks.providers.stripe_types import OTHER_TYPES, SUBSCRIPTIONS

THIN = "v2.core.event"
"""What the `object` of a thin event is; a snapshot event's is `event`."""
_V1 = "v1."
_OBJECTS = frozenset(
    """charge credit_note customer dispute invoice invoice_payment payment_intent refund
    subscription""".split()
)
_TOLD_BY_THE_REFUND = frozenset({"charge.refunded", "charge.refund.updated"})
"""The refund has events of its own, and neither these nor those change what is owed."""


def thin(kind: str, envelope: Record) -> Translation:
    """The object to fetch. Raises Unusable, naming the setting to change, where none is named.

    https://docs.stripe.com/event-destinations: thin events of v1 resources are called as snapshot
    events are, behind `v1.`.
    """
    plain = kind.removeprefix(_V1)
    harmless = OTHER_TYPES.is_harmless(kind) or OTHER_TYPES.is_harmless(plain)
    if (harmless and plain not in SUBSCRIPTIONS) or plain in _TOLD_BY_THE_REFUND:
        return Translation(ignored="irrelevant_event")
    related = envelope.optional_record("related_object")
    object_kind = related.optional_text("type")
    if object_kind not in _OBJECTS:
        raise Unusable(
            "wrong_form",
            "a thin event that names no object of billing: "
            "choose snapshot events for this endpoint at Stripe",
        )
    return Translation(refresh=(Refresh("stripe", object_kind, related.text("id")),))
