"""Answers as bytes, written once: for the caller and for the decision log (design D4, D5)."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from ledger.application.effects import Outcome
from ledger.application.ports import CommitUncertain, StoreUnavailable
from ledger.domain.next_steps import DEFECT, NEXT_STEPS, WAIT
from ledger.domain.reasons import REASONS, Denial, Reason
from ledger.domain.value import value

_OPTIONS = orjson.OPT_UTC_Z
_FORBIDDEN = Reason("forbidden", 403, "This key may not do that")
_UNAUTHORIZED = Reason("unauthorized", 401, "No key, or one that the ledger does not know")
_INTERNAL = Reason("internal_error", 500, "The request could not be decided; nothing was granted")


@value
class Answer:
    """A status, a JSON body and extra headers; `result` is what became of a fact."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    result: str = ""
    position: int = 0
    permit_id: str | None = None


@value
class Rehearsed(Answer):
    """The answers that a dry run of several requests found; there is no body yet."""

    items: tuple[Answer, ...] = ()


def to_json(content: Any) -> bytes:
    """A body as JSON bytes."""
    return orjson.dumps(content, option=_OPTIONS)


def grant_body(outcome: Outcome, decision_id: str, position: int) -> bytes:
    """The 201 as the decision log keeps it: without the address (design D18)."""
    outcome.body["position"] = str(position)
    outcome.body["decision_id"] = decision_id
    return to_json(outcome.body)


def with_address(body: bytes, address: str | None) -> bytes:
    """The body with `to` put in as it leaves the ledger."""
    return body[:-1] + b',"to":' + to_json(address) + b"}"


def problem_body(denial: Denial, decision_id: str | None, extra: dict[str, Any]) -> bytes:
    """A denial as a problem document (RFC 9457)."""
    reason = denial.reason
    body: dict[str, Any] = {
        "type": f"/problems/{denial.code}",
        "title": reason.title,
        "status": reason.status,
        "detail": denial.detail,
        "code": denial.code,
        "retryable": denial.retryable,
        **_next_step(denial.code, waits=denial.retryable and not reason.retryable),
    }
    if decision_id is not None:
        body["decision_id"] = decision_id
    if denial.available_at is not None:
        body["available_at"] = denial.available_at
    if denial.frees_at is not None:
        body["frees_at"] = denial.frees_at
    if denial.permit_id is not None:
        body["permit_id"] = denial.permit_id
    if denial.due_stage is not None:
        body["due_stage"] = denial.due_stage
    if denial.original is not None:
        body["original"] = denial.original
    body.update(extra)
    return to_json(body)


def _next_step(code: str, waits: bool = False) -> dict[str, str]:
    """The fields that say what to do next; `waits`: this denial of the code ends by itself."""
    step = WAIT if waits else NEXT_STEPS.get(code, DEFECT)
    return {"next_action": step.action, "next_step": step.sentence}


def problem_headers(denial: Denial, now: datetime) -> tuple[tuple[str, str], ...]:
    """`Retry-After`, in whole seconds, where waiting is the remedy."""
    if denial.reason.status == 503:
        return (("Retry-After", "1"),)
    if denial.code == "loop_guard" and denial.available_at is not None:
        wait = max(1, math.ceil((denial.available_at - now).total_seconds()))
        return (("Retry-After", str(wait)),)
    return ()


def plain_problem(
    code: str, detail: str, status: int | None = None, committed: str | None = None
) -> Answer:
    """A problem that no decision stands behind; `committed` tells what is known of its effect."""
    reason = REASONS.get(code)
    if reason is None:
        reason = {"forbidden": _FORBIDDEN, "unauthorized": _UNAUTHORIZED}.get(code, _INTERNAL)
    denial_status = status or reason.status
    body = {
        "type": f"/problems/{reason.code}",
        "title": reason.title,
        "status": denial_status,
        "detail": detail,
        "code": reason.code,
        "retryable": reason.retryable,
        **_next_step(reason.code),
    }
    if committed is not None:
        body["committed"] = committed
    headers = (("Retry-After", "1"),) if denial_status == 503 else ()
    return Answer(denial_status, to_json(body), headers)


def unavailable(detail: str) -> Answer:
    """503: the store is down or the queue is full; nothing was granted (fail closed)."""
    return plain_problem("unavailable", detail, committed="no")


def store_failed(error: StoreUnavailable) -> Answer:
    """503: it says whether the commit may have happened, as after a lost acknowledgement (D4).

    The caller must not act on it. The same Idempotency-Key brings the answer of the commit that
    happened, or a first decision.
    """
    if not isinstance(error, CommitUncertain):
        return unavailable(f"the store does not answer: {error}; nothing was granted")
    detail = (
        f"nobody knows whether the commit happened ({error}): it may have been granted or "
        "recorded; send nothing, and ask again with the same Idempotency-Key"
    )
    return plain_problem("unavailable", detail, committed="unknown")


def too_many_commands(most: int) -> Answer:
    """429: one key has as many commands waiting as one may (ietf-httpapi-ratelimit-headers)."""
    problem = plain_problem("rate_limited", f"this key has {most} commands waiting; ask again")
    headers = (
        ("Retry-After", "1"),
        ("RateLimit-Policy", f'"commands";q={most}'),
        ("RateLimit", '"commands";r=0;t=1'),
    )
    return replace(problem, headers=headers)


async def answered(futures: Sequence["asyncio.Future[Answer]"]) -> list[Answer]:
    """The answers, in this order; who is cancelled takes back what was not yet decided."""
    try:
        # One after the other: most are there with the first, and cost nothing then.
        return [await future for future in futures]
    except asyncio.CancelledError:
        for future in futures:
            future.cancel()
        raise
