"""Stripe's event types: which are translated, which say nothing new, which could touch money."""

from api.webhooks.providers.event_types import EventTypes

SNAPSHOTS = frozenset(
    {
        "invoice.created",
        "invoice.deleted",
        "invoice.finalization_failed",
        "invoice.finalized",
        "invoice.marked_uncollectible",
        "invoice.overdue",
        "invoice.overpaid",
        "invoice.paid",
        "invoice.payment_action_required",
        "invoice.payment_attempt_required",
        "invoice.payment_failed",
        "invoice.payment_succeeded",
        "invoice.sent",
        "invoice.updated",
        "invoice.voided",
        "invoice.will_be_due",
    }
)
"""They hold a whole invoice; its state counts, whatever the type is called."""

PAYMENT_FAILURES = frozenset({"invoice.payment_failed", "invoice.payment_action_required"})
"""Snapshots that also tell of a failed payment."""

REFUNDS = frozenset(
    {
        "charge.refund.updated",
        "charge.refunded",
        "refund.created",
        "refund.failed",
        "refund.updated",
    }
)
"""Noted; a refund never changes a balance."""

PAYMENT_STATES = {
    "payment_intent.processing": "pending",
    "payment_intent.payment_failed": "failed",
    "payment_intent.canceled": "failed",
    "payment_intent.succeeded": "succeeded",
}
"""A payment on its way and how it ended, where the payment intent names an invoice (before basil).

The invoice's own snapshot tells of the success too, and counts it once (ADR 0005).
"""

SUBSCRIPTIONS = frozenset(
    {
        "customer.subscription.created",
        "customer.subscription.deleted",
        "customer.subscription.updated",
    }
)
"""They hold a whole subscription; what counts is whether it has ended."""

_SAID_BY_OTHERS = frozenset(
    {
        "charge.captured",
        "charge.dispute.funds_reinstated",
        "charge.dispute.funds_withdrawn",
        "charge.dispute.updated",
        "charge.expired",
        "charge.failed",
        "charge.pending",
        "charge.succeeded",
        "charge.updated",
        "checkout.session.async_payment_failed",
        "checkout.session.async_payment_succeeded",
        "checkout.session.completed",
        "checkout.session.expired",
        "credit_note.updated",
        "customer.deleted",
        "customer_cash_balance_transaction.created",
        "invoice.upcoming",
        "invoiceitem.created",
        "invoiceitem.deleted",
        "invoiceitem.updated",
        "payment_intent.amount_capturable_updated",
        "payment_intent.created",
        "payment_intent.partially_funded",
        "payment_intent.requires_action",
        "quote.accepted",
        "quote.canceled",
        "quote.created",
        "quote.finalized",
    }
)
"""Known types near money that change no invoice by themselves: where one does, it is told as well.

`invoice.upcoming` is a preview without an id; a credit note's amounts cannot be updated.
"""

_CANNOT_TOUCH_MONEY = frozenset(
    """account application_fee apps balance balance_settings billing billing_portal capability
    cash_balance climate coupon customer.discount customer.source customer.subscription
    customer.tax_id entitlements file financial_connections identity issuing_authorization
    issuing_card issuing_cardholder issuing_dispute issuing_personalization_design issuing_token
    issuing_transaction mandate order payment_link payment_method payout person plan price product
    promotion_code radar recipient reporting reserve review setup_intent sigma sku source
    subscription_schedule tax tax_rate terminal test_helpers three_d_secure topup transfer treasury
    v1.billing.meter v2.core""".split()
)
"""Families (beginnings of a type, up to a dot) that say nothing of what a customer owes us."""

_COULD_TOUCH_MONEY = frozenset(
    """charge checkout credit_note customer_balance_transaction customer_cash_balance_transaction
    invoice invoice_payment invoiceitem payment payment_intent payment_record quote refund
    v1""".split()
)
"""Families in which an unknown type is alerted on. So is any family in neither list."""


OTHER_TYPES = EventTypes(".", _SAID_BY_OTHERS, _CANNOT_TOUCH_MONEY, _COULD_TOUCH_MONEY)
"""What becomes of the types above, and of types that nobody has seen yet."""
