"""The statement of an apology: what a customer owes, from the log and at that moment (D14)."""

from ledger.application.world import World
from ledger.domain.balance import Status
from ledger.domain.customer import Customer
from ledger.domain.incident import OpenInvoice, Statement


def statement_of(world: World, customer: Customer | None) -> Statement:
    """Open invoices and the balance per currency, in minor units, over all merged ids."""
    if customer is None:
        return Statement({}, ())
    lines: list[OpenInvoice] = []
    owed: dict[str, int] = {}
    for customer_id in (customer.customer_id, *sorted(customer.absorbed)):
        for invoice_id in world.invoices_of(customer_id):
            invoice = world.invoice(invoice_id)
            if invoice is None or invoice.snapshot is None:
                continue
            owner = world.customer(invoice.customer_id)
            standing = invoice.standing
            if owner is not customer or standing.status is not Status.OPEN:
                continue
            currency = invoice.snapshot.currency
            lines.append(OpenInvoice(invoice_id, standing.balance, currency))
            owed[currency] = owed.get(currency, 0) + standing.balance
    return Statement(owed, tuple(lines))
