"""A finding: what is wrong with a ledger, or worth knowing, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["wrong", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` is stable, `what` and `advice` are sentences for a person.

    `wrong` waits for somebody; a `note` explains what is seen.
    """

    code: str
    level: Level
    what: str
    advice: str


def wrong(code: str, what: str, advice: str) -> Finding:
    """A finding that waits for somebody."""
    return Finding(code, "wrong", what, advice)
