"""What a billing system knows, told late, twice and in any order, is what the ledger knows (D10).

`make test` draws some hundred histories. The long run, of as many as the variable says:
HYPOTHESIS_PROFILE=deep LEDGER_MONEY_HISTORIES=20000 \
    .venv/bin/python -m pytest -q tests/property/test_money_histories.py
"""

import os
from datetime import timedelta

from hypothesis import event, given, settings

from ledger.domain.balance import Status
from ledger.domain.invoice import Invoice
from ledger.domain.policy import Policy
from tests.support.billing import LONGEST, TOTAL
from tests.support.build import at
from tests.support.given import Scenario
from tests.support.money_histories import History, Truth, histories

NOW = at("2026-12-20T12:00:00Z")
HISTORIES = int(os.environ.get("LEDGER_MONEY_HISTORIES", "150"))


@settings(max_examples=HISTORIES)
@given(history=histories(NOW - timedelta(days=30)))
def test_the_ledger_knows_what_the_billing_system_knows(history: History) -> None:
    scenario = Scenario(Policy(), NOW)
    arrived: set[str | None] = set()
    knowable = history.unbroken
    for part, truth in zip(history.parts, history.truths, strict=True):
        for told in part:
            scenario.when(told)
            arrived.add(told.fact_id)
            knowable = knowable and not history.lacks_an_earlier_return(arrived)
            holds_at_any_time(scenario.aggregate("invoice", "inv_1"), knowable)
        is_as(scenario.aggregate("invoice", "inv_1"), truth)
    event(f"{len(history.parts)} complete prefixes")
    event("an unbroken debt" if history.unbroken else "a debt that ended")


def holds_at_any_time(invoice: Invoice, knowable: bool) -> None:
    """Whatever is missing: never more than the bill, and no new cycle for an unbroken debt.

    That a debt is unbroken cannot be known while money that came back is told of and money that
    came back before it is not: what was told is a debt that was paid and began again.
    """
    standing = invoice.standing
    assert 0 <= standing.balance <= TOTAL
    if knowable:
        assert standing.cycle == 1


def is_as(invoice: Invoice, truth: Truth) -> None:
    """All that happened so far was told: the ledger stands as the billing system does."""
    standing = invoice.standing
    assert standing.status is truth.status
    if truth.status not in (Status.DRAFT, Status.VOID):
        assert standing.balance == truth.remaining
    if truth.flight_is_told and truth.status is Status.OPEN:
        assert invoice.in_flight_until(LONGEST) == truth.in_flight_until
