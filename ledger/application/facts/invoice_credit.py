"""`invoice.credit`: a credit was given, or taken back."""

from typing import ClassVar

from ledger.application.effects import Outcome
from ledger.application.facts.confirmations import load_confirmation
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.money import move_money
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.payments import CREDIT, CREDIT_TAKEN_BACK
from ledger.domain.value import value


@value
class Credited(FactData):
    """A credit was given, or with a negative amount taken back."""

    invoice_id: str
    credit_id: str
    amount: int


class CreditedType(FactType[Credited]):
    """Credits on invoices."""

    data = Credited
    tells_of_money: ClassVar[bool] = True

    def load(self, walk: Walk, data: Credited) -> None:
        """The invoice and its customer."""
        walk.invoice(data.invoice_id)
        load_confirmation(walk, data.invoice_id)

    def apply(self, world: World, fact: Fact, data: Credited) -> Outcome:
        """A credit lowers what is owed; a negative one takes a credit back."""
        state = CREDIT if data.amount >= 0 else CREDIT_TAKEN_BACK
        return move_money(world, fact, data.invoice_id, data.credit_id, state, data.amount)
