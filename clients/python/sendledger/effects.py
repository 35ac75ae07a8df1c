"""What the core asks of its driver: calls, pauses, hand-overs. The core itself does no I/O.

A flow of the core is a generator: it yields effects and is sent what came of them. One driver
performs them with blocking calls, one with asyncio; so both clients are made from one source.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, Union

if TYPE_CHECKING:
    from sendledger.permit import Permit

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One HTTP request; `timeout` is in seconds, `number` counts the tries from 1."""

    operation: str
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    permit_id: str | None = None
    timeout: float = 10.0
    number: int = 1


@dataclass(frozen=True)
class Reply:
    """The answer to a call: `body` is its decoded JSON, None where it is none; header names are
    in lower case."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> Mapping[str, Any]:
        """The problem document, empty where the body is something else."""
        found = self.body if isinstance(self.body, dict) else {}
        return found if isinstance(found.get("code"), str) else {}


@dataclass(frozen=True)
class NoAnswer:
    """Nobody answered in time, or the connection broke; `why` is the name of the error."""

    why: str


@dataclass(frozen=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True)
class HandOver:
    """The caller's block has the permit; sent back is the error that left the block, or None."""

    permit: Permit


@dataclass(frozen=True)
class Do:
    """Call the sender's own function with the permit; its error is thrown into the flow."""

    send: Callable[[Permit], Any]
    permit: Permit


Effect = Union[Call, Pause, HandOver, Do]
Flow = Generator[Effect, Any, T]
