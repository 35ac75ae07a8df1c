"""`invoice.refund_noted`: a refund of an invoice."""

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.invoices import register_invoice
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.invoice import Invoice
from ledger.domain.value import value


@value
class RefundReported(FactData):
    """A refund: noted, and no balance changes."""

    invoice_id: str
    refund_id: str


class RefundReportedType(FactType[RefundReported]):
    """Refunds."""

    data = RefundReported

    def load(self, walk: Walk, data: RefundReported) -> None:
        """The invoice and its customer."""
        walk.invoice(data.invoice_id)

    def apply(self, world: World, fact: Fact, data: RefundReported) -> Outcome:
        """Note a refund: it never raises what is owed (contract: Money)."""
        if not data.invoice_id:
            return Outcome(result="ignored", body={"detail": "the refund names no invoice"})
        outcome = Outcome(result="applied", invoice_id=data.invoice_id)
        if world.invoice(data.invoice_id) is None:
            register_invoice(outcome, data.invoice_id)
        outcome.change("invoice", data.invoice_id, Invoice.RefundNoted, refund_id=data.refund_id)
        return outcome
