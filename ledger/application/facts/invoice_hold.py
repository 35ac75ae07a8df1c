"""`invoice.hold` and `invoice.unhold`: dunning of an invoice stops or goes on."""

from datetime import datetime

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.invoices import register_invoice
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.hold import Hold, HoldBook
from ledger.domain.invoice import Invoice
from ledger.domain.permit import DUNNING
from ledger.domain.value import value


@value
class InvoiceHeld(FactData):
    """An invoice was put on hold or released."""

    invoice_id: str
    reason: str
    held: bool
    until: datetime | None = None


class InvoiceHeldType(FactType[InvoiceHeld]):
    """Holds on invoices."""

    data = InvoiceHeld

    def load(self, walk: Walk, data: InvoiceHeld) -> None:
        """The invoice and its customer."""
        walk.invoice(data.invoice_id)

    def apply(self, world: World, fact: Fact, data: InvoiceHeld) -> Outcome:
        """Put dunning of an invoice on hold, or lift a hold."""
        invoice = world.invoice(data.invoice_id)
        outcome = Outcome(result="applied", invoice_id=data.invoice_id)
        if invoice is None:
            register_invoice(outcome, data.invoice_id)
        book = invoice.holds.copy() if invoice else HoldBook()
        hold = Hold(data.reason, data.held, fact.time or world.now, data.until)
        if not book.newer(hold):
            outcome.result = "stale"
            return outcome
        book.note(hold)
        until, indefinite = book.until(world.now, DUNNING)
        event = Invoice.HoldPlaced if data.held else Invoice.HoldLifted
        outcome.change(
            "invoice", data.invoice_id, event, hold=hold, held_until=until, indefinite=indefinite
        )
        return outcome
