"""Customers whom claims of this process have asked for: other claims pass them over.

So two pollers at once share what is due, and no claim waits for the read models to take in the
claims before it. Only a convenience: whether a permit is given is decided by the guards.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ledger.application.ports import StoreUnavailable


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Customers whom a claim does not ask for.

    Some have a permit that the read models may not tell of before `until`, a position (None: nobody
    has); the others are being decided.
    """

    customers: list[str]
    until: int | None


class ClaimedCustomers:
    """Those who are being decided, and those with a permit that the read models may not know yet.

    The first are bounded by the engine's queue; where there are `many` of the second, a claim must
    wait for the read models and `forget` them.
    """

    def __init__(self, most: int = 4_096, patience: float = 5.0) -> None:
        self.asked: set[str] = set()
        self.granted: dict[str, int] = {}
        self._most = most
        self._patience = patience
        self._one_at_a_time = asyncio.Lock()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """From `pass_over` until `Claim.asks` no other claim: else two would find the same ones.

        Raises StoreUnavailable where others take longer than `patience` seconds.
        """
        try:
            async with asyncio.timeout(self._patience):
                await self._one_at_a_time.acquire()
        except TimeoutError:
            raise StoreUnavailable("other claims are waiting for the database") from None
        try:
            yield
        finally:
            self._one_at_a_time.release()

    @property
    def many(self) -> bool:
        """Are there more with a permit than a claim should pass over?"""
        return len(self.granted) >= self._most

    def forget(self, position: int) -> None:
        """The read models tell of what the log told up to this position."""
        self.granted = {c: p for c, p in self.granted.items() if p > position}

    def pass_over(self) -> PassedOver:
        """Who is being decided, and who has just got a permit."""
        until = max(self.granted.values(), default=None)
        return PassedOver([*self.asked, *self.granted], until)


class Claim:
    """The customers of one claim; closed when it has ended, however it did."""

    def __init__(self, claimed: ClaimedCustomers) -> None:
        self._claimed = claimed
        self._mine: set[str] = set()

    def asks(self, customers: Iterable[str]) -> None:
        """From now on these are being decided."""
        these = set(customers)
        self._mine |= these
        self._claimed.asked |= these

    def granted(self, customer: str, position: int) -> None:
        """This one has a permit; the log tells of it at this position."""
        self.denied(customer)
        self._claimed.granted[customer] = position

    def denied(self, customer: str) -> None:
        """This one has none."""
        self._mine.discard(customer)
        self._claimed.asked.discard(customer)

    def close(self, position: int) -> None:
        """Nobody waits for answers any more; what may come of them the log tells after `position`.

        The next commit has it, if any has.
        """
        for customer in list(self._mine):
            self.granted(customer, position + 1)
