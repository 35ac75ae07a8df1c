"""How the model reads the times of facts: news from the future is of its arrival."""

from dataclasses import replace
from datetime import datetime, timedelta

from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_observed import InvoiceObserved


def of_arrival(now: datetime, fact: Fact) -> Fact:
    """The fact as it counts at `now` (UTC): a time more than 5 minutes ahead is none."""
    latest = now + timedelta(minutes=5)
    data = fact.data
    if isinstance(data, InvoiceObserved) and data.observed_at and data.observed_at > latest:
        data = replace(data, observed_at=None)
    return replace(fact, data=data, time=None if fact.time and fact.time > latest else fact.time)
