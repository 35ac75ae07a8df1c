"""Money that moves on an invoice: what payments and credits share."""

from dataclasses import replace
from datetime import timedelta

from ledger.application.effects import Outcome
from ledger.application.facts.confirmations import latest_snapshot, note_confirmed
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoices import register_invoice, standing_after
from ledger.application.world import World
from ledger.domain.balance import Snapshot
from ledger.domain.invoice import Invoice
from ledger.domain.payments import MoneyFact, PaymentState, in_flight_until, lives
from ledger.domain.same_moment import last_of

_TICK = timedelta(microseconds=1)


def move_money(
    world: World, fact: Fact, invoice_id: str, name: str, state: str, amount: int
) -> Outcome:
    """Note the payment or credit of that name in its new state; `amount` in minor units.

    Told again with the same amount and time it is a duplicate; with another it is news, and the
    latest word counts (ADR 0005). Of several snapshots
    with one time, a different one may now count.
    """
    invoice = world.invoice(invoice_id)
    outcome = Outcome(result="applied", invoice_id=invoice_id)
    if invoice is None:
        register_invoice(outcome, invoice_id)
    known = list(invoice.money.values()) if invoice else []
    snapshot = latest_snapshot(world, invoice)
    at = fact.time or world.now
    money = MoneyFact(name, state, amount, at)
    if fact.time is None:
        money = _news(money, known, snapshot)
    if money in known:
        outcome.result = "duplicate"
        return outcome
    note_confirmed(world, outcome, invoice)
    facts = [*known, money]
    last = snapshot
    standing = None
    if invoice is not None and snapshot is not None:
        others = (*invoice.beside, snapshot)
        last = last_of(others, facts)
        outcome.customer_id = last.customer_id
        standing = standing_after(world, invoice, last, facts, money.at)
    settled = snapshot.settled_before if snapshot else None
    flight = timedelta(days=world.policy.payment_in_flight_days)
    until = in_flight_until(facts, flight, settled)
    outcome.change(
        "invoice",
        invoice_id,
        Invoice.MoneyMoved,
        fact=money,
        standing=standing,
        in_flight_until=until if state in set(PaymentState) else None,
    )
    if invoice is not None and last is not None and last is not snapshot:
        outcome.change(
            "invoice",
            invoice_id,
            Invoice.Observed,
            snapshot=replace(last, settled_before=settled),
            standing=standing,
            beside=tuple(other for other in others if other is not last),
            in_flight_until=until,
        )
    return outcome


def _news(money: MoneyFact, known: list[MoneyFact], snapshot: Snapshot | None) -> MoneyFact:
    """A fact without a time: later than the snapshot and all that was said of that payment.

    It is the latest fact itself where it says the same once more.
    """
    (life,) = lives([fact for fact in known if fact.of == money.of]) or [[]]
    if life and (life[-1].state, life[-1].amount) == (money.state, money.amount):
        return life[-1]
    if snapshot is not None:
        money = replace(money, at=max(money.at, snapshot.holds_before))
    if life:
        money = replace(money, at=max(money.at, life[-1].at))
        (told,) = lives([*life, money])
        if told[-1] != money:
            money = replace(money, at=money.at + _TICK)
    return money
