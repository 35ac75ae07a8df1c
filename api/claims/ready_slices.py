"""Selects the customers for a claim: those who can be mailed now, read in slices."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from api.claims.claimed_customers import Claim
from api.claims.parts import ClaimParts
from ledger.application.caller import Caller
from ledger.application.key_limits import KeyLimits
from ledger.application.kinds.own_requests import claim_of
from ledger.application.ports import Need
from ledger.domain.control import CONTROL_ID, Control
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
    parts: ClaimParts, caller: Caller, claim: Claim, stage: str | None, limit: int
) -> AsyncGenerator[list[ReadyCustomer], None]:
    """Yield up to `limit` customers with their due invoices, each once, none of another claim's.

    If there are fewer, wait for the read models and search once more: customers whose permits
    other claims just got may have more due invoices.

    While a pause or the recovery mode stops all of them alike, there is one: its denial says why,
    and the decision log does not grow by a row for each customer with every claim.
    """
    found = await parts.reader.load(Need(aggregates={CONTROL_ID}))
    await _catch_up(parts, found.position)
    wanted = 1 if _stopped(found.aggregates.get(CONTROL_ID), caller) else limit
    search = _Search(parts, claim, stage, wanted, caller.limits, found.now)
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


def _stopped(control: object, caller: Caller) -> bool:
    """Would every mail of a claim be denied, whoever it is for?"""
    if not isinstance(control, Control):
        return False
    mail, _ = claim_of((), None)
    paused = control.pause_for(mail.kind, mail.lane(caller.transactional), caller.name)
    return paused is not None or control.recovery_since is not None


async def _catch_up(parts: ClaimParts, position: int) -> None:
    """Wait for the read models to process the log up to the position, which is its end.

    Events at its end that come only from claims of this process are not waited for: those
    customers are remembered here. Events of other processes are always waited for.
    """
    if position <= parts.engine.position and not parts.claimed.full:
        position = min(position, parts.engine.only_claims_since)
    await _read_models_at(parts, position)


async def _read_models_at(parts: ClaimParts, position: int) -> None:
    """Wait, at most `read_wait` seconds, until the read models have reached the position."""
    await parts.projector.wait_for(position, parts.read_wait, READ_MODELS)
