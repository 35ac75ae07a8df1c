"""`invoice.payment`: a payment is pending, succeeded, failed or reversed."""

from typing import ClassVar

from ledger.application.effects import Outcome
from ledger.application.facts.confirmations import load_confirmation
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.money import move_money
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.payments import PaymentState
from ledger.domain.value import value


@value
class PaymentMoved(FactData):
    """A payment changed its state."""

    invoice_id: str
    payment_id: str
    amount: int
    state: PaymentState


class PaymentMovedType(FactType[PaymentMoved]):
    """Payments of invoices."""

    data = PaymentMoved
    tells_of_money: ClassVar[bool] = True

    def load(self, walk: Walk, data: PaymentMoved) -> None:
        """The invoice and its customer."""
        walk.invoice(data.invoice_id)
        load_confirmation(walk, data.invoice_id)

    def apply(self, world: World, fact: Fact, data: PaymentMoved) -> Outcome:
        """A payment is pending, succeeded, failed or reversed."""
        return move_money(
            world, fact, data.invoice_id, data.payment_id, str(data.state), data.amount
        )
