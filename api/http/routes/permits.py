"""Endpoints of permits: request one or a batch, redeem, report the outcome, read and list."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response

from api.contract.fields import Id, Instant, Kind, OwnId
from api.contract.lists import PermitList
from api.contract.outcomes import OutcomeRequest, OutcomesRequest
from api.contract.permit_batches import BatchAnswer, BatchRequest, DryRunYes
from api.contract.permits import Permit, PermitRequest, RedeemRequest, RedeemsRequest
from api.contract.problems import ProblemError, problem_answer
from api.http.auth import CurrentContext, Handler, PermitReader, Sender
from api.http.context import Context
from api.http.cursors import decode_cursor, encode_cursor
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_key, idempotency_of, scope_of
from api.http.limited_keys import sees_its_own_only
from api.http.permit_reports import (
    count_skipped,
    known_uuid,
    outcome_item,
    outcome_of,
    redeem_item,
    redeem_of,
)
from api.http.permit_request import ask, dry_run, request_of
from api.http.problem_responses import answer_response, documented
from ledger.application.answers import Answer, Rehearsed, to_json
from ledger.application.caller import Caller
from ledger.application.commands import Command, DryRun, RequestPermit
from ledger.application.permit_life import permit_body
from ledger.domain.permit import Permit as PermitState
from ledger.domain.permit import State
from ledger.store.log.reader import PermitFilter

router = APIRouter(prefix="/v1/permits", tags=["permits"], route_class=GuardedRoute)
_TURN = 64
"""After so many requests of a batch others have their turn: to read a thousand takes a while."""
UNSETTLED = (State.GRANTED, State.REDEEMED, State.UNKNOWN)
_UNSETTLED_NAMES = ", ".join(UNSETTLED)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.post(
    "",
    status_code=201,
    response_model=Permit,
    responses={
        200: {
            "model": Permit | DryRunYes,
            "description": "A stored grant, replayed (Idempotent-Replayed); or a dry run's yes",
        },
        **documented(404, 409, 413, 429),
    },
)
async def ask_for_permit(
    body: PermitRequest,
    request: Request,
    caller: Sender,
    context: CurrentContext,
    idempotency_key: IdempotencyHeader = None,
) -> Response:
    """Request a permit. Only 201 is a yes; for a key that must redeem, only the 200 of redeem."""
    answer = await ask(context, caller, "/v1/permits", await request.body(), idempotency_key)
    return answer_response(answer)


@router.post("/batch", response_model=BatchAnswer, responses=documented(413))
async def ask_for_many(
    body: BatchRequest,
    caller: Sender,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Request up to 1000 permits; they are decided in order, each independently.

    With `dry_run` nothing is granted or written; each is judged after those before it.
    """
    key = idempotency_key(key_header)
    commands: list[RequestPermit | Answer] = []
    for index, raw in enumerate(body.requests):
        if index % _TURN == _TURN - 1:
            await asyncio.sleep(0)
        scope = None
        if key is not None:
            scope = scope_of(caller, "POST", "/v1/permits/batch", f"{len(key)}:{key}:{index}")
        commands.append(_command_of(context, caller, raw, scope, body.dry_run))
    if body.dry_run:
        return await _rehearsed(context, commands)
    return _batch_answer(context, await _answers(context, commands))


async def _answers(context: Context, commands: Sequence[Command | Answer]) -> list[Answer]:
    """The answers to the items of a batch, in their order.

    They are queued only after all were read: an error in one must not leave grants unreported.
    """
    results: list[Answer | asyncio.Future[Answer]] = [
        command if isinstance(command, Answer) else context.engine.enqueue(command)
        for command in commands
    ]
    return [r if isinstance(r, Answer) else await r for r in results]


def _batch_answer(context: Context, answers: list[Answer]) -> Response:
    parts = b",".join(_batch_item(answer) for answer in answers)
    position = max((answer.position for answer in answers), default=0) or context.engine.position
    tail = b'],"position":"%d"}' % position
    return Response(b'{"results":[' + parts + tail, media_type="application/json")


def _command_of(
    context: Context, caller: Caller, raw: Any, scope: bytes | None, dry: bool
) -> RequestPermit | Answer:
    """The command of one request of a batch, or the 422 or 403 answer to it."""
    try:
        body = orjson.dumps(raw)
    except orjson.JSONEncodeError:
        return problem_answer("invalid_request", "the request is nested too deeply")
    command = request_of(context, caller, body, scope)
    if not isinstance(command, DryRun):
        return command
    if not dry:
        return problem_answer("invalid_request", "say dry_run of the batch, not of one request")
    return command.requests[0]


async def _rehearsed(context: Context, commands: list[RequestPermit | Answer]) -> Response:
    """The answers that a batch would get; one such batch at a time in one process.

    It is one command however many requests it has, so the queue's turns do not bound it.
    """
    requests = [command for command in commands if isinstance(command, RequestPermit)]
    found: Iterator[Answer] = iter(())
    position = context.engine.position
    if requests:
        async with context.dry_run_batch:
            answer = await context.engine.submit(dry_run(*requests, alone=False))
        if not isinstance(answer, Rehearsed):
            return answer_response(answer)
        found, position = iter(answer.items), answer.position
    parts = b",".join(_dry_item(c if isinstance(c, Answer) else next(found)) for c in commands)
    tail = b'],"position":"%d","dry_run":true}' % position
    return Response(b'{"results":[' + parts + tail, media_type="application/json")


def _dry_item(answer: Answer) -> bytes:
    if answer.status >= 300:
        return _batch_item(answer)
    would = orjson.loads(answer.body)["would_grant"]
    return to_json({"status": answer.status, "would_grant": would})


def _batch_item(answer: Answer) -> bytes:
    """An item of a batch; `warnings` are those that a single answer has as Ledger-Warning."""
    name = b"permit" if answer.status < 300 else b"problem"
    head = b'{"status":%d,"%b":%b' % (answer.status, name, answer.body)
    warnings = [text for header, text in answer.headers if header == "Ledger-Warning"]
    return head + (b',"warnings":%b}' % to_json(warnings) if warnings else b"}")


@router.post("/{permit_id}/redeem", response_model=Permit, responses=documented(404, 409))
async def redeem(
    permit_id: OwnId,
    body: RedeemRequest,
    caller: Handler,
    context: CurrentContext,
) -> Response:
    """Redeem a permit right before hand-over: 200 once. Idempotent for the same `attempt`."""
    return answer_response(await context.engine.submit(redeem_of(caller, permit_id, body)))


@router.post("/redeem", response_model=BatchAnswer, responses=documented(413))
async def redeem_many(body: RedeemsRequest, caller: Handler, context: CurrentContext) -> Response:
    """Redeem up to 1000 permits right before their mails are handed over, each by itself.

    Each has the answer that it would have alone; the same `attempt` hears the same again.
    """
    items = [redeem_item(caller, raw) for raw in body.redeems]
    return _batch_answer(context, await _answers(context, items))


@router.post("/{permit_id}/outcome", response_model=Permit, responses=documented(404, 409))
async def report_outcome(
    permit_id: OwnId,
    body: OutcomeRequest,
    caller: Handler,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Report the outcome of the mail; needs the granting key or the scope `operate`.

    Reports may come in any order and be repeated. A `correction` takes a false `sent` back; it
    needs the scope `operate`. `sent` for a permit that had to be redeemed and was not is taken,
    with `Ledger-Warning: redeem-skipped` and an alert: redeem before each mail, or use a key with
    `redeem: optional`.
    """
    command = outcome_of(caller, permit_id, body)
    if isinstance(command, Answer):
        return answer_response(command)
    path = f"/v1/permits/{command.permit_id}/outcome"
    idempotency = idempotency_of(caller, "POST", path, key_header, body)

    async def work() -> Response:
        answer = await context.engine.submit(command)
        return answer_response(count_skipped(context.engine.counters, answer))

    return await answered_once(context, idempotency, caller, work)


@router.post("/outcomes", response_model=BatchAnswer, responses=documented(413))
async def report_many(body: OutcomesRequest, caller: Handler, context: CurrentContext) -> Response:
    """Report the outcomes of up to 1000 permits, each by itself.

    Each has the answer that it would have alone. A report may be repeated, so a batch whose answer
    was lost is sent again as it is.
    """
    items = [outcome_item(caller, raw) for raw in body.outcomes]
    answers = await _answers(context, items)
    counters = context.engine.counters
    return _batch_answer(context, [count_skipped(counters, answer) for answer in answers])


@router.get("/{permit_id}", response_model=Permit, responses=documented(404))
async def get_permit(permit_id: OwnId, caller: PermitReader, context: CurrentContext) -> Response:
    """The current state of a permit."""
    found = await context.reader.permit(known_uuid(permit_id))
    if found is None:
        raise ProblemError("unknown_permit", "there is no such permit")
    permit, granted, address = found
    if sees_its_own_only(caller) and permit.key_id != caller.key_id:
        raise ProblemError("unknown_permit", "there is no such permit")
    now = await context.now()
    shown = address if caller.reads_addresses else None
    body = granted | _current(permit, now) | {"to": shown}
    return Response(to_json(body), media_type="application/json")


@router.get("", response_model=PermitList, responses=documented())
async def list_permits(
    caller: PermitReader,
    context: CurrentContext,
    state: Annotated[State | None, Query()] = None,
    sender: Id | None = None,
    kind: Kind | None = None,
    from_: Annotated[Instant | None, Query(alias="from")] = None,
    to: Instant | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: str | None = None,
) -> Response:
    """Permits in a state, or all; unsettled states are ordered oldest first, others by id.

    `from` and `to` are of the grant, half-open. Each permit has its sender and the Message-ID to
    look for in the provider's log; its address is for keys with the scope `operate`. A key with
    limits sees its own, in a state that is not settled.
    """
    own = sees_its_own_only(caller)
    if own and state not in UNSETTLED:
        raise ProblemError("key_limit", f"a key with limits lists one state of {_UNSETTLED_NAMES}")
    after, send_by = decode_cursor(cursor)
    wanted = PermitFilter(state, sender, kind, from_, to, caller.key_id if own else None)
    rows = await context.reader.permits(wanted, limit + 1, (after, send_by))
    now = await context.now()
    page = rows[:limit]
    following = None
    if len(rows) > limit:
        following = encode_cursor(page[-1].permit.permit_id, page[-1].send_by)
    items = await _listed(context, caller, [row.permit for row in page], now)
    return Response(to_json({"items": items, "next": following}), media_type="application/json")


async def _listed(
    context: Context, caller: Caller, permits: list[PermitState], now: Any
) -> list[dict[str, Any]]:
    """The permits as a list shows them: with what a person needs to find their mails."""
    addresses: dict[str, str] = {}
    if caller.may("operate"):
        addresses = await context.reader.texts({p.address for p in permits if p.address})
    items = []
    for permit in permits:
        ours = context.identity.message_id(permit.permit_id, permit.imprint)
        item = {"sender": permit.sender, "message_id": ours} | _current(permit, now)
        if permit.address in addresses:
            item["to"] = addresses[permit.address]
        items.append(item)
    return items


def _current(permit: PermitState, now: Any) -> dict[str, Any]:
    """The permit as JSON, with a lapse that the log does not have yet."""
    body = permit_body(permit)
    lapsed = permit.lapsed_state(now)
    if lapsed is not None:
        body["state"] = str(lapsed)
    if permit.message_id is not None:
        body["message_id"] = permit.message_id
    return body
