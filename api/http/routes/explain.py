"""The endpoint that explains one decision (contract: People, design D11)."""

import uuid

from fastapi import APIRouter
from fastapi.responses import Response

from api.contract.explain import DecisionDetail
from api.contract.fields import OwnId
from api.contract.problems import ProblemError
from api.explanations.explanation import explain
from api.http.auth import Auditor, CurrentContext
from api.http.guarded_route import GuardedRoute
from api.http.problem_responses import documented
from ledger.application.answers import to_json
from ledger.store.looking_back.journal import get_decision

router = APIRouter(prefix="/v1", tags=["journal"], route_class=GuardedRoute)


@router.get("/decisions/{decision_id}", response_model=DecisionDetail, responses=documented(404))
async def get_one_decision(
    decision_id: OwnId, caller: Auditor, context: CurrentContext
) -> Response:
    """A decision: its request, its answer, the facts at that time, and the verdict of each guard.

    The guards are evaluated again on the log up to the decision, with the policy of that time.
    """
    try:
        name = str(uuid.UUID(decision_id))
    except ValueError:
        raise ProblemError("not_found", "there is no such decision") from None
    async with context.connections.use() as connection:
        row = await get_decision(connection, name)
        if row is None:
            raise ProblemError("not_found", "there is no such decision")
        row["explanation"] = await explain(connection, context.identity, row)
    row["position"] = str(row["position"])
    return Response(to_json(row), media_type="application/json")
