"""Endpoint of the effect report: what the ledger did in a time."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from api.contract.effects import EffectBody
from api.contract.fields import Instant
from api.contract.problems import ProblemError
from api.effects.forms import FORMS
from api.http.accepting import preferred
from api.http.auth import Auditor, CurrentContext
from api.http.fresh_reads import After, current_projection
from api.http.guarded_route import GuardedRoute
from api.http.problem_responses import documented
from projections.effect import effect_of

router = APIRouter(prefix="/v1/reports", tags=["journal"], route_class=GuardedRoute)
_TYPES = {"application/json": "json", "text/markdown": "markdown", "text/html": "html"}
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# One report at a time: each reads all decisions and mails of its time.
_ONE = asyncio.Semaphore(1)


@router.get(
    "/effect",
    response_model=EffectBody,
    responses={
        200: {
            "description": "The report, as JSON or as the `Accept` header prefers",
            "content": {
                "text/markdown": {"schema": {"type": "string"}},
                "text/html": {"schema": {"type": "string"}},
            },
        },
        **documented(),
    },
)
async def get_effect(
    caller: Auditor,
    context: CurrentContext,
    from_: Annotated[Instant, Query(alias="from")],
    to: Annotated[Instant | None, Query(description="The end (default: now)")] = None,
    accept: Annotated[str | None, Header(max_length=2000)] = None,
    after: After = None,
) -> Response:
    """Duplicates prevented, mails per customer and day, time from reminder to payment, caution.

    The time is half-open. Each figure's definition is in the Markdown and HTML formats.
    """
    until = to or datetime.max.replace(tzinfo=UTC)
    if until <= from_:
        raise ProblemError("invalid_request", "`to` must be after `from`")
    headers = await current_projection(context, after)
    headers["Vary"] = "Accept"
    async with _ONE, context.connections.use() as connection:
        effect = await effect_of(connection, from_, until)
    kind = preferred(accept, tuple(_TYPES))
    text = await asyncio.to_thread(FORMS[_TYPES[kind]], effect)
    if kind == "text/html":
        headers["Content-Security-Policy"] = _PAGE_POLICY
    return Response(text, headers=headers, media_type=kind)
