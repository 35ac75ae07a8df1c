"""Every order of the sample sequences, decided in memory: one state, whatever was stale on the way.

The same over HTTP, repeated and at once: tests/api/webhooks/test_sequences.py.
"""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from api.contract.cloud_events import fact_from
from api.contract.translation import Translator
from ledger.application.commands import ApplyFact
from ledger.application.facts.fact import Fact
from ledger.domain.invoice import Invoice
from tests.api.webhooks.test_sequences import SEQUENCES, Sequence
from tests.support.build import IDENTITY, POLLER, at
from tests.support.given import Scenario, given
from tests.unit.webhooks.bodies import read

AFTERWARDS, MEANWHILE = at("2027-01-15T12:00:00Z"), at("2026-10-25T18:00:00Z")


def facts_of(path: str) -> list[Fact]:
    """The facts of a sample as the ledger takes them."""
    found = [fact_from(Translator(IDENTITY), fact.cloud_event()) for fact in read(path).facts]
    return [fact for fact in found if isinstance(fact, Fact)]


def delivered(sequence: Sequence, order: tuple[str, ...], now: Any) -> Scenario:
    """A ledger that heard the events in this order, all at this moment."""
    scenario = given(now)
    for path in order:
        for fact in facts_of(path):
            scenario.when(ApplyFact(fact, POLLER))
            assert scenario.answer.result in ("applied", "stale")
    return scenario


def state_of(scenario: Scenario, sequence: Sequence, *, with_cycle: bool = True) -> Any:
    """What is owed and since when, without the events' own times and numbers."""
    invoice: Invoice = scenario.aggregate("invoice", sequence.invoice_id)
    standing = replace(invoice.standing, run_ended=False, reopened_on=None)
    if not with_cycle:
        standing = replace(standing, cycle=1)
    customer = scenario.aggregate("customer", sequence.customer_id)
    return (
        invoice.snapshot,
        standing,
        invoice.money,
        invoice.holds,
        invoice.stages,
        customer.addresses,
    )


@pytest.mark.parametrize("name", SEQUENCES)
def test_every_order_leads_to_one_state(name: str) -> None:
    sequence = SEQUENCES[name]
    clean = state_of(delivered(sequence, sequence.paths, AFTERWARDS), sequence)
    for order in permutations(sequence.paths):
        assert state_of(delivered(sequence, order, AFTERWARDS), sequence) == clean, order


@pytest.mark.parametrize(
    ("name", "numbers"), [("stripe-open", {1, 2}), ("chargebee", {1}), ("recurly-xml", {1})]
)
def test_while_it_happens_only_the_number_of_the_cycle_depends_on_the_order(
    name: str, numbers: set[int]
) -> None:
    """A past-due run that is told of only after its end was never the ledger's to count.

    The due date was moved from 21 October to 5 November. Told in order on 25 October, a run ends
    and the invoice is in its second cycle; told the other way round, the first run was never seen,
    so nothing can be on record for it and no stage can come twice.
    """
    sequence = SEQUENCES[name]
    in_order = delivered(sequence, sequence.paths, MEANWHILE)
    clean = state_of(in_order, sequence, with_cycle=False)
    cycles = set()
    for order in permutations(sequence.paths):
        scenario = delivered(sequence, order, MEANWHILE)
        assert state_of(scenario, sequence, with_cycle=False) == clean, order
        cycles.add(scenario.aggregate("invoice", sequence.invoice_id).standing.cycle)
    assert cycles == numbers
