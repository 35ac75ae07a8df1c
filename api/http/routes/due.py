"""Endpoints that list newly due invoices and claim permits for them (contract: due, due/claim)."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from api.claims.claiming import claim_permits, replay_claim
from api.contract.fields import Id
from api.contract.lists import DueList
from api.contract.permits import ClaimAnswer, ClaimRequest
from api.contract.problems import ProblemError
from api.http.auth import CurrentContext, PermitReader, Sender
from api.http.context import Context
from api.http.cursors import decode_text, encode_text
from api.http.fresh_reads import After, current_projection
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import idempotency_of
from api.http.limited_keys import check_claim, check_dunning, sees_its_own_only
from api.http.problem_responses import answer_response, documented
from api.upkeep.sweeper import let_lapse
from ledger.application.answers import to_json
from ledger.application.caller import Caller
from ledger.application.commands import Idempotency
from projections.due import READ_MODELS, BadCursor, DueCustomer, DuePage, due

router = APIRouter(prefix="/v1/due", tags=["due"], route_class=GuardedRoute)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.get("", response_model=DueList, responses=documented())
async def get_due(
    caller: PermitReader,
    context: CurrentContext,
    stage: Annotated[str | None, Query(max_length=255)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
    ready: bool = False,
    after: After = None,
) -> Response:
    """Newly due invoices, grouped by customer; `withheld` says why a customer cannot be mailed."""
    _check_stage(context, stage)
    check_dunning(caller, stage)
    headers = await current_projection(context, after, READ_MODELS)
    page = await _due(context, caller, stage, limit, decode_text(cursor), ready)
    body = {
        "items": [_customer(customer, caller) for customer in page.items],
        "next": encode_text(page.next) if page.next is not None else None,
        "as_of": str(page.as_of),
    }
    return Response(to_json(body), headers=headers, media_type="application/json")


@router.post("/claim", response_model=ClaimAnswer, responses=documented())
async def claim(
    caller: Sender,
    context: CurrentContext,
    body: ClaimRequest | None = None,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Get permits for up to `limit` ready customers; one permit has all due invoices of a customer.

    A claim never opens a breaker. Its permits must be redeemed, whatever the key's setting. A retry
    with the same Idempotency-Key returns those of its permits that are live and not yet redeemed.
    Not redeemed by `send_by`, they expire and are due again; those of a key with `redeem: optional`
    become unknown, because its mail may be out, and are not granted again until somebody says
    what became of them. Such a key hears `Ledger-Warning: redeem-before-mail`.
    """
    asked = body or ClaimRequest()
    _check_stage(context, asked.stage)
    check_claim(caller, asked.stage)
    idempotency = idempotency_of(caller, "POST", "/v1/due/claim", key_header, asked)
    if idempotency is None:
        return await _claim(context, caller, asked, None)
    async with context.idempotency_lock.hold(idempotency.scope):
        replayed = await replay_claim(context, caller, idempotency)
        if replayed is not None:
            return answer_response(replayed)
        return await _claim(context, caller, asked, idempotency)


async def _claim(
    context: Context, caller: Caller, asked: ClaimRequest, idempotency: Idempotency | None
) -> Response:
    await let_lapse(context)
    return answer_response(
        await claim_permits(context, caller, asked.stage, asked.limit, idempotency)
    )


async def _due(
    context: Context,
    caller: Caller,
    stage: str | None,
    limit: int,
    cursor: str | None,
    ready: bool,
) -> DuePage:
    now = await context.now()
    try:
        async with context.connections.use() as connection:
            return await due(
                connection,
                now=now,
                policy=context.policy,
                stage=stage,
                limit=limit,
                cursor=cursor,
                ready=ready,
                limits=caller.limits if sees_its_own_only(caller) else None,
            )
    except BadCursor as error:
        raise ProblemError("invalid_request", str(error)) from None


def _customer(customer: DueCustomer, caller: Caller) -> dict[str, Any]:
    withheld = None
    if customer.withheld is not None:
        withheld = {
            "code": customer.withheld.code,
            "available_at": customer.withheld.available_at,
        }
    return {
        "customer_id": customer.customer_id,
        "email": customer.email if caller.reads_addresses else None,
        "withheld": withheld,
        "invoices": list(customer.invoices),
    }


def _check_stage(context: Context, stage: Id | None) -> None:
    if stage is not None and context.policy.stage(stage) is None:
        raise ProblemError("invalid_request", f"{stage!r} is not a stage of the policy")
