"""The types of facts that the ledger takes: one line each."""

from typing import Any

from ledger.application.facts.address_hold import AddressHoldToldType
from ledger.application.facts.customer_credit import CustomerCreditedType
from ledger.application.facts.customer_hold import CustomerHeldType
from ledger.application.facts.customer_observed import CustomerObservedType
from ledger.application.facts.customer_unmerged import CustomerUnmergedType
from ledger.application.facts.customers_merged import CustomersMergedType
from ledger.application.facts.delivery import DeliveryType
from ledger.application.facts.fact import FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.invoice_credit import CreditedType
from ledger.application.facts.invoice_hold import InvoiceHeldType
from ledger.application.facts.invoice_observed import InvoiceObservedType
from ledger.application.facts.invoice_payment import PaymentMovedType
from ledger.application.facts.payment_failed_reported import PaymentFailedType
from ledger.application.facts.refund_reported import RefundReportedType
from ledger.application.facts.send_observed import SendObservedType
from ledger.application.facts.subscription_ended import SubscriptionToldType
from ledger.application.facts.thread_hold import ThreadHeldType
from ledger.application.facts.thread_message import ThreadMessageType

_TYPES: tuple[FactType[Any], ...] = (
    InvoiceObservedType(),
    PaymentMovedType(),
    CreditedType(),
    PaymentFailedType(),
    RefundReportedType(),
    InvoiceHeldType(),
    CustomerObservedType(),
    CustomerHeldType(),
    CustomerCreditedType(),
    CustomersMergedType(),
    CustomerUnmergedType(),
    SubscriptionToldType(),
    AddressHoldToldType(),
    ThreadHeldType(),
    ThreadMessageType(),
    SendObservedType(),
    DeliveryType(),
)

FACT_TYPES: dict[type[FactData], FactType[Any]] = {type_.data: type_ for type_ in _TYPES}
"""Each type by the class of its data."""
