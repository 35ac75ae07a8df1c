"""Schemas of list pages: `items`, and the cursor of the next page or null."""

from typing import Literal

from api.contract.facts import InvoiceStatus
from api.contract.fields import Body, Day, Instant
from api.contract.permits import Permit


class PermitList(Body):
    """A page of permits."""

    items: list[Permit]
    next: str | None


class DueInvoice(Body):
    """An invoice with a stage that is newly due."""

    invoice_id: str
    cycle: int
    stage: str
    days_past_due: int
    amount_remaining: int
    currency: str


class DueWithheld(Body):
    """Why a customer cannot be mailed now, and until when if that is known."""

    code: str
    available_at: Instant | None


class DueCustomer(Body):
    """A customer with newly due invoices; `withheld` says why they cannot be mailed now."""

    customer_id: str
    email: str | None
    withheld: DueWithheld | None
    invoices: list[DueInvoice]


class DueList(Body):
    """Newly due invoices by customer, as of a position of the log."""

    items: list[DueCustomer]
    next: str | None
    as_of: str


class InvoiceRow(Body):
    """An invoice as the list shows it; `amount_remaining` is what is owed, in minor units.

    What only a snapshot tells is null before the first one.
    """

    invoice_id: str
    customer_id: str | None
    currency: str | None
    total: int | None
    amount_remaining: int
    status: InvoiceStatus
    issued_on: Day | None
    due_on: Day | None
    cycle: int
    observed_at: Instant | None
    source: str | None


class InvoiceList(Body):
    """A page of invoices, in an order that stays as it is and means nothing."""

    items: list[InvoiceRow]
    next: str | None


class OpenBreakerRow(Body):
    """A customer's open breaker: which mails it denies, since when and why."""

    customer_id: str
    scope: Literal["outreach", "all"]
    opened_at: Instant
    cause: str


class BreakerList(Body):
    """Open breakers, by customer."""

    items: list[OpenBreakerRow]
    next: str | None


class FoundThing(Body):
    """A thing that goes by the text: what it is, its id, and by what it was found."""

    what: Literal[
        "customer", "invoice", "thread", "permit", "decision", "incident", "job", "alert", "key"
    ]
    id: str
    by: str
    customer_id: str | None


class FoundThings(Body):
    """All that goes by the text."""

    items: list[FoundThing]


class FoundCustomer(Body):
    """A customer who has or had the address; `has_it` says that mail may go to it now.

    `matched` are the ids under which it was told, those merged into `customer_id` included.
    """

    customer_id: str
    matched: list[str]
    has_it: bool


class FoundCustomers(Body):
    """The customers who have or had an address; `more` where only the first ones are listed."""

    items: list[FoundCustomer]
    more: bool
