"""What a torture run heard and did, and what was wrong with it."""

from collections import Counter
from dataclasses import dataclass, field

from tests.torture.history import Heard, Log


@dataclass(slots=True)
class Verdict:
    """The breaches of one run, or of several added up, and how much was tried."""

    breaches: list[str]
    answers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    grants: int = 0
    handed_over: int = 0

    def __add__(self, other: "Verdict") -> "Verdict":
        return Verdict(
            self.breaches + other.breaches,
            self.answers + other.answers,
            self.faults + other.faults,
            self.grants + other.grants,
            self.handed_over + other.handed_over,
        )


def verdict(breaches: list[str], heard: list[Heard], log: Log, faults: Counter[str]) -> Verdict:
    """The breaches, and the figures of the run."""
    return Verdict(
        breaches,
        Counter(f"{one.act} {one.status} {one.code or ''}".rstrip() for one in heard),
        faults,
        len(log.granted),
        sum(one.act == "handed over" for one in heard),
    )
