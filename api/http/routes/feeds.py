"""Feeds: when each source of facts was last heard, and which have fallen silent."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from api.contract.feeds import FeedList
from api.http.auth import Auditor, CurrentContext
from api.http.cursors import decode_text, encode_text
from api.http.guarded_route import GuardedRoute
from api.http.problem_responses import documented
from api.upkeep.feed_watch import watch_feeds
from ledger.application.answers import to_json
from ledger.store.feeds import list_feeds

router = APIRouter(prefix="/v1", tags=["facts"], route_class=GuardedRoute)


@router.get("/feeds", response_model=FeedList, responses=documented())
async def get_feeds(
    caller: Auditor,
    context: CurrentContext,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """The sources of facts, by name; those of other processes may be a few seconds behind."""
    await watch_feeds(context)
    async with context.connections.use() as connection:
        rows, more = await list_feeds(connection, decode_text(cursor) or "", limit)
    items = [
        {
            "source": row.source,
            "first_heard_at": row.first_heard_at,
            "last_heard_at": row.last_heard_at,
            "tells_of_money": row.tells_of_money,
            "silent_since": row.silent_since,
            "facts": row.results,
        }
        for row in rows
    ]
    following = encode_text(rows[-1].source) if more else None
    return Response(to_json({"items": items, "next": following}), media_type="application/json")
