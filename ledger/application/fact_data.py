"""The facts that the ledger takes: something that happened outside, as the commands carry it."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import TypeAlias

from ledger.domain.balance import PaymentState, Status
from ledger.domain.identity import Address


class Unset(Enum):
    """Marks a field that the request left out, where null means something else."""

    UNSET = "unset"


UNSET = Unset.UNSET


@dataclass(frozen=True, slots=True)
class InvoiceObserved:
    """A snapshot of an invoice; amounts in minor units, `observed_at` None means now."""

    invoice_id: str
    customer_id: str | None
    currency: str
    total: int
    amount_remaining: int
    status: Status
    email: Address | Unset | None = UNSET
    issued_on: date | Unset | None = UNSET
    due_on: date | Unset | None = UNSET
    time_zone: str | Unset | None = UNSET
    observed_at: datetime | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class PaymentMoved:
    """A payment changed its state."""

    invoice_id: str
    payment_id: str
    amount: int
    state: PaymentState


@dataclass(frozen=True, slots=True)
class Credited:
    """A credit was given, or with a negative amount taken back."""

    invoice_id: str
    credit_id: str
    amount: int


@dataclass(frozen=True, slots=True)
class PaymentFailed:
    """A provider's event about a failed attempt to pay."""

    invoice_id: str
    event_id: str
    attempt_id: str | None


@dataclass(frozen=True, slots=True)
class RefundReported:
    """A refund: noted, and no balance changes."""

    invoice_id: str
    refund_id: str


@dataclass(frozen=True, slots=True)
class InvoiceHeld:
    """An invoice was put on hold or released."""

    invoice_id: str
    reason: str
    held: bool
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class CustomerObserved:
    """The addresses of a customer, the first preferred."""

    customer_id: str
    emails: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class CustomerHeld:
    """A customer was put on hold or released, for all kinds of mail or the named ones."""

    customer_id: str
    reason: str
    held: bool
    until: datetime | None = None
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CustomersMerged:
    """Two customers are one."""

    from_id: str
    into_id: str


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread; `automatic` says why it is not a person's, `ours` that we sent it.

    `aliases` are other names of the same message: a mail system's own id beside the Message-ID.
    """

    thread_id: str
    message_id: str
    direction: str
    sender: Address | None
    recipient: Address | None
    customer_id: str | None
    at: datetime | None
    automatic: str | None
    ours: str | None
    references: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SendObserved:
    """A mail that went out without a permit."""

    customer_id: str
    at: datetime
    invoice_id: str | None = None
    stage: str | None = None
    thread_id: str | None = None
    intent: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A provider's word on a mail: delivered, bounced or complained about."""

    provider: str
    event: str
    provider_message_id: str | None = None
    message_id: str | None = None
    permit_id: str | None = None
    permanent: bool = True


FactData: TypeAlias = (
    InvoiceObserved
    | PaymentMoved
    | Credited
    | PaymentFailed
    | RefundReported
    | InvoiceHeld
    | CustomerObserved
    | CustomerHeld
    | CustomersMerged
    | ThreadMessage
    | SendObserved
    | Delivery
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact; (source, fact_id) dedupes it, `fact_id` None is never a duplicate. Time is UTC."""

    data: FactData
    source: str = ""
    fact_id: str | None = None
    time: datetime | None = None
