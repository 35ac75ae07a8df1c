"""Money that moves on an invoice: what payments and credits share."""

from datetime import timedelta

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoices import register_invoice, standing_after
from ledger.application.world import World
from ledger.domain.balance import MoneyFact, PaymentState, in_flight_until
from ledger.domain.invoice import Invoice


def move_money(
    world: World, fact: Fact, invoice_id: str, name: str, state: str, amount: int
) -> Outcome:
    """Note the payment or credit of that name in its new state; `amount` in minor units.

    Of one told of twice the earlier time and the smaller amount hold (design D10).
    """
    invoice = world.invoice(invoice_id)
    outcome = Outcome(result="applied", invoice_id=invoice_id)
    if invoice is None:
        register_invoice(outcome, invoice_id)
    snapshot = invoice.snapshot if invoice else None
    at = fact.time or max(world.now, snapshot.observed_at if snapshot else world.now)
    money = MoneyFact(name, state, amount, at)
    known = invoice.money.get(money.key) if invoice else None
    if known is not None and (known.at, known.amount) <= (at, amount):
        outcome.result = "duplicate"
        return outcome
    facts = [f for f in invoice.money.values() if f is not known] if invoice else []
    facts.append(money)
    standing = None
    if invoice is not None and snapshot is not None:
        outcome.customer_id = snapshot.customer_id
        standing = standing_after(world, invoice, snapshot, facts, at)
    flight = timedelta(days=world.policy.payment_in_flight_days)
    outcome.change(
        "invoice",
        invoice_id,
        Invoice.MoneyMoved,
        fact=money,
        standing=standing,
        in_flight_until=in_flight_until(facts, flight) if state in set(PaymentState) else None,
    )
    return outcome
