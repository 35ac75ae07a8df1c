"""`customer.credit`: a customer was given a credit beside any invoice, or it was taken back."""

from datetime import datetime
from typing import NamedTuple

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.addresses import ensure_customer
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.credits import CreditBook
from ledger.domain.customer import Customer
from ledger.domain.money import LARGEST_AMOUNT
from ledger.domain.value import value

_CREDIT = "customer_credit"


@value
class CustomerCredited(FactData):
    """A customer has this credit (minor units); a negative amount takes one of that id back."""

    customer_id: str
    credit_id: str
    amount: int
    currency: str

    @property
    def name(self) -> str:
        """The name of this credit, or of this taking back: the latest word on it counts once."""
        sign = "given" if self.amount >= 0 else "taken back"
        return f"{len(self.customer_id)}:{self.customer_id}{sign} {self.credit_id}"


class _Told(NamedTuple):
    """The latest word on a credit."""

    at: datetime
    amount: int
    currency: str

    def text(self) -> str:
        return f"{self.at.isoformat()} {self.amount} {self.currency}"


class CustomerCreditedType(FactType[CustomerCredited]):
    """Credits of customers."""

    data = CustomerCredited

    def load(self, walk: Walk, data: CustomerCredited) -> None:
        """The customer, and the latest word on the credit."""
        walk.customer(data.customer_id)
        walk.name(_CREDIT, data.name)

    def apply(self, world: World, fact: Fact, data: CustomerCredited) -> Outcome:
        """Note the credit in its latest amount; an older word on it changes nothing."""
        outcome = Outcome(result="applied", customer_id=data.customer_id)
        told = _Told(fact.time or world.now, data.amount, data.currency)
        known = _known(world, data)
        if known is not None and known.currency != told.currency:
            return _rejected(outcome, f"credit {data.credit_id} is in {known.currency}")
        if known is not None and known > told:
            outcome.result = "duplicate" if known.amount == told.amount else "stale"
            return outcome
        outcome.names.append(NameClaim(_CREDIT, data.name, told.text(), replaces=True))
        if known is not None and known.amount == told.amount:
            outcome.result = "duplicate"
            return outcome
        before = known.amount if known is not None else 0
        customer = ensure_customer(world, outcome, data.customer_id)
        book = customer.credit if customer is not None else CreditBook()
        balance = book.balance(data.customer_id, data.currency) + data.amount - before
        if abs(balance) > LARGEST_AMOUNT:
            return _rejected(Outcome(customer_id=data.customer_id), "the credit is too large")
        outcome.change(
            "customer",
            customer.customer_id if customer is not None else data.customer_id,
            Customer.CreditNoted,
            customer_id=data.customer_id,
            credit_id=data.credit_id,
            amount=data.amount,
            currency=data.currency,
            balance=balance,
        )
        return outcome


def _known(world: World, data: CustomerCredited) -> _Told | None:
    told = world.name(_CREDIT, data.name)
    if told is None:
        return None
    at, amount, currency = told.split(" ")
    return _Told(datetime.fromisoformat(at), int(amount), currency)


def _rejected(outcome: Outcome, detail: str) -> Outcome:
    outcome.result = "rejected"
    outcome.body = {"detail": detail}
    return outcome
