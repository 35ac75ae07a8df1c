"""Customers whom claims of this process have asked for: other claims pass them over.

So two pollers at once share what is due, and no claim waits for the read models to take in the
claims before it. Only a convenience: whether a permit is given is decided by the guards.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ledger.application.ports import StoreUnavailable


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Customers whom a claim does not ask for.

    `until` is the position from which on the read models tell of those among them who have got a
    permit; None where there are none.
    """

    customers: list[str]
    until: int | None


class ClaimedCustomers:
    """Those who are being decided, and those with a permit that the read models may not know yet.

    Few claims run at a time: more would fill the engine's queue, which is there for everybody. Of
    permits that the read models do not know at most `most` are remembered; where it is `full`, a
    claim must wait for the read models.
    """

    def __init__(self, *, at_once: int = 4, most: int = 4_096, patience: float = 5.0) -> None:
        self.asked: set[str] = set()
        self.unseen: dict[str, int] = {}
        self._most = most
        self._patience = patience
        self._places = asyncio.Semaphore(at_once)
        self._looking = asyncio.Lock()

    @property
    def full(self) -> bool:
        """Can no more permits be remembered?"""
        return len(self.unseen) >= self._most

    def forget(self, position: int) -> None:
        """The read models tell of what the log told up to this position."""
        self.unseen = {c: p for c, p in self.unseen.items() if p > position}

    def pass_over(self, besides: Collection[str] = ()) -> PassedOver:
        """Whom to leave out: those `besides`, the claim's own, and those of other claims."""
        until = max((p for c, p in self.unseen.items() if c not in besides), default=None)
        return PassedOver([*besides, *self.asked.difference(besides), *self.unseen], until)

    @asynccontextmanager
    async def one_of_few(self) -> AsyncIterator["Claim"]:
        """A claim, once there is a place for it.

        Raises StoreUnavailable where that takes longer than `patience` seconds.
        """
        async with self._held(self._places):
            claim = Claim(self)
            try:
                yield claim
            finally:
                claim.close()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """From `pass_over` until `Claim.asks` no other claim: else two would find the same ones.

        Raises StoreUnavailable where others take longer than `patience` seconds.
        """
        async with self._held(self._looking):
            yield

    @asynccontextmanager
    async def _held(self, lock: asyncio.Lock | asyncio.Semaphore) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._patience):
                await lock.acquire()
        except TimeoutError:
            raise StoreUnavailable("too many claims at once; ask again") from None
        try:
            yield
        finally:
            lock.release()


class Claim:
    """The customers of one claim."""

    def __init__(self, claimed: ClaimedCustomers) -> None:
        self._claimed = claimed
        self._mine: set[str] = set()

    def asks(self, customers: Iterable[str]) -> None:
        """From now on these are being decided."""
        these = set(customers)
        self._mine |= these
        self._claimed.asked |= these

    def answered(self, customer: str, granted_at: int | None) -> None:
        """This one was decided: a permit, of which the log tells at that position, or none."""
        self._mine.discard(customer)
        self._claimed.asked.discard(customer)
        if granted_at is not None and not self._claimed.full:
            self._claimed.unseen[customer] = granted_at

    def close(self) -> None:
        """Nobody waits for the rest any more: other claims may ask for them.

        Should one of them have got a permit all the same, the guards tell that claim.
        """
        self._claimed.asked -= self._mine
