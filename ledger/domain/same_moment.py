"""Which of several snapshots of one moment is the last: the one that explains the others."""

from collections.abc import Iterable, Sequence
from itertools import permutations

from ledger.domain.balance import Snapshot, Status
from ledger.domain.payments import MoneyFact, lives, moves, paid_at_first

MOST_KEPT = 16
"""Snapshots of one moment that are kept beside each other; of more, those that ask for less."""
_MOST_MOVES = 5
"""Movements of one second whose orders are all tried: 120 orders."""
_ADVANCEMENT = (Status.OPEN, Status.UNCOLLECTIBLE, Status.PAID)


def kept(known: Sequence[Snapshot], other: Snapshot) -> tuple[Snapshot, ...]:
    """The snapshots of one moment with another one; of two that say alike the newcomer stays."""
    said = {(s.status, s.amount_remaining): s for s in (*known, other)}
    if len(said) <= MOST_KEPT:
        return tuple(said.values())
    return tuple(sorted(said.values(), key=lambda s: s.owed)[:MOST_KEPT])


def last_of(snapshots: Sequence[Snapshot], facts: Iterable[MoneyFact]) -> Snapshot:
    """The last of the snapshots of one moment, whatever the order in which they came (ADR 0005).

    A void invoice stays void, and no invoice becomes a draft again. Else the last one is that from
    which the payments and credits of that moment, in some order, lead through most of what the
    others say. Where that leaves a choice it is the smaller balance, then the more advanced status.
    """
    if len(snapshots) == 1:
        return snapshots[0]
    void = [s for s in snapshots if s.status is Status.VOID]
    if void:
        return min(void, key=lambda s: s.owed)
    told = [s for s in snapshots if s.status is not Status.DRAFT]
    if not told:
        return max(snapshots, key=lambda s: s.owed)
    amounts = {s.base for s in told}
    changes = _changes_within(told[0], facts) if len(amounts) > 1 else []
    explained = {amount: _most_explained(amount, amounts, changes) for amount in amounts}
    return min(told, key=lambda s: (-explained[s.base], s.owed, -_ADVANCEMENT.index(s.status)))


def _changes_within(snapshot: Snapshot, facts: Iterable[MoneyFact]) -> list[int]:
    """What moved the balance within the moment of a snapshot; nothing can in a mere instant."""
    start = snapshot.observed_at.replace(microsecond=0)
    return [
        change
        for life in lives(facts)
        for fact, change in moves(life, paid_at_first(life))
        if change and start <= fact.at < snapshot.holds_before and snapshot.whole_second
    ]


def _most_explained(last: int, amounts: set[int], changes: list[int]) -> int:
    """How many of the amounts are passed on the way to `last`, in the order that passes most."""
    if len(changes) > _MOST_MOVES:
        changes = [sum(changes)]
    first = last - sum(changes)
    return max(_passed(first, order, amounts) for order in permutations(changes))


def _passed(first: int, order: tuple[int, ...], amounts: set[int]) -> int:
    passed, amount = {first}, first
    for change in order:
        amount += change
        passed.add(amount)
    return len(passed & amounts)
