"""Opening a customer's breaker: the event, and the one page for this opening (design D8)."""

from ledger.application.effects import Alert, Outcome
from ledger.domain.customer import Customer
from ledger.domain.identity import RESERVED_CUSTOMER_PREFIX


def open_breaker(outcome: Outcome, customer: Customer, scope: str, cause: str) -> None:
    """Open the breaker and page a human; the dedupe key is the customer and this opening."""
    customer_id = customer.customer_id
    outcome.change("customer", customer_id, Customer.BreakerOpened, scope=scope, cause=cause)
    outcome.alerts.append(
        Alert(
            "breaker_opened",
            f"breaker_opened:{customer_id}:{customer.version}",
            f"the breaker of customer {customer_id} opened for {scope}: {cause}",
            customer_id,
            drill=customer_id.startswith(RESERVED_CUSTOMER_PREFIX),
        )
    )
