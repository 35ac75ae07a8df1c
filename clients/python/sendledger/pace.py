"""How long to ask, and how long to wait between two tries: deadlines, jitter, Retry-After."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from sendledger.effects import NoAnswer, Reply
from sendledger.times import retry_after

_AGAIN = frozenset({408, 502, 503, 504})
"""Statuses that say that nothing was decided, also from a proxy in between."""


@dataclass(frozen=True)
class Pace:
    """Times in seconds.

    `deadline`: how long one question may take with all its tries; `report_deadline` the same for a
    report; `per_call`: how long one try may; `first_pause` and `most_pause` bound the waits between
    tries, which are drawn at random so that many clients do not ask at once.
    """

    deadline: float = 30.0
    report_deadline: float = 30.0
    per_call: float = 10.0
    first_pause: float = 0.1
    most_pause: float = 5.0
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random

    def wait(self, answer: Reply | NoAnswer, number: int) -> float | None:
        """Seconds until the next try after try `number`; None where the answer is final.

        A 429 is a denial, unless it is about the key asking too fast.
        """
        backoff = min(self.most_pause, self.first_pause * 2.0 ** min(number, 16)) * self.draw()
        if isinstance(answer, NoAnswer):
            return backoff
        too_fast = answer.status == 429 and answer.problem.get("code") in (None, "rate_limited")
        if answer.status not in _AGAIN and not too_fast:
            return None
        told = retry_after(answer.headers)
        return backoff if told is None else told + self.first_pause * self.draw()


class Deadline:
    """A point in time until which tries may begin."""

    def __init__(self, pace: Pace, seconds: float) -> None:
        self._clock, self._end = pace.clock, pace.clock() + seconds

    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(0.0, self._end - self._clock())
