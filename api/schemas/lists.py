"""Pages of lists: `items`, and the cursor of the next page or null."""

from typing import Any

from api.schemas.fields import Body
from api.schemas.permits import Permit


class PermitList(Body):
    """A page of permits."""

    items: list[Permit]
    next: str | None


class AnyList(Body):
    """A page of rows."""

    items: list[dict[str, Any]]
    next: str | None


class DueInvoice(Body):
    """An invoice with a stage that is newly due."""

    invoice_id: str
    cycle: int
    stage: str
    days_past_due: int
    amount_remaining: int
    currency: str


class DueCustomer(Body):
    """A customer with newly due invoices; `withheld` says why they cannot be mailed now."""

    customer_id: str
    email: str | None
    withheld: dict[str, Any] | None
    invoices: list[DueInvoice]


class DueList(Body):
    """What is newly due, as of a position of the log."""

    items: list[DueCustomer]
    next: str | None
    as_of: str
