"""The name under which a fact is known, for dedupe (design D10)."""

from ledger.application.facts.fact import Fact


def fact_name(fact: Fact) -> str:
    """The name under which (source, id) is claimed, so that no two pairs look the same."""
    return f"{len(fact.source)}:{fact.source}{fact.fact_id}"
