"""Schemas of facts: the invoice snapshot and the data of each CloudEvent type."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from api.contract.fields import (
    Amount,
    Body,
    Currency,
    CustomerId,
    Day,
    Email,
    Id,
    Instant,
    Kind,
    MessageId,
    Metadata,
    Reason,
    SendToken,
    SignedAmount,
    TimeZone,
    Whole,
)
from api.contract.holds import HoldState
from api.contract.sent_mails import SendObservedData

InvoiceStatus = Literal["draft", "open", "paid", "void", "uncollectible"]


class InvoiceSnapshot(Body):
    """An invoice's state in the billing system. A missing field is unchanged; null clears it.

    An `amount_remaining` below zero says that too much was paid. `precision` is `second` where
    the source counts whole seconds, so that all that happened in the second of `observed_at` is in
    the snapshot. `payment_in_flight` false says that no payment is on its way any more.
    """

    LEFT_OUT_IS_NULL: ClassVar[bool] = False

    customer_id: CustomerId | None = None
    email: Email | None = None
    currency: Currency
    total: SignedAmount
    amount_remaining: SignedAmount
    status: InvoiceStatus
    issued_on: Day | None = None
    due_on: Day | None = None
    time_zone: TimeZone | None = None
    observed_at: Instant | None = None
    version: Whole | Annotated[int, Field(ge=0, le=2**53)] | None = None
    precision: Literal["instant", "second"] = "instant"
    payment_in_flight: Literal[False] | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _known_by_something(self) -> "InvoiceSnapshot":
        if self.customer_id is None and self.email is None:
            raise ValueError("an invoice names a customer_id or an email")
        return self


class InvoiceObservedData(InvoiceSnapshot):
    """`invoice.observed`."""

    invoice_id: Id


class PaymentData(Body):
    """`invoice.payment`: amount in minor units; `canceled` and `expired` are ways to fail."""

    invoice_id: Id
    payment_id: Id
    amount: Amount
    state: Literal["pending", "succeeded", "failed", "canceled", "expired", "reversed"]
    metadata: Metadata | None = None


class CreditData(Body):
    """`invoice.credit`: a negative amount reverses a credit."""

    invoice_id: Id
    credit_id: Id
    amount: SignedAmount
    metadata: Metadata | None = None


class PaymentFailedData(Body):
    """`invoice.payment_failed`: recorded; no balance changes."""

    invoice_id: Id
    event_id: Id
    attempt_id: Id | None = None
    subscription_id: Id | None = None
    metadata: Metadata | None = None


class RefundData(Body):
    """`invoice.refund_noted`: recorded; no balance changes."""

    refund_id: Id
    invoice_id: Id | None = None
    metadata: Metadata | None = None


class InvoiceHoldData(Body):
    """`invoice.hold` and `invoice.unhold`."""

    invoice_id: Id
    reason: Reason
    until: Instant | None = None
    metadata: Metadata | None = None


class SubscriptionData(Body):
    """`subscription.ended` and `subscription.resumed`; `at` left out is the fact's own time.

    `invoice_ids` are invoices of the subscription, as far as they are known.
    """

    subscription_id: Id
    customer_id: CustomerId
    invoice_ids: Annotated[list[Id], Field(max_length=100)] | None = None
    at: Instant | None = None
    reason: Reason | None = None
    metadata: Metadata | None = None


class CustomerObservedData(Body):
    """`customer.observed`: the addresses that hold now, the first preferred; others are removed."""

    customer_id: CustomerId
    emails: Annotated[list[Email], Field(max_length=50)]
    metadata: Metadata | None = None


class CustomerHoldData(Body):
    """`customer.hold` and `customer.unhold`; without `kinds` for all kinds of mail."""

    customer_id: CustomerId
    reason: Reason
    until: Instant | None = None
    kinds: Annotated[list[Kind], Field(max_length=8)] | None = None
    metadata: Metadata | None = None


class CustomerCreditData(Body):
    """`customer.credit`: beside any invoice; a negative amount takes a credit back."""

    customer_id: CustomerId
    credit_id: Id
    amount: SignedAmount
    currency: Currency
    metadata: Metadata | None = None


class AddressHoldData(Body):
    """`address.hold`: of the address, whoever has it; null kinds: all."""

    address: Email
    reason: Reason
    kinds: Annotated[list[Kind], Field(max_length=8)] | None = None
    until: Instant | None = None
    metadata: Metadata | None = None


class AddressUnholdData(AddressHoldData):
    """`address.unhold`: lifts the holds of this reason, or only that of the source `told_by`.

    `told_by` is that of the hold as `GET /v1/customers/{id}` shows it.
    """

    told_by: Id | None = None


class MergedData(Body):
    """`customer.merged`."""

    from_: Annotated[CustomerId, Field(alias="from")]
    into: CustomerId
    metadata: Metadata | None = None


class UnmergedData(Body):
    """`customer.unmerged`: undoes a merge of `customer_id` into `from`."""

    customer_id: CustomerId
    from_: Annotated[CustomerId, Field(alias="from")]
    metadata: Metadata | None = None


_HeaderText = Annotated[str, StringConstraints(max_length=2000)]


class ThreadHoldData(Body):
    """`thread.hold` and `thread.unhold`; without kinds for all of them."""

    thread_id: Id
    reason: Reason
    until: Instant | None = None
    kinds: Annotated[list[Kind], Field(max_length=8)] | None = None
    metadata: Metadata | None = None


class MailReportData(Body):
    """What the report of a mail system tells (RFC 3464, RFC 8098), where its parts are known.

    `about` is the Message-ID of the mail that the report is about, `recipient` the one of its
    recipients that it speaks of (default: the address that the permit was granted to), and `status`
    the code of RFC 3463: `4.…` gave this mail up and holds no address.
    """

    type: Literal["delivery-status", "disposition-notification"]
    action: Literal["failed", "delayed", "delivered", "relayed", "expanded"] | None = None
    about: MessageId | None = None
    recipient: Email | None = None
    status: Annotated[str, StringConstraints(pattern=r"^[245]\.\d{1,3}\.\d{1,3}$")] | None = None


class ThreadMessageData(Body):
    """`thread.message`; headers and return path show whether a machine or a person wrote it.

    A reply is addressed to `reply_to` (default: the header `Reply-To`), else to `from`.
    `customer_id` names the owner of the correspondent's address: of the reply address in an inbound
    message, of `to` in an outbound one. An outbound message without a permit answers the messages
    that it references. `reports` are those on further recipients of one mail.
    """

    thread_id: Id
    message_id: MessageId
    direction: Literal["inbound", "outbound"]
    from_: Annotated[Email | None, Field(alias="from")] = None
    to: Email | None = None
    reply_to: Email | None = None
    customer_id: CustomerId | None = None
    at: Instant | None = None
    references: Annotated[list[MessageId], Field(max_length=100)] | None = None
    headers: Annotated[dict[_HeaderText, _HeaderText], Field(max_length=100)] | None = None
    return_path: Annotated[str, StringConstraints(max_length=320)] | None = None
    report: MailReportData | None = None
    reports: Annotated[list[MailReportData], Field(max_length=50)] | None = None
    metadata: Metadata | None = None


class DeliveryData(Body):
    """`delivery`: a provider's report on a mail.

    It applies to the `recipient` that it names, else to the address that the permit was granted to.
    `send_token` is what the mail carries in `X-Ledger-Send`.
    """

    provider: Id
    event: Literal["delivered", "bounced", "complained"]
    provider_message_id: Id | None = None
    message_id: MessageId | None = None
    recipient: Email | None = None
    send_token: SendToken | None = None
    provider_idempotency_key: Id | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _names_a_mail(self) -> "DeliveryData":
        if not (self.provider_message_id or self.message_id or self.send_token):
            raise ValueError("name the mail by provider_message_id, message_id or send_token")
        return self


FACT_DATA: dict[str, type[Body]] = {
    "invoice.observed": InvoiceObservedData,
    "invoice.payment": PaymentData,
    "invoice.credit": CreditData,
    "invoice.payment_failed": PaymentFailedData,
    "invoice.refund_noted": RefundData,
    "invoice.hold": InvoiceHoldData,
    "invoice.unhold": InvoiceHoldData,
    "customer.observed": CustomerObservedData,
    "customer.hold": CustomerHoldData,
    "customer.unhold": CustomerHoldData,
    "customer.credit": CustomerCreditData,
    "customer.merged": MergedData,
    "customer.unmerged": UnmergedData,
    "subscription.ended": SubscriptionData,
    "subscription.resumed": SubscriptionData,
    "address.hold": AddressHoldData,
    "address.unhold": AddressUnholdData,
    "thread.hold": ThreadHoldData,
    "thread.unhold": ThreadHoldData,
    "thread.message": ThreadMessageData,
    "send.observed": SendObservedData,
    "delivery": DeliveryData,
}
"""The data of each CloudEvent type."""


class CloudEvent(Body):
    """The envelope of a fact (CloudEvents 1.0); extension attributes are accepted and ignored."""

    model_config = ConfigDict(extra="allow")

    id: Id
    source: Id
    type: Id
    time: Instant | None = None
    data: dict[str, Any]


class FactsRequest(Body):
    """Up to 1000 facts; an invalid one does not stop the others."""

    facts: Annotated[list[Any], Field(max_length=1000)]
    metadata: Metadata | None = None


class FactResult(Body):
    """The result of one fact."""

    id: str | None
    result: Literal["applied", "duplicate", "stale", "ignored", "rejected"]
    detail: str | None


class FactsAnswer(Body):
    """The result of each fact, in order."""

    results: list[FactResult]
    position: str


class StageState(Body):
    """The state of one reminder stage of an invoice."""

    stage: str
    cycle: int
    state: Literal["pending", "due", "permitted", "sent", "unknown", "bounced", "superseded"]
    at: Instant | None
    permit_id: str | None


class InvoiceState(Body):
    """The state of an invoice in the ledger."""

    invoice_id: str
    customer_id: str | None = None
    currency: str | None = None
    total: int | None = None
    amount_remaining: int
    status: InvoiceStatus
    issued_on: Day | None = None
    due_on: Day | None = None
    time_zone: str | None = None
    observed_at: Instant | None = None
    cycle: int
    days_past_due: int
    version: int
    on_hold: HoldState | None
    payment_in_flight_until: Instant | None
    stages: list[StageState]
    applied: bool | None = None
    result: str | None = None
    position: str
