"""Endpoint of a customer's windows: what a sender may still send them, without personal data."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from api.contract.fields import CustomerId
from api.contract.people import CustomerWindows
from api.contract.problems import ProblemError
from api.http.auth import CurrentContext, PermitReader
from api.http.guarded_route import GuardedRoute
from api.http.limited_keys import check_customer, sees_its_own_only
from api.http.problem_responses import documented
from ledger.application.answers import to_json
from ledger.application.caller import Caller
from ledger.application.kinds.registry import KINDS
from ledger.application.views import windows_of
from ledger.domain.permit import Lane
from ledger.domain.windows import Window

router = APIRouter(prefix="/v1", tags=["people"], route_class=GuardedRoute)


@router.get(
    "/customers/{customer_id:text}/windows",
    response_model=CustomerWindows,
    responses=documented(404),
)
async def customer_windows(
    customer_id: CustomerId, caller: PermitReader, context: CurrentContext
) -> Response:
    """How many mails a customer may still get, by window, and whether their breaker is open.

    A key with limits is shown customers that it may mail, and the windows that its mails count in.
    What is left is no promise: only a permit is a yes.
    """
    check_customer(caller, (customer_id,))
    customer, found = await context.reader.customer(customer_id)
    if customer is None:
        raise ProblemError("unknown_customer", f"customer {customer_id} is not known")
    shown = [w for w in windows_of(customer, found.now, context.policy) if _may_see(caller, w)]
    body = {
        "customer_id": customer_id,
        "breaker": customer.breaker.scope if customer.breaker is not None else None,
        "windows": {window.name: _left(window) for window in shown},
        "position": str(found.position),
    }
    return Response(to_json(body), media_type="application/json")


def _may_see(caller: Caller, window: Window) -> bool:
    """May the key ask for a mail that counts in this window?"""
    limits = caller.limits
    if limits is None or not sees_its_own_only(caller):
        return True
    if window.name.startswith("replies"):
        replies = (k for k in KINDS.values() if k.lane(caller.transactional) is Lane.REPLY)
        return any(limits.allows_kind(each.kind, each.goes_with) for each in replies)
    if window.name.startswith("transactional"):
        return caller.transactional
    return True


def _left(window: Window) -> dict[str, Any]:
    return {
        "used": window.used,
        "limit": window.limit,
        "left": max(0, window.limit - window.used),
        "frees_at": window.frees_at,
    }
