"""What an API key is limited to: the kinds, stages, intents and customers that it may ask for.

A key without limits has None in place of these: to ask whether it has any is one attribute check.
"""

from collections.abc import Collection, Iterable
from enum import Enum
from typing import Self

from ledger.domain.permit import DUNNING
from ledger.domain.value import value

ANY_END = "*"
"""At the end of a customer's name in the limits: every id that begins like this."""


class GoesWith(Enum):
    """The limit that a kind of mail goes with: a key that has it, and no kinds, may ask for it."""

    STAGES = "stages"
    INTENTS = "intents"


@value
class KeyLimits:
    """The limits of one key; None for any of them means that it has no such limit.

    `customers` are ids, or beginnings of ids that end with `*`. A key that does not read addresses
    is answered null where an address would be.
    """

    kinds: frozenset[str] | None = None
    stages: frozenset[str] | None = None
    intents: frozenset[str] | None = None
    customers: tuple[str, ...] | None = None
    reads_addresses: bool = True

    @classmethod
    def of(
        cls,
        *,
        kinds: Collection[str] | None = None,
        stages: Collection[str] | None = None,
        intents: Collection[str] | None = None,
        customers: Collection[str] | None = None,
        reads_addresses: bool = True,
    ) -> Self | None:
        """The limits that a key was made with, None where it has none."""
        if kinds is stages is intents is customers is None and reads_addresses:
            return None
        return cls(
            None if kinds is None else frozenset(kinds),
            None if stages is None else frozenset(stages),
            None if intents is None else frozenset(intents),
            None if customers is None else tuple(customers),
            reads_addresses,
        )

    def allows_kind(self, kind: str, goes_with: GoesWith | None) -> bool:
        """May it ask for this kind of mail?

        A key that names stages or intents, and no kinds, may ask for what goes with them alone:
        an agent with its intents must not send reminders or notifications besides.
        """
        if self.kinds is not None:
            return kind in self.kinds
        named = {GoesWith.STAGES: self.stages, GoesWith.INTENTS: self.intents}
        if self.stages is None and self.intents is None:
            return True
        return goes_with is not None and named[goes_with] is not None

    def allows_dunning(self) -> bool:
        """May it ask for reminders, and so see what is due?"""
        return self.allows_kind(DUNNING, GoesWith.STAGES)

    def allows_stage(self, stage: str) -> bool:
        """May it ask for this dunning stage?"""
        return self.stages is None or stage in self.stages

    def allows_intent(self, intent: str) -> bool:
        """May it ask for a message of this intent?"""
        return self.intents is None or intent in self.intents

    def allows_customer(self, ids: Iterable[str]) -> bool:
        """May it mail a customer of these ids, the present one and those merged into it?"""
        if self.customers is None:
            return True
        return any(_fits(limit, id_) for id_ in ids for limit in self.customers)

    def allows_job(self, key_name: str, job: str) -> bool:
        """May it have the lease of this job? One of its own: named as the key is, or `name:…`.

        Any other name may be the job of another program, which it would keep from working.
        """
        return job == key_name or job.startswith(f"{key_name}:")


def _fits(limit: str, customer_id: str) -> bool:
    if limit.endswith(ANY_END):
        return customer_id.startswith(limit[: -len(ANY_END)])
    return customer_id == limit
