"""Taking facts in: each fact once, in any order, with the effect it has on the aggregates (D10)."""

from collections.abc import Callable
from typing import Any

from ledger.application.commands import ApplyFact
from ledger.application.effects import NameClaim, Outcome
from ledger.application.fact_data import (
    Credited,
    CustomerHeld,
    CustomerObserved,
    CustomersMerged,
    Delivery,
    Fact,
    InvoiceHeld,
    InvoiceObserved,
    PaymentFailed,
    PaymentMoved,
    RefundReported,
    SendObserved,
    ThreadMessage,
)
from ledger.application.facts import customers, deliveries, invoices, mail
from ledger.application.facts.fact_names import fact_name
from ledger.application.world import World

_APPLY: dict[type, Callable[[World, Fact, Any], Outcome]] = {
    InvoiceObserved: invoices.observed,
    PaymentMoved: invoices.payment_moved,
    Credited: invoices.credited,
    PaymentFailed: invoices.payment_failed,
    RefundReported: invoices.refund_reported,
    InvoiceHeld: invoices.held,
    CustomerObserved: customers.observed,
    CustomerHeld: customers.held,
    CustomersMerged: customers.merged,
    ThreadMessage: mail.message_seen,
    SendObserved: mail.send_observed,
    Delivery: deliveries.delivered,
}


def apply_fact(world: World, command: ApplyFact) -> Outcome:
    """Take one fact in; `result` is applied, duplicate, stale, ignored or rejected.

    The (source, id) is claimed in the same transaction as the effect, so that a fact whose effect
    was rolled back is taken in full when it comes again (design D10).
    """
    fact = command.fact
    if fact.fact_id is not None and world.name("fact", fact_name(fact)) is not None:
        return Outcome(result="duplicate")
    outcome = _APPLY[type(fact.data)](world, fact, fact.data)
    if fact.fact_id is not None and outcome.result != "rejected":
        outcome.names.append(NameClaim("fact", fact_name(fact), outcome.result))
    return outcome
