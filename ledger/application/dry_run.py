"""A dry run: what requests for permits would be answered, found by deciding and taking it back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ledger.application import answers
from ledger.application.answers import Answer, Rehearsed
from ledger.application.commands import DryRun, RequestPermit
from ledger.application.effects import Outcome
from ledger.application.trial import Trial
from ledger.domain.reasons import Denial

if TYPE_CHECKING:
    from ledger.application.batch import Work

Decide: TypeAlias = "Callable[[Work, RequestPermit], Awaitable[Outcome]]"

_TURN = 16
"""After so many decisions others have their turn: a dry run is one command of up to a thousand."""
_OF_A_PERMIT = (
    "permit_id",
    "state",
    "granted_at",
    "provider_idempotency_key",
    "message_id",
    "send_token",
)
"""What only a permit has. With these a mail could go out, or be taken for one that did."""


async def rehearse(
    work: "Work", command: DryRun, decide: Decide, set_up: "Callable[[Work], Awaitable[None]]"
) -> Answer:
    """The answers to the requests in order, each after the ones before it; nothing is kept.

    No event, no decision, no Idempotency-Key, no alert, no breaker. A yes is 200, never 201, and
    has no permit and no address (design D5): `would_grant` says what the mail would be.
    """
    to_snapshot, before = dict(work.to_snapshot), work.world.before
    trial = work.trial = Trial.begin(work.world, work.batch, work.cache)
    mine = {request.decision_id for request in command.requests}
    items: list[Answer] = []
    try:
        await set_up(work)
        for request in command.requests:
            items.append(_item(work, await decide(work, request), mine))
            if len(items) % _TURN == 0:
                await asyncio.sleep(0)
    finally:
        trial.take_back()
        work.trial, work.world.before, work.to_snapshot = None, before, to_snapshot
    position = work.batch.position
    return items[0] if command.alone else Rehearsed(200, b"", position=position, items=tuple(items))


def _item(work: "Work", outcome: Outcome, mine: set[str]) -> Answer:
    headers = tuple(("Ledger-Warning", warning) for warning in outcome.warnings)
    if outcome.denial is None:
        would = {name: v for name, v in outcome.body.items() if name not in _OF_A_PERMIT}
        return Answer(200, answers.to_json({"dry_run": True, "would_grant": would}), headers)
    denial = _without_permits(outcome.denial, mine)
    body = answers.problem_body(denial, None, {**outcome.body, "dry_run": True})
    return Answer(
        outcome.status, body, (*answers.problem_headers(denial, work.world.now), *headers)
    )


def _without_permits(denial: Denial, mine: set[str]) -> Denial:
    """The denial without the id of a permit that only this dry run would have granted."""
    if denial.permit_id not in mine:
        return denial
    detail = denial.detail.replace(denial.permit_id, "of an earlier request")
    original = denial.original and replace(denial.original, permit_id=None)
    return replace(denial, detail=detail, permit_id=None, original=original)
