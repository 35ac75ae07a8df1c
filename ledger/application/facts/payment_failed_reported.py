"""`invoice.payment_failed`: a provider's event about a failed attempt to pay."""

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.invoices import name_subscription, register_invoice
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.invoice import Invoice
from ledger.domain.value import value


@value
class PaymentFailed(FactData):
    """A provider's event about a failed attempt to pay."""

    invoice_id: str
    event_id: str
    attempt_id: str | None
    subscription_id: str | None = None


class PaymentFailedType(FactType[PaymentFailed]):
    """Failed attempts to pay."""

    data = PaymentFailed

    def load(self, walk: Walk, data: PaymentFailed) -> None:
        """The invoice and its customer."""
        walk.invoice(data.invoice_id)

    def apply(self, world: World, fact: Fact, data: PaymentFailed) -> Outcome:
        """Note a failed attempt to pay: the balance is untouched."""
        outcome = Outcome(result="applied", invoice_id=data.invoice_id)
        if world.invoice(data.invoice_id) is None:
            register_invoice(outcome, data.invoice_id)
        outcome.change(
            "invoice",
            data.invoice_id,
            Invoice.PaymentFailureNoted,
            event_id=data.event_id,
            attempt_id=data.attempt_id,
        )
        if data.subscription_id is not None:
            name_subscription(world, outcome, data.invoice_id, data.subscription_id)
        return outcome
