"""Endpoints that verify the log's hash chain and erase a customer's addresses (D18)."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import psycopg
from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from api.contract.audit import EraseAnswer, EraseRequest, VerifyAnswer
from api.contract.fields import Id
from api.contract.problems import ProblemError
from api.http.auth import Auditor, CurrentContext, Operator
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.problem_responses import answer_response, documented
from ledger.application.answers import to_json
from ledger.application.commands import Erase
from ledger.application.ports import StoreUnavailable
from ledger.store.looking_back.audit import Checkpoint, Verification, stored_checkpoint, verify

router = APIRouter(prefix="/v1", tags=["audit"], route_class=GuardedRoute)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]
_FROM = r"^[0-9]{1,18}(-[0-9a-f]{64})?$"
# One verification at a time, and not in the thread pool that other work shares.
_AUDITOR = ThreadPoolExecutor(max_workers=1, thread_name_prefix="audit")


@router.get("/audit/verify", response_model=VerifyAnswer, responses=documented(404))
async def verify_log(
    caller: Auditor,
    context: CurrentContext,
    from_: Annotated[
        str,
        Query(
            alias="from",
            pattern=_FROM,
            description="Begin after this position; `next` of the call before goes on from its end",
        ),
    ] = "0",
    limit: Annotated[int, Query(ge=1, le=1_000_000)] = 200_000,
) -> Response:
    """Recompute the hash chain over at most `limit` events, and report the first bad position.

    This does not detect a log whose whole chain was recomputed. For that, compare the log with a
    signed checkpoint that is stored elsewhere (`send-ledger audit verify --against`).
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.run_in_executor(_AUDITOR, _verify, context.conninfo, from_, limit)
    except psycopg.Error as error:
        raise StoreUnavailable(type(error).__name__) from error
    return Response(to_json(verification_body(found)), media_type="application/json")


@router.post(
    "/customers/{customer_id:text}/erase", response_model=EraseAnswer, responses=documented(404)
)
async def erase(
    customer_id: Id,
    caller: Operator,
    context: CurrentContext,
    body: EraseRequest | None = None,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Remove the addresses of a customer and of the ids merged into it; the log is unchanged."""
    asked = body or EraseRequest()
    path = f"/v1/customers/{customer_id}/erase"
    idempotency = idempotency_of(caller, "POST", path, key_header, asked)

    async def work() -> Response:
        command = Erase(customer_id, asked.by or caller.name, caller)
        answer = await context.engine.submit(command)
        if answer.status >= 400:
            return answer_response(answer)
        customer, _ = await context.reader.customer(customer_id)
        assert customer is not None
        content = {
            "customer_id": customer.customer_id,
            "customers": [customer.customer_id, *sorted(customer.absorbed)],
            "result": answer.result,
            "position": str(answer.position),
        }
        return Response(to_json(content), media_type="application/json")

    return await answered_once(context, idempotency, caller, work)


def verification_body(found: Verification) -> dict[str, object]:
    """A verification's result as JSON."""
    more = found.ok and not found.complete
    bad = found.first_bad_position
    return {
        "ok": found.ok,
        "complete": found.complete,
        "checked": found.checked,
        "head": str(found.head_position),
        "head_hash": found.head_hash.hex(),
        "end": str(found.end),
        "first_bad_position": str(bad) if bad is not None else None,
        "problem": str(found.problem) if found.problem is not None else None,
        "next": f"{found.head_position}-{found.head_hash.hex()}" if more else None,
    }


def _verify(conninfo: str, after: str, limit: int) -> Verification:
    position, _, digest = after.partition("-")
    start = None
    if digest:
        start = Checkpoint(int(position), bytes.fromhex(digest))
    elif int(position) > 0:
        start = stored_checkpoint(conninfo, int(position))
        if start is None:
            raise ProblemError("not_found", f"nothing stands at position {position} of the log")
    return verify(conninfo, start=start, limit=limit)
