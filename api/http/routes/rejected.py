"""Endpoints of rejected webhook bodies and of objects to fetch from a provider's API (D10)."""

import base64
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from api.contract.fields import Id
from api.contract.problems import ProblemError
from api.contract.webhooks import RefreshList, RejectedContent, RejectedList, ReplayAnswer
from api.http.auth import Auditor, BodyReader, CurrentContext, Operator
from api.http.context import Context
from api.http.cursors import decode_number, encode_text
from api.http.guarded_route import GuardedRoute
from api.http.problem_responses import documented
from api.webhooks.replay import NotConfigured, NotKept, replay
from ledger.application.answers import to_json
from ledger.store.webhooks.refresh import list_refresh, remove_refresh
from ledger.store.webhooks.rejected import dismiss_rejected, get_rejected, list_rejected

router = APIRouter(route_class=GuardedRoute)
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=500)]
RowId = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("/rejected", response_model=RejectedList, responses=documented())
async def get_rejected_list(
    caller: Auditor,
    context: CurrentContext,
    provider: Id | None = None,
    kind: Id | None = None,
    resolved: bool = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Rejected bodies, oldest first; with `resolved` also the resolved ones."""
    async with context.connections.use() as connection:
        rows = await list_rejected(
            connection,
            limit=limit + 1,
            after=decode_number(cursor) or 0,
            provider=provider,
            kind=kind,
            resolved=resolved,
        )
    return _page([asdict(row) for row in rows], "rejected_id", limit)


@router.get("/rejected/{rejected_id}", response_model=RejectedContent, responses=documented(404))
async def get_rejected_body(
    rejected_id: RowId, caller: BodyReader, context: CurrentContext
) -> Response:
    """A rejected body with its headers. It may contain addresses, so it needs scope `operate`."""
    async with context.connections.use() as connection:
        kept = await get_rejected(connection, rejected_id)
    if kept is None:
        raise _not_kept(rejected_id)
    content = asdict(kept.row) | {"headers": kept.headers}
    try:
        content |= {"body": kept.body.decode("utf-8"), "encoding": "utf-8"}
    except UnicodeDecodeError:
        content |= {"body": base64.b64encode(kept.body).decode(), "encoding": "base64"}
    return Response(to_json(content), media_type="application/json")


@router.post(
    "/rejected/{rejected_id}/replay", response_model=ReplayAnswer, responses=documented(404)
)
async def replay_rejected(
    rejected_id: RowId, caller: Operator, context: CurrentContext
) -> Response:
    """Process a rejected body again, after a fix; facts applied before are duplicates."""
    try:
        taken = await replay(context.intake, context.connections, rejected_id)
    except (NotKept, NotConfigured) as error:
        raise ProblemError("not_found", str(error)) from None
    context.pager.wake()
    content = {
        "rejected_id": rejected_id,
        "used": not taken.refused,
        "results": taken.results,
        "refresh": taken.refresh,
        "reasons": [asdict(reason) for reason in taken.refused],
    }
    return Response(to_json(content), media_type="application/json")


@router.post(
    "/rejected/{rejected_id}/dismiss", response_model=dict[str, Any], responses=documented(404)
)
async def dismiss(rejected_id: RowId, caller: Operator, context: CurrentContext) -> Response:
    """Dismiss a rejected body about which nothing needs to be done; it leaves the list."""
    async with context.connections.use() as connection:
        if not await dismiss_rejected(connection, rejected_id):
            raise _not_kept(rejected_id)
    content = {"rejected_id": rejected_id, "resolution": "dismissed"}
    return Response(to_json(content), media_type="application/json")


@router.get("/refresh", response_model=RefreshList, responses=documented())
async def get_refresh_list(
    caller: Auditor,
    context: CurrentContext,
    provider: Id | None = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Objects that changed at a provider and must still be fetched, by the ledger or by you.

    `fetched_by` is `ledger` where the provider's API is configured. Fetch the others yourself: post
    their facts to `/v1/facts`, then call `done`.
    """
    async with context.connections.use() as connection:
        rows = await list_refresh(
            connection, limit=limit + 1, after=decode_number(cursor) or 0, provider=provider
        )
    items = [asdict(row) | {"fetched_by": _fetched_by(context, row.provider)} for row in rows]
    return _page(items, "refresh_id", limit)


@router.post("/refresh/{refresh_id}/done", response_model=dict[str, Any], responses=documented(404))
async def refresh_done(refresh_id: RowId, caller: Operator, context: CurrentContext) -> Response:
    """Mark an object as done that you fetched yourself; it leaves the list."""
    async with context.connections.use() as connection:
        if not await remove_refresh(connection, refresh_id):
            raise ProblemError("not_found", f"nothing of the id {refresh_id} waits to be fetched")
    content = {"refresh_id": refresh_id, "done": True}
    return Response(to_json(content), media_type="application/json")


def _fetched_by(context: Context, provider: str) -> str:
    return "ledger" if provider in context.settings.apis else "you"


def _not_kept(rejected_id: int) -> ProblemError:
    return ProblemError("not_found", f"there is no kept body {rejected_id}")


def _page(items: list[dict[str, Any]], id_: str, limit: int) -> Response:
    """A page of at most `limit` items; `items` has one more if there is a next page."""
    page = items[:limit]
    following = encode_text(str(page[-1][id_])) if len(items) > limit else None
    return Response(to_json({"items": page, "next": following}), media_type="application/json")
