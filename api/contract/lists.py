"""Schemas of list pages: `items`, and the cursor of the next page or null."""

from api.contract.fields import Body, Instant
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
