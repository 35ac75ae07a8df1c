"""Runs one claim: asks for a permit for each ready customer, and replays a repeated claim."""

import asyncio
from collections.abc import AsyncIterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import orjson

from api.claims.claimed_customers import Claim
from api.claims.parts import ClaimParts
from api.claims.ready_slices import ready_slices
from api.contract.problems import ProblemError, problem_answer
from api.running.decision_ids import DECISION_IDS
from ledger.application.answers import Answer, answered, to_json, with_address
from ledger.application.caller import Caller
from ledger.application.commands import BindAnswer, Idempotency, RequestPermit
from ledger.application.kinds.own_requests import claim_of
from ledger.application.ports import Need, StoreUnavailable
from ledger.domain.permit import State
from projections.due import ReadyCustomer

_MOST_INVOICES = 100
"""The maximum number of invoices that one mail may name, as in a request for a permit."""


async def claim_permits(
    parts: ClaimParts,
    caller: Caller,
    stage: str | None,
    limit: int,
    idempotency: Idempotency | None,
) -> Answer:
    """Ask for one permit for each of up to `limit` ready customers; the guards decide each."""
    async with (
        parts.claimed.one_of_few() as claim,
        aclosing(ready_slices(parts, caller, claim, stage, limit)) as slices,
    ):
        answers = await _ask_in_slices(parts, caller, claim, slices, stage)
    granted = [answer for answer in answers if answer.status == 201]
    withheld = [_withheld(answer) for answer in answers if 400 <= answer.status < 500]
    if not granted and any(answer.status >= 500 for answer in answers):
        raise _nothing_granted(answers)
    if idempotency is not None:
        ids = [answer.permit_id for answer in granted]
        await parts.engine.submit(BindAnswer(idempotency, 200, to_json(ids), caller))
    position = max((a.position for a in answers), default=0) or parts.engine.position
    bodies = [answer.body for answer in granted]
    return _claimed(bodies, withheld, position, _reminded(caller))


def _nothing_granted(answers: list[Answer]) -> ProblemError:
    """What to tell a claim whose every request failed, or was denied."""
    for answer in answers:
        problem = orjson.loads(answer.body or b"{}") if answer.status == 503 else {}
        if problem.get("code") == "clock_suspect":
            return ProblemError("clock_suspect", problem["detail"])
    return ProblemError("unavailable", "the store does not answer; nothing was granted")


@dataclass(slots=True)
class _Asked:
    """A slice of requests in the engine's queue."""

    customers: list[ReadyCustomer]
    futures: "list[asyncio.Future[Answer]]"


async def _ask_in_slices(
    parts: ClaimParts,
    caller: Caller,
    claim: Claim,
    slices: AsyncIterable[list[ReadyCustomer]],
    stage: str | None,
) -> list[Answer]:
    """The answers of all slices; stops after a slice that the store fails in.

    The slice that was queued at that time is still included, so that no grant is left out. Each
    slice is queued before the previous one is answered, so that the engine is never idle between
    them. Raises StoreUnavailable where the store fails before anything was granted.
    """
    answers: list[Answer] = []
    waiting = _Asked([], [])
    failure: StoreUnavailable | None = None
    try:
        async for customers in slices:
            commands = [_request(caller, c.invoices[:_MOST_INVOICES], stage) for c in customers]
            futures = [parts.engine.enqueue(command) for command in commands]
            before, waiting = waiting, _Asked(customers, futures)
            answers += await _answered(claim, before)
            if any(answer.status >= 500 for answer in answers):
                break
    except StoreUnavailable as error:
        failure = error
    except BaseException:
        for future in waiting.futures:
            future.cancel()
        raise
    answers += await _answered(claim, waiting)
    if failure is not None and not any(answer.status == 201 for answer in answers):
        raise failure
    return answers


async def _answered(claim: Claim, asked: _Asked) -> list[Answer]:
    """Wait for the answers of a slice, and record them in the claim."""
    answers = await answered(asked.futures)
    for customer, answer in zip(asked.customers, answers, strict=True):
        granted_at = answer.position if answer.status == 201 else None
        claim.answered(customer.customer_id, granted_at)
    return answers


async def replay_claim(
    parts: ClaimParts, caller: Caller, idempotency: Idempotency
) -> Answer | None:
    """The permits of the same earlier claim that are live and not redeemed; None for a new key."""
    found = await parts.reader.load(Need(bindings={idempotency.scope}))
    binding = found.bindings.get(idempotency.scope)
    if binding is None or binding.body is None:
        return None
    if (found.now - binding.created_at).days >= parts.policy.idempotency_days:
        return None
    if binding.fingerprint != idempotency.fingerprint:
        return problem_answer("key_conflict", "this Idempotency-Key was used for another request")
    ids = set(orjson.loads(binding.body))
    held = await parts.reader.load(Need(permits=ids, answers=ids))
    live = [
        permit
        for permit in held.permits.values()
        if permit.state is State.GRANTED and permit.lapsed_state(held.now) is None
    ]
    shown = {p.address for p in live if p.address is not None and caller.reads_addresses}
    contacts = (await parts.reader.load(Need(fingerprints=shown))).contacts
    bodies = [with_address(held.answers[p.permit_id], contacts.get(p.address or "")) for p in live]
    headers = (("Idempotent-Replayed", "true"), *_reminded(caller))
    return _claimed(bodies, [], held.position, headers)


def _reminded(caller: Caller) -> tuple[tuple[str, str], ...]:
    """A key that need not redeem hears that these permits are to be: the claim can be replayed."""
    return () if caller.redeem_required else (("Ledger-Warning", "redeem-before-mail"),)


def _request(caller: Caller, invoices: tuple[str, ...], stage: str | None) -> RequestPermit:
    subject, request = claim_of(invoices, stage)
    return RequestPermit(
        subject=subject,
        caller=caller,
        decision_id=DECISION_IDS.next(),
        request=to_json(request),
    )


def _claimed(
    bodies: list[bytes],
    withheld: list[dict[str, Any]],
    position: int,
    headers: tuple[tuple[str, str], ...] = (),
) -> Answer:
    permits = b'{"permits":[' + b",".join(bodies)
    content = permits + b'],"withheld":%b,"position":"%d"}' % (to_json(withheld), position)
    return Answer(200, content, headers, "", position)


def _withheld(answer: Answer) -> dict[str, Any]:
    problem = orjson.loads(answer.body)
    kept = ("code", "detail", "available_at", "permit_id", "withheld")
    return {name: problem[name] for name in kept if name in problem}
