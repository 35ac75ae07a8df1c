"""Whom a claim asks for: customers who can be mailed now, a slice at a time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime

from api.claimed_customers import Claim
from api.context import Context
from ledger.application.ports import Need
from projections.due import READ_MODELS, ReadyCustomer, ReadyPage, ready

_SLICE = 500
"""So many customers of a claim are decided together, at most."""
_FIRST = 250
"""So many while nothing else is decided: what is read of the rest meanwhile costs no time."""


@dataclass(slots=True)
class _Search:
    """What one claim looks for, and whom it has found.

    `until` is where the log tells of all who were passed over at last because they had just got a
    permit; None where nobody was.
    """

    context: Context
    claim: Claim
    stage: str | None
    wanted: int
    now: datetime
    seen: set[str] = field(default_factory=set)
    until: int | None = None


async def ready_slices(
    context: Context, claim: Claim, stage: str | None, limit: int
) -> AsyncGenerator[list[ReadyCustomer], None]:
    """Up to `limit` customers with what is due of theirs, each once and none of another claim's.

    Who has more due than one mail may name can be in a later slice again; one claim makes one mail
    for them all the same. Where there are too few, the read models are waited for, and those are
    looked at again who had just got a permit: more may be due of theirs.
    """
    search = _Search(context, claim, stage, limit, await _caught_up(context))
    for _ in range(2):
        async with aclosing(_slices(search)) as slices:
            async for found in slices:
                yield found
        if search.wanted <= 0 or search.until is None:
            return
        await _read_models_at(context, min(search.until, context.engine.position))
        context.claimed.forget(search.until)


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
            if coming is not None and not coming.done():
                coming.cancel()
                with suppress(asyncio.CancelledError):
                    await coming


async def _read(search: _Search, cursor: str | None) -> ReadyPage:
    """Those not found before. One claim reads at a time, so that each finds what others left."""
    claimed = search.context.claimed
    size = _SLICE if search.context.engine.waiting else _FIRST
    async with claimed.alone():
        passed_over = claimed.pass_over()
        async with search.context.connections.use() as connection:
            page = await ready(
                connection,
                now=search.now,
                policy=search.context.policy,
                stage=search.stage,
                limit=min(search.wanted, size),
                cursor=cursor,
                passing_over=passed_over.customers,
            )
        fresh = [customer for customer in page.items if customer.customer_id not in search.seen]
        search.claim.asks(customer.customer_id for customer in fresh)
    search.seen.update(customer.customer_id for customer in fresh)
    search.wanted -= len(fresh)
    search.until = passed_over.until
    return ReadyPage(fresh, page.next)


async def _caught_up(context: Context) -> datetime:
    """Wait until the read models tell of all but what claims of this process did; the time (UTC).

    What another process has written is waited for, whatever it is.
    """
    found = await context.reader.load(Need())
    engine, claimed = context.engine, context.claimed
    position = found.position
    if position <= engine.position and not claimed.many:
        position = min(position, engine.only_claims_since)
    await _read_models_at(context, position)
    return found.now


async def _read_models_at(context: Context, position: int) -> None:
    """Wait until the read models are there; where that takes too long, do with what they tell."""
    projector, claimed = context.projector, context.claimed
    await projector.wait_for(position, context.settings.read_wait, READ_MODELS)
    claimed.forget(max(position, projector.passed(READ_MODELS)))
