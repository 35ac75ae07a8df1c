"""Taking facts in: each fact once, in any order, whatever its type (design D10)."""

from ledger.application.commands import ApplyFact
from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.arrival import as_of_arrival, clock_ahead
from ledger.application.facts.fact import RIDING, Fact
from ledger.application.facts.fact_names import fact_name
from ledger.application.facts.registry import FACT_TYPES
from ledger.application.feeds import note_heard
from ledger.application.walk import Walk
from ledger.application.world import World


def load_fact(walk: Walk, fact: Fact) -> None:
    """Note everything that this fact leads to."""
    if fact.fact_id is not None:
        walk.name("fact", fact_name(fact))
    FACT_TYPES[type(fact.data)].load(walk, fact.data)


def lapsed_by_fact(world: World, fact: Fact) -> list[str]:
    """The permits that a fact speaks of, or counts, and whose time is up (design D6)."""
    found = FACT_TYPES[type(fact.data)].permits(world, fact.data)
    due = (p.permit_id for p in found if p is not None and p.lapsed_state(world.now) is not None)
    return list(dict.fromkeys(due))


def apply_fact(world: World, command: ApplyFact) -> Outcome:
    """Take one fact in; `result` is applied, duplicate, stale, ignored or rejected.

    The (source, id) is claimed in the same transaction as the effect, so that a fact whose effect
    was rolled back is taken in full when it comes again. News from the future is taken as of its
    arrival (design D10).
    """
    outcome = _take(world, command)
    note_heard(world, outcome, command.fact.source)
    return outcome


def _take(world: World, command: ApplyFact) -> Outcome:
    fact = command.fact
    if fact.fact_id is not None and world.name("fact", fact_name(fact)) is not None:
        return Outcome(result="duplicate")
    taken = as_of_arrival(world, fact)
    outcome = FACT_TYPES[type(taken.data)].apply(world, taken, taken.data)
    if taken is not fact and outcome.result != "rejected":
        outcome.alerts.append(clock_ahead(world, source_of(command)))
    if fact.fact_id is not None and outcome.result != "rejected":
        outcome.names.append(NameClaim("fact", fact_name(fact), outcome.result))
    return outcome


def source_of(command: ApplyFact) -> str:
    """Who told the fact: its source, or for what rides along with a request whoever asked."""
    riding = command.fact.source == RIDING
    return f"{RIDING}:{command.caller.name}" if riding else command.fact.source
