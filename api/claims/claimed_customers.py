"""Customers that claims of this process have taken; other claims leave them out.

So two concurrent pollers share the due customers, and a claim need not wait until the read models
have processed earlier claims. This is an optimisation only: the guards decide about each permit.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ledger.application.ports import StoreUnavailable


@dataclass(frozen=True, slots=True)
class Skipped:
    """Customers that a claim must leave out.

    `until` is the log position at which the read models include the latest permit of those that
    another claim got a permit for; None where there are none.
    """

    customers: list[str]
    until: int | None


class ClaimedCustomers:
    """Customers being decided, and customers whose new permit may be missing in the read models.

    At most `at_once` claims run at a time: more would fill the engine's queue, which all requests
    share. At most `most` permits missing in the read models are remembered; when `full`, a claim
    must wait for the read models. `patience` is in seconds.
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
        """True where no more permits can be remembered."""
        return len(self.unseen) >= self._most

    def forget(self, position: int) -> None:
        """Forget the permits up to this log position: the read models have them now."""
        self.unseen = {c: p for c, p in self.unseen.items() if p > position}

    def to_skip(self, besides: Collection[str] = ()) -> Skipped:
        """The customers to leave out: `besides`, which are the claim's own, and other claims'."""
        until = max((p for c, p in self.unseen.items() if c not in besides), default=None)
        return Skipped([*besides, *self.asked.difference(besides), *self.unseen], until)

    @asynccontextmanager
    async def one_of_few(self) -> AsyncIterator["Claim"]:
        """Start a claim once fewer than `at_once` claims run.

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
        """The lock around `to_skip`, the query and `Claim.asks`.

        Without it two claims would find the same customers. Raises StoreUnavailable where other
        claims hold it longer than `patience` seconds.
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
        """Mark these customers as being decided."""
        these = set(customers)
        self._mine |= these
        self._claimed.asked |= these

    def answered(self, customer: str, granted_at: int | None) -> None:
        """Record a customer's decision; `granted_at`: the permit's log position, None if denied."""
        self._mine.discard(customer)
        self._claimed.asked.discard(customer)
        if granted_at is not None and not self._claimed.full:
            self._claimed.unseen[customer] = granted_at

    def close(self) -> None:
        """Release the customers that were not decided, so that other claims may take them.

        If one of them did get a permit, the guards deny the other claim's request.
        """
        self._claimed.asked -= self._mine
