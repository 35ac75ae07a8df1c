"""Claiming: one permit for each ready customer, and what an Idempotency-Key hears again."""

import asyncio
from collections.abc import AsyncIterable
from typing import Any

import orjson
from fastapi.responses import Response

from api.context import Context
from api.decision_ids import DECISION_IDS
from api.problems import ProblemError, problem_response
from ledger.application.answers import Answer, answered, to_json, with_address
from ledger.application.permit_subjects import Reminder
from ledger.application.ports import Need, StoreUnavailable
from ledger.application.requests import BindAnswer, Caller, Idempotency, RequestPermit
from ledger.domain.permit import State

_MOST_INVOICES = 100
"""Invoices that one mail may name, as in a request for a permit."""


async def claim_permits(
    context: Context,
    caller: Caller,
    slices: AsyncIterable[list[tuple[str, ...]]],
    stage: str | None,
    idempotency: Idempotency | None,
) -> Response:
    """Ask for a permit per group of invoices of one customer; the guards have the last word."""
    answers = await _ask_in_slices(context, caller, slices, stage)
    granted = [answer for answer in answers if answer.status == 201]
    withheld = [_withheld(answer) for answer in answers if 400 <= answer.status < 500]
    if not granted and any(answer.status >= 500 for answer in answers):
        raise ProblemError("unavailable", "the store does not answer; nothing was granted")
    if idempotency is not None:
        ids = [answer.permit_id for answer in granted]
        await context.engine.submit(BindAnswer(idempotency, 200, to_json(ids), caller))
    position = max((a.position for a in answers), default=0) or context.engine.position
    return _response([answer.body for answer in granted], withheld, position, {})


async def _ask_in_slices(
    context: Context,
    caller: Caller,
    slices: AsyncIterable[list[tuple[str, ...]]],
    stage: str | None,
) -> list[Answer]:
    """The answers up to the slice after the first that the store fails in; grants are told.

    A slice is in the queue before the one before it was answered, so that nobody waits between the
    two. Raises StoreUnavailable where the store fails before anything was granted.
    """
    answers: list[Answer] = []
    waiting: list[asyncio.Future[Answer]] = []
    failure: StoreUnavailable | None = None
    try:
        async for groups in slices:
            commands = [_request(caller, invoices[:_MOST_INVOICES], stage) for invoices in groups]
            before, waiting = waiting, [context.engine.enqueue(command) for command in commands]
            answers += await _answered(context, before)
            if any(answer.status >= 500 for answer in answers):
                break
    except StoreUnavailable as error:
        failure = error
    except BaseException:
        for future in waiting:
            future.cancel()
        raise
    answers += await _answered(context, waiting)
    if failure is not None and not any(answer.status == 201 for answer in answers):
        raise failure
    return answers


async def _answered(context: Context, futures: "list[asyncio.Future[Answer]]") -> list[Answer]:
    """The answers of a slice. The next claim waits for the read models: they take it in at once."""
    answers = await answered(futures)
    if answers:
        context.projector.hurry()
    return answers


async def replay_claim(context: Context, idempotency: Idempotency) -> Response | None:
    """Those permits of the same claim that are still live and unredeemed; None for a new key."""
    found = await context.reader.load(Need(bindings={idempotency.scope}))
    binding = found.bindings.get(idempotency.scope)
    if binding is None or binding.body is None:
        return None
    if (found.now - binding.created_at).days >= context.policy.idempotency_days:
        return None
    if binding.fingerprint != idempotency.fingerprint:
        return problem_response("key_conflict", "this Idempotency-Key was used for another request")
    ids = set(orjson.loads(binding.body))
    held = await context.reader.load(Need(permits=ids, answers=ids))
    live = [
        permit
        for permit in held.permits.values()
        if permit.state is State.GRANTED and permit.lapsed_state(held.now) is None
    ]
    contacts = await context.reader.load(
        Need(fingerprints={permit.address for permit in live if permit.address is not None})
    )
    bodies = [
        with_address(held.answers[p.permit_id], contacts.contacts.get(p.address or ""))
        for p in live
    ]
    return _response(bodies, [], held.position, {"Idempotent-Replayed": "true"})


def _request(caller: Caller, invoices: tuple[str, ...], stage: str | None) -> RequestPermit:
    request = {"kind": "reminder", "invoices": invoices, "stage": stage, "claim": True}
    return RequestPermit(
        subject=Reminder(invoices, stage, {}, claim=True),
        caller=caller,
        decision_id=DECISION_IDS.next(),
        request=to_json(request),
    )


def _response(
    bodies: list[bytes], withheld: list[dict[str, Any]], position: int, headers: dict[str, str]
) -> Response:
    permits = b'{"permits":[' + b",".join(bodies)
    content = permits + b'],"withheld":%b,"position":"%d"}' % (to_json(withheld), position)
    return Response(content, 200, headers, "application/json")


def _withheld(answer: Answer) -> dict[str, Any]:
    problem = orjson.loads(answer.body)
    kept = ("code", "detail", "available_at", "permit_id", "withheld")
    return {name: problem[name] for name in kept if name in problem}
