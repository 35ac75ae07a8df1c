"""Whom a claim asks for: customers who can be mailed now, a slice at a time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from api.claims.claimed_customers import Claim
from api.claims.parts import ClaimParts
from ledger.application.ports import Need
from projections.due import READ_MODELS, ReadyCustomer, ReadyPage, ready

_SLICE = 250
"""So many customers of a claim are decided together."""


@dataclass(slots=True)
class _Search:
    """What one claim looks for, and whom it has found.

    `until` is where the log tells of all whom it passed over because another claim had just got a
    permit for them; None where there was nobody.
    """

    parts: ClaimParts
    claim: Claim
    stage: str | None
    wanted: int
    now: datetime
    found: set[str] = field(default_factory=set)
    until: int | None = None


async def ready_slices(
    parts: ClaimParts, claim: Claim, stage: str | None, limit: int
) -> AsyncGenerator[list[ReadyCustomer], None]:
    """Up to `limit` customers with what is due of theirs, each once and none of another claim's.

    Where there are too few, the read models are waited for, and those are looked at again for whom
    another claim had just got a permit: more may be due of theirs.
    """
    search = _Search(parts, claim, stage, limit, await _caught_up(parts))
    for first in (True, False):
        async with aclosing(_slices(search)) as slices:
            async for customers in slices:
                yield customers
        if search.wanted <= 0 or search.until is None or not first:
            return
        await _read_models_at(parts, search.until)


async def _slices(search: _Search) -> AsyncGenerator[list[ReadyCustomer], None]:
    """Once through what is due. The next slice is read while the one before is decided."""
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
    """One claim looks at a time, so that each finds what the ones before it left."""
    claimed = search.parts.claimed
    async with claimed.alone():
        claimed.forget(search.parts.projector.passed(READ_MODELS))
        passed_over = claimed.pass_over(search.found)
        async with search.parts.connections.use() as connection:
            page = await ready(
                connection,
                now=search.now,
                policy=search.parts.policy,
                stage=search.stage,
                limit=min(search.wanted, _SLICE),
                cursor=cursor,
                passing_over=passed_over.customers,
            )
        names = [customer.customer_id for customer in page.items]
        search.claim.asks(names)
    search.found.update(names)
    search.wanted -= len(names)
    if passed_over.until is not None:
        # Never an earlier one: the latest permit is forgotten last.
        search.until = passed_over.until
    return page


async def _caught_up(parts: ClaimParts) -> datetime:
    """Wait until the read models tell of all but what claims of this process did; the time (UTC).

    What another process has written is waited for, whatever it is.
    """
    found = await parts.reader.load(Need())
    position = found.position
    if position <= parts.engine.position and not parts.claimed.full:
        position = min(position, parts.engine.only_claims_since)
    await _read_models_at(parts, position)
    return found.now


async def _read_models_at(parts: ClaimParts, position: int) -> None:
    """Wait until the read models are there; where that takes too long, do with what they tell."""
    await parts.projector.wait_for(position, parts.read_wait, READ_MODELS)
