"""Schemas of permits: requests, responses, batches, claims and leases (contract: Permits)."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter, model_validator

from api.contract.facts import InvoiceSnapshot, ThreadMessageData
from api.contract.fields import (
    Amount,
    Body,
    CustomerId,
    Day,
    Email,
    Flag,
    Id,
    Instant,
    MessageId,
    Metadata,
    Name,
    OwnId,
    Text,
    Whole,
)


class ExpectedState(Body):
    """The state that the sender expects an invoice to have."""

    cycle: Whole | None = None
    amount_remaining: Amount | None = None


class JobLease(Body):
    """The job lease that a request for a permit names."""

    name: Id
    token: Whole


class OverrideRequest(Body):
    """A deliberate repeat, decided by a person; needs the scope `operate`."""

    action_id: Id
    by: Name
    reason: Text


class Asked(Body):
    """The fields of every request for a permit.

    `cc`: further recipients of the mail. If one of them may not get it, the request is denied.
    `dry_run`: say what the answer would be, and write nothing. A yes is then 200 with
    `would_grant`, never 201.
    """

    NOT_COMPARED: ClassVar[set[str]] = {
        "metadata",
        "facts",
        "message",
        "expected",
        "job",
        "dry_run",
    }

    redeem: Flag = False
    dry_run: Flag = False
    override: OverrideRequest | None = None
    job: JobLease | None = None
    cc: Annotated[list[Email], Field(max_length=20)] | None = None
    metadata: Metadata | None = None

    def riding_snapshots(self) -> Mapping[str, InvoiceSnapshot]:
        """The embedded invoice snapshots, by invoice id."""
        return {}

    def riding_message(self) -> ThreadMessageData | None:
        """The embedded message."""
        return None


class _AboutInvoices(Asked):
    """The additional fields of requests about invoices: embedded snapshots."""

    facts: Annotated[dict[Id, InvoiceSnapshot], Field(max_length=100)] | None = None

    def riding_snapshots(self) -> Mapping[str, InvoiceSnapshot]:
        """The `facts`."""
        return self.facts or {}


class _AboutSomething(Asked):
    """What requests for mail about something that happened may hold.

    From `not_after` on it is too late; so it is `policy.too_late_hours` after `happened_at`.
    """

    happened_at: Instant | None = None
    not_after: Instant | None = None


class ReminderRequest(_AboutInvoices):
    """A reminder for one or more invoices of one customer."""

    kind: Literal["reminder"]
    invoices: Annotated[list[Id], Field(min_length=1, max_length=100)]
    stage: Id | None = None
    expected: Annotated[dict[Id, ExpectedState], Field(max_length=100)] | None = None

    @model_validator(mode="after")
    def _each_once(self) -> "ReminderRequest":
        if len(set(self.invoices)) != len(self.invoices):
            raise ValueError("an invoice is named twice")
        for name, keys in (("facts", self.facts), ("expected", self.expected)):
            if keys and not set(keys) <= set(self.invoices):
                raise ValueError(f"{name} speaks of an invoice that is not in invoices")
        return self


class PaymentFailedRequest(_AboutInvoices):
    """The mail about a failed payment."""

    kind: Literal["payment_failed"]
    invoice_id: Id
    event_id: Id
    attempt_id: Id | None = None
    subscription_id: Id | None = None

    @model_validator(mode="after")
    def _own_facts(self) -> "PaymentFailedRequest":
        if self.facts and set(self.facts) != {self.invoice_id}:
            raise ValueError("facts speaks of another invoice")
        return self


class ReplyRequest(Asked):
    """A reply to an inbound message, which the request may embed as a fact."""

    kind: Literal["reply"]
    thread_id: Id
    in_reply_to: MessageId
    message: ThreadMessageData | None = None
    customer_id: CustomerId | None = None
    to: Email | None = None

    def riding_message(self) -> ThreadMessageData | None:
        """The `message` replied to."""
        return self.message


class NotificationRequest(_AboutSomething):
    """A notice about one business event.

    If both are given, `to` is an address of `customer_id`: mails to either count in one window.
    """

    kind: Literal["notification"]
    event_type: Id
    event_id: Id
    customer_id: CustomerId | None = None
    to: Email | None = None
    thread_id: Id | None = None
    subscription_id: Id | None = None

    @model_validator(mode="after")
    def _to_somebody(self) -> "NotificationRequest":
        if self.customer_id is None and self.to is None:
            raise ValueError("name a customer_id or an address in `to`")
        return self


class DigestRequest(_AboutSomething):
    """The digest of an inbox for one day.

    If both are given, `to` is an address of `customer_id`: mails to either count in one window.
    """

    kind: Literal["digest"]
    inbox_id: Id
    date: Day
    customer_id: CustomerId | None = None
    to: Email | None = None
    thread_id: Id | None = None

    @model_validator(mode="after")
    def _to_somebody(self) -> "DigestRequest":
        if self.customer_id is None and self.to is None:
            raise ValueError("name a customer_id or an address in `to`")
        return self


class FollowUpRequest(_AboutSomething):
    """A numbered follow-up in a thread.

    A new thread needs a `customer_id` or `to`; if both are given, the address is the customer's,
    and mails to either count in one window. For a known thread both are ignored.
    """

    kind: Literal["follow_up"]
    thread_id: Id
    step: Whole
    customer_id: CustomerId | None = None
    to: Email | None = None


class MessageRequest(_AboutSomething):
    """A message with an intent; each intent is allowed once in a thread.

    A new thread needs a `customer_id` or `to`; if both are given, the address is the customer's,
    and mails to either count in one window. For a known thread both are ignored.
    """

    kind: Literal["message"]
    thread_id: Id
    intent: Id
    customer_id: CustomerId | None = None
    to: Email | None = None


class ApologyPermitRequest(Asked):
    """The apology of an incident to a customer; each customer gets at most one."""

    kind: Literal["apology"]
    incident_id: Id
    customer_id: CustomerId


PermitRequest = Annotated[
    ReminderRequest
    | PaymentFailedRequest
    | ReplyRequest
    | NotificationRequest
    | DigestRequest
    | FollowUpRequest
    | MessageRequest
    | ApologyPermitRequest,
    Field(discriminator="kind"),
]
PERMIT_REQUEST: TypeAdapter[Any] = TypeAdapter(PermitRequest)


class RedeemRequest(Body):
    """`attempt`: a random id, made in memory for this one attempt to send."""

    attempt: Id | None = None
    metadata: Metadata | None = None


class RedeemItem(RedeemRequest):
    """The redeem of one permit, in a batch."""

    permit_id: OwnId


class RedeemsRequest(Body):
    """Up to 1000 redeems, decided in order, each by itself: see RedeemItem."""

    redeems: Annotated[list[Any], Field(max_length=1000)]
    metadata: Metadata | None = None


class PermitItem(Body):
    """One invoice of a reminder."""

    invoice_id: str
    cycle: int
    stage: str
    supersedes: list[str]
    amount_remaining: int
    currency: str
    observed_at: Instant | None = None


class WithheldItem(Body):
    """An invoice that a reminder leaves out, and why."""

    invoice_id: str
    code: str
    available_at: Instant | None = None
    due_stage: str | None = None


class WindowUse(Body):
    """The number of mails that count in a rolling window."""

    used: int
    limit: int


class Owed(Body):
    """An amount owed or of a credit, in one currency: in minor units, and formatted for people."""

    currency: str
    amount: int
    formatted: str


class OpenInvoiceLine(Body):
    """An invoice that is not paid in full."""

    invoice_id: str
    amount_remaining: int
    currency: str
    formatted: str


class Statement(Body):
    """What the customer owed when the apology was granted; `owed` is less their `credit`."""

    owed: list[Owed]
    open_invoices: list[OpenInvoiceLine]
    credit: Annotated[list[Owed], Field(default_factory=list)]
    as_of: Instant


class CopyOf(Body):
    """A further recipient of the mail: the customer whose address it is."""

    customer_id: str


class Permit(Body):
    """A permit: only this allows a mail."""

    permit_id: str
    state: Literal["granted", "redeemed", "sent", "rejected", "unknown", "revoked", "expired"]
    kind: str
    customer_id: str
    sender: str | None = None
    to: str | None = None
    items: list[PermitItem]
    withheld: Annotated[list[WithheldItem], Field(default_factory=list)]
    copies: list[CopyOf] | None = None
    granted_at: Instant
    send_by: Instant
    redeemed_at: Instant | None = None
    settled_at: Instant | None = None
    bounced: bool | None = None
    provider_idempotency_key: str | None = None
    provider_message_id: str | None = None
    message_id: str | None = None
    send_token: str | None = None
    windows: dict[str, WindowUse] | None = None
    statement: Statement | None = None
    invoice_id: str | None = None
    thread_id: str | None = None
    amount_remaining: int | None = None
    currency: str | None = None
    position: str | None = None
    decision_id: str | None = None
    result: str | None = None


class ClaimRequest(Body):
    """Permits for up to `limit` ready customers."""

    limit: Annotated[int, Field(strict=True, ge=1, le=1000)] = 100
    stage: Id | None = None
    metadata: Metadata | None = None


class ClaimAnswer(Body):
    """The permits, and the ready customers whose permit was denied by a guard."""

    permits: list[Permit]
    withheld: list[dict[str, Any]]
    position: str


class LeaseRequest(Body):
    """Take or renew a job's lease."""

    holder: Id
    ttl_seconds: Annotated[int, Field(strict=True, ge=1, le=86_400)]
    metadata: Metadata | None = None


class GivenUpLease(Body):
    """The holder or token of the lease to release; without both, any holder's lease."""

    holder: Id | None = None
    token: Whole | None = None
    metadata: Metadata | None = None


class Lease(Body):
    """A lease that is held."""

    job: str
    token: int
    expires_at: Instant
    position: str
    result: str
