"""Selects the customers for a claim: those who can be mailed now, read in slices."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from api.claims.claimed_customers import Claim
from api.claims.parts import ClaimParts
from ledger.application.key_limits import KeyLimits
from ledger.application.ports import Need
from projections.due import READ_MODELS, ReadyCustomer, ReadyPage, ready

_SLICE = 250
"""The maximum number of customers in a slice; one slice is decided together."""


@dataclass(slots=True)
class _Search:
    """The state of one claim's search.

    `until` is the log position of the latest permit among the customers that were left out because
    another claim had just got a permit for them; None where there were none.
    """

    parts: ClaimParts
    claim: Claim
    stage: str | None
    wanted: int
    limits: KeyLimits | None
    now: datetime
    found: set[str] = field(default_factory=set)
    until: int | None = None


async def ready_slices(
    parts: ClaimParts, claim: Claim, stage: str | None, limit: int, limits: KeyLimits | None = None
) -> AsyncGenerator[list[ReadyCustomer], None]:
    """Yield up to `limit` customers with their due invoices, each once, none of another claim's.

    `limits` are those of the key that claims.

    If there are fewer, wait for the read models and search once more: customers whose permits
    other claims just got may have more due invoices.
    """
    search = _Search(parts, claim, stage, limit, limits, await _caught_up(parts))
    for first in (True, False):
        async with aclosing(_slices(search)) as slices:
            async for customers in slices:
                yield customers
        if search.wanted <= 0 or search.until is None or not first:
            return
        await _read_models_at(parts, search.until)


async def _slices(search: _Search) -> AsyncGenerator[list[ReadyCustomer], None]:
    """Read the list of due customers once; the next slice is read while one is decided."""
    page = await _read(search, None)
    while True:
        coming = None
        if page.next is not None and search.wanted > 0:
            coming = asyncio.create_task(_read(search, page.next))
        try:
            yield page.items
            if coming is None:
                return
            page = await coming
        finally:
            if coming is not None:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)


async def _read(search: _Search, cursor: str | None) -> ReadyPage:
    """Read a slice and mark its customers as taken; under a lock, so that claims do not overlap."""
    claimed = search.parts.claimed
    async with claimed.alone():
        claimed.forget(search.parts.projector.passed(READ_MODELS))
        skipped = claimed.to_skip(search.found)
        async with search.parts.connections.use() as connection:
            page = await ready(
                connection,
                now=search.now,
                policy=search.parts.policy,
                stage=search.stage,
                limit=min(search.wanted, _SLICE),
                cursor=cursor,
                passing_over=skipped.customers,
                limits=search.limits,
            )
        names = [customer.customer_id for customer in page.items]
        search.claim.asks(names)
    search.found.update(names)
    search.wanted -= len(names)
    if skipped.until is not None:
        # Never a lower position than before: the latest permit is forgotten last.
        search.until = skipped.until
    return page


async def _caught_up(parts: ClaimParts) -> datetime:
    """Wait for the read models to process the log; returns the ledger's time (UTC).

    Events at its end that come only from claims of this process are not waited for: those
    customers are remembered here. Events of other processes are always waited for.
    """
    found = await parts.reader.load(Need())
    position = found.position
    if position <= parts.engine.position and not parts.claimed.full:
        position = min(position, parts.engine.only_claims_since)
    await _read_models_at(parts, position)
    return found.now


async def _read_models_at(parts: ClaimParts, position: int) -> None:
    """Wait, at most `read_wait` seconds, until the read models have reached the position."""
    await parts.projector.wait_for(position, parts.read_wait, READ_MODELS)
