"""Lists and searches for people at work: open breakers, invoices, customers by their address."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from api.contract.facts import InvoiceStatus
from api.contract.fields import CustomerId
from api.contract.lists import BreakerList, FoundCustomers, FoundThings, InvoiceList
from api.contract.people import AddressSearch, FindRequest
from api.finding.search import MOST_CUSTOMERS, find
from api.http.auth import Auditor, CurrentContext, FactReader
from api.http.context import Context
from api.http.cursors import decode_id, decode_text, encode_text
from api.http.fresh_reads import After, current_projection
from api.http.guarded_route import GuardedRoute
from api.http.problem_responses import documented
from ledger.application.answers import to_json
from ledger.application.ports import Need
from ledger.domain.identity import aggregate_id
from projections.customers import list_breakers
from projections.invoices import InvoiceRow, list_invoices

router = APIRouter(prefix="/v1", route_class=GuardedRoute)
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=2000)]


@router.get("/breakers", tags=["people"], response_model=BreakerList, responses=documented())
async def get_breakers(
    caller: Auditor,
    context: CurrentContext,
    limit: Limit = 100,
    cursor: Cursor = None,
    after: After = None,
) -> Response:
    """The open breakers, by customer: which mails each denies, since when and why."""
    start = decode_text(cursor) or ""
    headers = await current_projection(context, after, ("customers",))
    async with context.connections.use() as connection:
        rows = await list_breakers(connection, limit + 1, start)
    page = rows[:limit]
    content = {
        "items": [
            {
                "customer_id": row.customer_id,
                "scope": row.scope,
                "opened_at": row.opened_at,
                "cause": row.cause,
            }
            for row in page
        ],
        "next": encode_text(page[-1].customer_id) if len(rows) > limit else None,
    }
    return Response(to_json(content), headers=headers, media_type="application/json")


@router.get("/invoices", tags=["facts"], response_model=InvoiceList, responses=documented())
async def get_invoices(
    caller: FactReader,
    context: CurrentContext,
    status: InvoiceStatus | None = None,
    customer_id: CustomerId | None = None,
    limit: Limit = 100,
    cursor: Cursor = None,
    after: After = None,
) -> Response:
    """Invoices, of a status or of a customer with the ids merged into theirs.

    The order means nothing, and stays as it is from page to page.
    """
    start = decode_id(cursor)
    headers = await current_projection(context, after, ("invoices",))
    narrowed: dict[str, Any] = {}
    if customer_id is not None:
        ids = await context.reader.every_id_of([customer_id])
        owned = (await context.reader.load(Need(owners=set(ids)))).owned
        names = {name for names in owned.values() for name in names}
        narrowed = {"customers": ids, "ids": [aggregate_id("invoice", name) for name in names]}
    async with context.connections.use() as connection:
        rows = await list_invoices(connection, limit + 1, start, status=status, **narrowed)
    page = rows[:limit]
    following = encode_text(page[-1].originator_id) if len(rows) > limit else None
    content = {"items": [_invoice(row) for row in page], "next": following}
    return Response(to_json(content), headers=headers, media_type="application/json")


@router.post(
    "/customers/search", tags=["people"], response_model=FoundCustomers, responses=documented()
)
async def search_customers(
    body: AddressSearch, caller: Auditor, context: CurrentContext
) -> Response:
    """The customers who have or had an address. An erased address is not found."""
    fingerprint = context.translator.address(body.address).fingerprint
    ids = await context.reader.customers_at(fingerprint, MOST_CUSTOMERS + 1)
    content = {
        "items": await _found(context, ids[:MOST_CUSTOMERS], fingerprint),
        "more": len(ids) > MOST_CUSTOMERS,
    }
    return Response(to_json(content), media_type="application/json")


@router.post("/find", tags=["people"], response_model=FoundThings, responses=documented())
async def find_anything(body: FindRequest, caller: Auditor, context: CurrentContext) -> Response:
    """All that goes by a text: an address, a Message-ID, a provider's message id, or any id."""
    matches = await find(context, context.translator, body.text.strip())
    content = {"items": [asdict(match) for match in matches]}
    return Response(to_json(content), media_type="application/json")


async def _found(context: Context, ids: list[str], fingerprint: str) -> list[dict[str, Any]]:
    """The customers of these ids, each once, after merges."""
    found: dict[str, dict[str, Any]] = {}
    for id_ in ids:
        customer, _ = await context.reader.customer(id_)
        if customer is None:
            continue
        row = found.setdefault(
            customer.customer_id,
            {
                "customer_id": customer.customer_id,
                "matched": [],
                "has_it": fingerprint in customer.addresses,
            },
        )
        row["matched"].append(id_)
    return list(found.values())


def _invoice(row: InvoiceRow) -> dict[str, Any]:
    return {
        "invoice_id": row.invoice_id,
        "customer_id": row.customer_id,
        "currency": row.currency,
        "total": row.total,
        "amount_remaining": row.balance,
        "status": row.status,
        "issued_on": row.issued_on,
        "due_on": row.due_on,
        "cycle": row.cycle,
        "observed_at": row.observed_at,
        "source": row.source,
    }
