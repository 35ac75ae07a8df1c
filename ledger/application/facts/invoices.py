"""What facts about invoices share: an invoice that is new, and where it stands."""

from datetime import datetime, timedelta

from ledger.application.effects import Outcome
from ledger.application.world import World
from ledger.domain.balance import Snapshot
from ledger.domain.cycles import next_standing
from ledger.domain.invoice import Invoice, Standing
from ledger.domain.payments import MoneyFact, in_flight_until

_MOST_SUBSCRIPTIONS = 100
"""Subscriptions that are kept of one invoice."""


def register_invoice(outcome: Outcome, invoice_id: str) -> None:
    """Add the invoice to the ledger, unless this outcome has done so already."""
    outcome.register("invoice", invoice_id, Invoice.Created, Invoice.TOPIC, invoice_id=invoice_id)


def name_subscription(
    world: World, outcome: Outcome, invoice_id: str, subscription_id: str
) -> None:
    """Put on record that the invoice bills the subscription, unless that is known."""
    invoice = world.invoice(invoice_id)
    known = invoice.subscriptions if invoice is not None else ()
    if subscription_id in known or len(known) >= _MOST_SUBSCRIPTIONS:
        return
    if invoice is None:
        register_invoice(outcome, invoice_id)
    outcome.change(
        "invoice", invoice_id, Invoice.SubscriptionNamed, subscription_id=subscription_id
    )


def standing_after(
    world: World,
    invoice: Invoice | None,
    snapshot: Snapshot,
    money: list[MoneyFact] | None,
    at: datetime,
) -> Standing:
    """Where the invoice stands with this snapshot and money; None for money: what is on record.

    `at` is the time of the news (UTC).
    """
    if money is None:
        money = list(invoice.money.values()) if invoice else []
    policy = world.policy
    return next_standing(
        invoice,
        snapshot,
        money,
        at,
        world.now,
        policy.time_zone,
        policy.age_from_issue_without_due_date,
    )


def confirm_snapshot(world: World, outcome: Outcome, invoice: Invoice, latest: Snapshot) -> None:
    """The snapshot on record was told once more: `latest` is it as of then; nothing else moves."""
    flight = timedelta(days=world.policy.payment_in_flight_days)
    outcome.change(
        "invoice",
        invoice.invoice_id,
        Invoice.Observed,
        snapshot=latest,
        standing=invoice.standing,
        beside=(),
        in_flight_until=in_flight_until(invoice.money.values(), flight, latest.settled_before),
    )


def take_snapshot(
    world: World,
    outcome: Outcome,
    invoice_id: str,
    snapshot: Snapshot,
    beside: tuple[Snapshot, ...],
    money: list[MoneyFact] | None = None,
) -> None:
    """Let a snapshot stand; `beside` are the others of its moment, `money` as in standing_after."""
    invoice = world.invoice(invoice_id)
    if money is None:
        money = list(invoice.money.values()) if invoice else []
    flight = timedelta(days=world.policy.payment_in_flight_days)
    outcome.change(
        "invoice",
        invoice_id,
        Invoice.Observed,
        snapshot=snapshot,
        standing=standing_after(world, invoice, snapshot, money, snapshot.observed_at),
        beside=beside,
        in_flight_until=in_flight_until(money, flight, snapshot.settled_before),
    )
