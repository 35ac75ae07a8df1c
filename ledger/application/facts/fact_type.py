"""What the engine asks of a type of fact; each file of a type answers it with one class."""

from collections.abc import Collection, Iterable
from typing import ClassVar, Protocol, TypeVar

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.permit import Permit

Data = TypeVar("Data", bound=FactData)


class FactType(Protocol[Data]):
    """Everything that is special about the facts with this class of data."""

    data: type[Data]
    tells_of_money: ClassVar[bool] = False
    """Does it tell what somebody owes, so that reminders rest on whoever tells it?"""

    def load(self, walk: Walk, data: Data) -> None:
        """Note what `apply` and `permits` will look at, so that a batch loads it at once.

        It may guess too little: what is missing then is loaded when it is asked for, one by one.
        """

    def permits(self, world: World, data: Data) -> Iterable[Permit | None]:
        """The permits that the fact speaks of or counts; those whose time is up lapse before it.

        Raises NotLoaded where something must be loaded first.
        """
        return ()

    def as_own(self, world: World, data: Data) -> Data:
        """What is left of it where it rides along with the request of a key that tells no others.

        Raises NotLoaded where something must be loaded first.
        """
        return data

    def not_own(self, world: World, data: Data, about: Collection[str]) -> str | None:
        """What it tells beyond a request about these ids, as the end of a sentence (ADR 0014)."""
        return "of this"

    def apply(self, world: World, fact: Fact, data: Data) -> Outcome:
        """The effect; `result` is applied, duplicate, stale, ignored or rejected.

        It changes nothing itself. Raises NotLoaded where something must be loaded first.
        """
        ...
