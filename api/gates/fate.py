"""What became of the mail of one permit, and what that means for a mail with several.

A program hears a yes only where every recipient has the mail; a repeat by it reaches only those who
have it not (docs/adr/0019).
"""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol, TypeVar

from sendledger import Denied

_ASK_LATER = frozenset(
    {
        "already_redeemed",
        "expired",
        "forbidden",
        "outcome_unknown",
        "permit_held",
        "rate_limited",
        "revoked",
        "unauthorized",
    }
)
"""Codes that decide nothing about the mail yet: a repeat may be granted, or hear a final no."""


class Fate(Enum):
    """What became of the mail of one permit."""

    SENT = "sent"
    """Upstream took it, just now."""
    HAD = "had"
    """It went out before."""
    DROPPED = "dropped"
    """It was refused, and the program is not told so."""
    REFUSED = "refused"
    """It was refused for good."""
    LATER = "later"
    """Nothing is decided, or nobody knows: the program may repeat it."""


class HasFate(Protocol):
    """A result of one permit."""

    @property
    def fate(self) -> Fate:
        """What became of its mail."""
        ...

    @property
    def recipients(self) -> tuple[str, ...]:
        """Whose mail it is."""
        ...

    @property
    def text(self) -> str:
        """The code and the sentence of what went wrong."""
        ...


Some = TypeVar("Some", bound=HasFate)


def fate_of(denied: Denied, how: str) -> Fate:
    """What a denial means for the mail; `how` is `reject` or `drop`."""
    if denied.code in _ASK_LATER:
        return Fate.LATER
    if how == "drop":
        return Fate.DROPPED
    return Fate.HAD if denied.is_duplicate else Fate.REFUSED


def words_of(denied: Denied) -> str:
    """The code of a denial, and what it says."""
    return f"{denied.code}: {denied.detail or denied.title}. {denied.next_step}"


def deciding(results: Sequence[Some]) -> list[Some]:
    """The results for which the program hears a no; empty where it hears a yes."""
    found = [one for one in results if one.fate is Fate.LATER]
    found = found or [one for one in results if one.fate is Fate.REFUSED]
    is_done = any(one.fate in (Fate.SENT, Fate.DROPPED) for one in results)
    return found or ([] if is_done else list(results))


def how_many_have_it(results: Sequence[HasFate]) -> str:
    """How many of all recipients have the mail, in words."""
    out = sum(len(one.recipients) for one in results if one.fate in (Fate.SENT, Fate.HAD))
    return f"{out} of {sum(len(one.recipients) for one in results)}"
