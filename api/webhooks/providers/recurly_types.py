"""Recurly's notifications, in XML (by root element) and JSON (by object type)."""

from api.webhooks.providers.event_types import EventTypes


def _notifications(names: str) -> frozenset[str]:
    return frozenset(f"{name}_notification" for name in names.split())


INVOICES = _notifications(
    """new_charge_invoice processing_charge_invoice past_due_charge_invoice paid_charge_invoice
    failed_charge_invoice reopened_charge_invoice updated_charge_invoice new_invoice
    pending_invoice processing_invoice closed_invoice past_due_invoice updated_invoice
    new_dunning_event"""
)
"""They hold a whole invoice; its state counts, whatever the notification is called."""

DUNNING = "new_dunning_event_notification"
"""Fires with each step of Recurly's own dunning, whether or not its mails are switched on."""

PAYMENTS = _notifications(
    """scheduled_payment processing_payment successful_payment failed_payment
    transaction_status_updated"""
)
"""They hold a transaction with a status."""

REFUNDS = _notifications("successful_refund void_payment")
"""Money given back; noted, no balance changes. A payment is voided to refund it early."""

CREDIT_PAYMENTS = _notifications("new_credit_payment voided_credit_payment")
"""Credit applied to an invoice that they name only by its number."""

ACCOUNTS = _notifications("new_account updated_account")
"""They hold an address but no time, and older news must not override newer: fetched instead."""

ENDED_SUBSCRIPTIONS = _notifications("canceled_subscription expired_subscription")
"""It will not renew, or is over."""

RESUMED_SUBSCRIPTIONS = _notifications("reactivated_account")
"""A cancelled subscription that will renew after all; the name speaks of its account."""

SUBSCRIPTION_EVENTS = frozenset({"canceled", "expired", "reactivated"})
"""The same in JSON, where the object is a subscription."""

_SAID_BY_OTHERS = _notifications(
    """new_credit_invoice processing_credit_invoice closed_credit_invoice voided_credit_invoice
    reopened_credit_invoice open_credit_invoice updated_credit_invoice fraud_info_updated
    transaction_authorized canceled_account deleted_account billing_info_updated
    billing_info_update_failed low_balance_gift_card updated_balance_gift_card
    new_external_invoice updated_external_invoice new_external_payment_phase
    updated_external_payment_phase new_invoice_template updated_invoice_template
    deleted_invoice_template new_dunning_campaign updated_dunning_campaign
    archived_dunning_campaign"""
)
"""Known notifications that change no charge invoice by themselves."""

_HARMLESS_WORDS = frozenset(
    """account acquisition add address billing business coupon custom entitlement entity export
    external field gift item ledger measured note obligation performance plan prerenewal price
    product ramp redemption segment shipping site subscription unit usage user""".split()
)
"""Words in a root element's name that mark it as saying nothing of what is owed to us."""

_MONEY_WORDS = frozenset(
    "invoice payment refund transaction credit charge dunning fraud balance purchase".split()
)
"""Words that mark an unknown notification as one that could touch money, whatever else it says."""

OTHER_NOTIFICATIONS = EventTypes("_", _SAID_BY_OTHERS, _HARMLESS_WORDS, _MONEY_WORDS, anywhere=True)
"""What becomes of all other XML notifications; names with none of the words are alerted on."""

OBJECTS_BY_NUMBER = {
    "charge_invoice": "invoice",
    "invoice": "invoice",
    "dunning_event": "invoice",
    "credit_invoice": "credit_invoice",
}
"""JSON object types that name an invoice by its number, and what is to be fetched."""

OBJECTS_BY_UUID = {"payment": "payment", "credit_payment": "credit_payment"}
"""JSON object types that name a transaction by its uuid."""

_HARMLESS_OBJECTS = frozenset(
    """account_acquisition account_note add_on billing_info business_entity coupon
    coupon_redemption custom_field custom_field_definition dunning_campaign entitlement
    external_account external_charge external_invoice external_payment_phase external_product
    external_product_reference external_subscription general_ledger_account gift_card
    invoice_template item measured_unit performance_obligation plan prerenewal price_segment
    ramp_interval shipping_address shipping_method site subscription unique_coupon_code usage
    user""".split()
)

OTHER_OBJECTS = EventTypes(
    ".", _HARMLESS_OBJECTS, frozenset(), frozenset({*OBJECTS_BY_NUMBER, *OBJECTS_BY_UUID})
)
"""What becomes of all other JSON object types; those that nobody has seen yet are alerted on."""
