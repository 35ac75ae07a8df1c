"""Chargebee's event types: which are translated, which say nothing new, which could touch money."""

from api.webhooks.providers.event_types import EventTypes

SNAPSHOTS = frozenset(
    {
        "dunning_updated",
        "invoice_deleted",
        "invoice_generated",
        "invoice_generated_with_backdating",
        "invoice_updated",
        "netd_payment_due_reminder",
        "payment_due_reminder",
        "payment_failed",
        "payment_initiated",
        "payment_refunded",
        "payment_succeeded",
        "pending_invoice_created",
        "pending_invoice_updated",
        "refund_initiated",
        "tax_withheld_deleted",
        "tax_withheld_recorded",
        "tax_withheld_refunded",
    }
)
"""They hold a whole invoice; its state counts, whatever the type is called."""

TRANSACTIONS = frozenset({"transaction_created", "transaction_deleted", "transaction_updated"})
"""They hold a transaction and the invoices that it pays, but no invoice."""

CREDIT_NOTES = frozenset(
    {
        "credit_note_created",
        "credit_note_created_with_backdating",
        "credit_note_deleted",
        "credit_note_updated",
    }
)

CUSTOMERS = frozenset({"customer_changed", "customer_created"})

SUBSCRIPTIONS = frozenset(
    {
        "subscription_canceled_with_backdating",
        "subscription_cancelled",
        "subscription_deleted",
        "subscription_reactivated",
        "subscription_reactivated_with_backdating",
    }
)
"""They hold a subscription that has ended, or lives on after all; its status says which."""

REMINDERS = frozenset({"netd_payment_due_reminder", "payment_due_reminder"})
"""Chargebee's own reminder mails."""

_SAID_BY_OTHERS = frozenset(
    {
        "authorization_succeeded",
        "authorization_voided",
        "customer_deleted",
        "payment_intent_created",
        "payment_intent_updated",
        "payment_schedule_scheme_created",
        "payment_schedule_scheme_deleted",
        "payment_schedules_created",
        "payment_schedules_updated",
        "promotional_credits_added",
        "promotional_credits_deducted",
        "unbilled_charges_created",
        "unbilled_charges_deleted",
        "unbilled_charges_invoiced",
        "unbilled_charges_voided",
    }
)
"""Known types near money: what they do to an invoice comes as `invoice_generated` or `_updated`."""

_CANNOT_TOUCH_MONEY = frozenset(
    """account add_usages addon address alert_status attached_item business_entity card comment
    contract_term coupon coupon_codes coupon_set credit_unit currency customer_business_entity
    customer_entitlements customer_moved differential_price entitlement entitlement_overrides
    entitlements export feature gift grant_block hierarchy item metered_feature mrr offer
    omnichannel order payment_source pc2_migration personalized_offer plan portal_session
    price_variant product purchase quote ramp record_purchase rule sales_order shipping_address
    site subscription token usage usage_file usages variant virtual_bank_account voucher
    wallet""".split()
)
"""Families (beginnings of a type, up to an underscore) without a word on what is owed to us."""

_COULD_TOUCH_MONEY = frozenset(
    """authorization credit_note customer dispute dunning installment invoice netd payment
    pending_invoice promotional_credits refund tax_withheld transaction unbilled_charges""".split()
)
"""Families in which an unknown type is alerted on. So is any family in neither list."""

OTHER_TYPES = EventTypes("_", _SAID_BY_OTHERS, _CANNOT_TOUCH_MONEY, _COULD_TOUCH_MONEY)
"""What becomes of all other types, and of types that nobody has seen yet."""
