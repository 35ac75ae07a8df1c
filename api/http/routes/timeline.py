"""Endpoints of timelines: all facts, decisions, outcomes and alerts of a customer or invoice."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from api.contract.fields import Id
from api.contract.problems import ProblemError
from api.contract.timeline import Timeline
from api.http.auth import Auditor, CurrentContext
from api.http.cursors import decode_text, encode_text
from api.http.fresh_reads import After, log_has_reached
from api.http.guarded_route import GuardedRoute
from api.http.problem_responses import documented
from ledger.application.answers import to_json
from ledger.store.looking_back.timeline import (
    BEGINNING,
    Entry,
    Place,
    TimelineScope,
    links_of_invoice,
    read_timeline,
    scope_of_customer,
)

router = APIRouter(prefix="/v1", tags=["people"], route_class=GuardedRoute)
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=500)]


@router.get(
    "/customers/{customer_id:text}/timeline", response_model=Timeline, responses=documented(404)
)
async def customer_timeline(
    customer_id: Id,
    caller: Auditor,
    context: CurrentContext,
    limit: Limit = 100,
    cursor: Cursor = None,
    after: After = None,
) -> Response:
    """The timeline of a customer, including ids merged into theirs, oldest first."""
    place = _place(cursor)
    await log_has_reached(context, after)
    ids = await context.reader.ids_of(customer_id)
    if ids is None:
        raise ProblemError("unknown_customer", f"customer {customer_id} is not known")
    async with context.connections.use() as connection:
        scope = await scope_of_customer(connection, ids)
        return _page(await read_timeline(connection, scope, place, limit + 1), limit)


@router.get(
    "/invoices/{invoice_id:text}/timeline", response_model=Timeline, responses=documented(404)
)
async def invoice_timeline(
    invoice_id: Id,
    caller: Auditor,
    context: CurrentContext,
    limit: Limit = 100,
    cursor: Cursor = None,
    after: After = None,
) -> Response:
    """The timeline of an invoice, under all customers that it ever named, oldest first."""
    place = _place(cursor)
    await log_has_reached(context, after)
    async with context.connections.use() as connection:
        links = await links_of_invoice(connection, invoice_id)
    debtors = await context.reader.every_id_of(links.owners)
    scope = TimelineScope((("invoice", invoice_id),), debtors, invoice_id, links.permits)
    async with context.connections.use() as connection:
        entries = await read_timeline(connection, scope, place, limit + 1)
    if not entries and place == BEGINNING:
        raise ProblemError("unknown_invoice", f"invoice {invoice_id} is not known to the ledger")
    return _page(entries, limit)


def _page(entries: list[Entry], limit: int) -> Response:
    page = entries[:limit]
    following = _cursor(page[-1].place) if len(entries) > limit else None
    content = {"items": [_item(entry) for entry in page], "next": following}
    return Response(to_json(content), media_type="application/json")


def _item(entry: Entry) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "what": entry.what,
        "at": entry.place.at,
        "position": str(entry.place.position),
        "about": entry.about,
        "data": entry.data,
    }


def _cursor(place: Place) -> str:
    return encode_text(f"{place.position} {place.at.isoformat()} {place.rank} {place.id}")


def _place(cursor: str | None) -> Place:
    text = decode_text(cursor)
    if text is None:
        return BEGINNING
    try:
        position, at, rank, id_ = text.split(" ")
        moment = datetime.fromisoformat(at)
        place = Place(int(position), moment, int(rank), id_)
    except ValueError:
        raise ProblemError("invalid_request", "the cursor is not one of the ledger's") from None
    bounded = 0 <= place.position < 2**63 and 0 <= place.rank <= 2 and len(id_) <= 40
    if moment.utcoffset() is None or not bounded or not id_.isascii():
        raise ProblemError("invalid_request", "the cursor is not one of the ledger's")
    return place
