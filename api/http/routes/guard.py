"""The endpoint that runs a guard check, which a resume requires (contract: People)."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import Response

from api.contract.guard import GuardCheckAnswer, GuardCheckRequest
from api.guard_check.check import run_guard_check
from api.http.auth import CurrentContext, Operator
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.problem_responses import documented
from ledger.application.answers import to_json

router = APIRouter(prefix="/v1/control", tags=["control"], route_class=GuardedRoute)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.post("/guard-check", response_model=GuardCheckAnswer, responses=documented())
async def guard_check(
    caller: Operator,
    context: CurrentContext,
    body: GuardCheckRequest | None = None,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Test the guards with a synthetic customer; 200 with `passed` and the result of each probe.

    It also works during a pause and in recovery mode, and does not affect real customers. It takes
    up to a minute where an alert target is slow.
    """
    asked = body or GuardCheckRequest()
    path = "/v1/control/guard-check"
    idempotency = idempotency_of(caller, "POST", path, key_header, asked)

    async def work() -> Response:
        result = await run_guard_check(context, caller)
        content = asdict(result) | {"position": str(result.position)}
        return Response(to_json(content), media_type="application/json")

    return await answered_once(context, idempotency, caller, work)
