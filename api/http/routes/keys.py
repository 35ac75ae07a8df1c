"""Endpoints that create, list and revoke API keys."""

from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from api.contract.fields import OwnId
from api.contract.keys import KeyList, KeyRequest, NewKey
from api.contract.problems import ProblemError
from api.http.auth import Admin, CurrentContext, KeyReader
from api.http.context import Context
from api.http.cursors import decode_key_id, encode_text
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.problem_responses import documented
from api.running.key_rules import rules_of, shown_rules
from ledger.application.answers import to_json
from ledger.application.ports import Need
from ledger.store.keys import create_key, list_keys, revoke_key

router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=GuardedRoute)

IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.post("", status_code=201, response_model=NewKey, responses=documented())
async def make_key(
    body: KeyRequest,
    caller: Admin,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Create a key. Only this response has its secret; a replayed response has null instead."""
    idempotency = idempotency_of(caller, "POST", "/v1/keys", key_header, body)

    async def work() -> Response:
        return await _make(context, body)

    return await answered_once(context, idempotency, caller, work, _without_secret)


async def _make(context: Context, body: KeyRequest) -> Response:
    async with context.connections.use() as connection:
        record, secret = await create_key(connection, body.name, body.scopes, rules_of(body))
    content = {
        "key_id": record.key_id,
        "key": secret,
        **shown_rules(record),
        "position": str((await context.reader.load(Need())).position),
    }
    return Response(to_json(content), 201, media_type="application/json")


def _without_secret(body: bytes) -> bytes:
    return to_json(orjson.loads(body) | {"key": None})


@router.get("", response_model=KeyList, responses=documented())
async def get_keys(
    caller: KeyReader,
    context: CurrentContext,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> Response:
    """All keys, revoked ones included, without their secrets."""
    async with context.connections.use() as connection:
        rows = await list_keys(connection, limit + 1, decode_key_id(cursor))
    page = rows[:limit]
    items = [
        {
            "key_id": row.key_id,
            **shown_rules(row),
            "created_at": row.created_at,
            "revoked_at": row.revoked_at,
        }
        for row in page
    ]
    following = encode_text(page[-1].key_id) if len(rows) > limit else None
    return Response(to_json({"items": items, "next": following}), media_type="application/json")


@router.delete("/{key_id}", status_code=204, responses=documented(404))
async def drop_key(key_id: OwnId, caller: Admin, context: CurrentContext) -> Response:
    """Revoke a key: no decision is made for it after this call has returned."""
    async with context.connections.use() as connection:
        if not await revoke_key(connection, key_id):
            raise ProblemError("not_found", f"there is no live key {key_id}")
    context.keys.forget(key_id)
    return Response(status_code=204)
