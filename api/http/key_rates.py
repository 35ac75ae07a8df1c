"""How many requests one key may have at once and in a second, so that others are answered too."""

import math
from dataclasses import dataclass, replace

from api.contract.problems import problem_answer
from api.settings.greedy_callers import PerKey
from ledger.application.answers import Answer
from ledger.application.clock import stopwatch

_MOST_KEYS = 10_000


@dataclass(slots=True)
class _Use:
    """What a key has used: requests being answered, and tokens left at a time (seconds)."""

    running: int
    tokens: float
    at: float


class KeyRates:
    """Counts the requests of each key; a token bucket holds as many as a second has."""

    def __init__(self, limits: PerKey | None = None) -> None:
        self.limits = limits or PerKey()
        self._used: dict[str, _Use] = {}

    def enter(self, key_id: str, now: float | None = None) -> Answer | None:
        """Count a request, which `leave` must end; else the 429 that answers it.

        `now` is the stopwatch's time in seconds.
        """
        limits, at = self.limits, stopwatch() if now is None else now
        use = self._used.get(key_id)
        if use is None:
            use = self._begin(key_id, at)
        else:
            earned = (at - use.at) * limits.a_second
            use.tokens = min(use.tokens + earned, float(limits.a_second))
            use.at = at
        if use.tokens < 1:
            wait = max(1, math.ceil((1 - use.tokens) / limits.a_second))
            detail = f"this key may ask {limits.a_second} times a second"
            return _refusal(detail, "requests", f"q={limits.a_second};w=1", wait)
        if use.running >= limits.at_once:
            detail = f"{limits.at_once} requests of this key are being answered"
            return _refusal(detail, "concurrent", f"q={limits.at_once}", 1)
        use.tokens -= 1
        use.running += 1
        return None

    def leave(self, key_id: str) -> None:
        """A counted request has been answered."""
        self._used[key_id].running -= 1

    def _begin(self, key_id: str, at: float) -> _Use:
        if len(self._used) >= _MOST_KEYS:
            self._used = {key: use for key, use in self._used.items() if use.running}
        use = self._used[key_id] = _Use(0, float(self.limits.a_second), at)
        return use


def _refusal(detail: str, name: str, policy: str, wait: int) -> Answer:
    """The 429, with the fields of draft-ietf-httpapi-ratelimit-headers-10."""
    headers = (
        ("Retry-After", str(wait)),
        ("RateLimit-Policy", f'"{name}";{policy}'),
        ("RateLimit", f'"{name}";r=0;t={wait}'),
    )
    return replace(problem_answer("rate_limited", detail), headers=headers)
