"""Endpoints of the journal: decisions, events, alerts and read models."""

import uuid
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from api.contract.fields import Id, Instant
from api.contract.journal import (
    Acknowledged,
    AlertPage,
    DecisionList,
    EventList,
    ProjectionList,
    RebuildStarted,
)
from api.contract.people import AckRequest, RebuildRequest
from api.contract.problems import ProblemError
from api.http.auth import Auditor, CurrentContext, Operator
from api.http.cursors import decode_cursor, decode_number, encode_cursor, encode_text
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.problem_responses import documented
from api.upkeep.feed_watch import watch_feeds
from api.upkeep.sweeper import watch_unknown
from ledger.application.answers import to_json
from ledger.application.ports import Need
from ledger.domain.identity import aggregate_id
from ledger.store.alerts.outbox import acknowledge, list_alerts
from ledger.store.looking_back.journal import DecisionFilter, list_decisions, list_events
from ledger.store.looking_back.timeline import links_of_invoice
from projections.rebuild import rebuild
from projections.status import status

router = APIRouter(prefix="/v1", tags=["journal"], route_class=GuardedRoute)
_KINDS = ("invoice", "customer", "address", "thread", "incident", "job", "control")
"""The kinds by which an aggregate can be named; an address by itself or its fingerprint."""
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=500)]


@router.get("/decisions", response_model=DecisionList, responses=documented())
async def get_decisions(
    caller: Auditor,
    context: CurrentContext,
    customer_id: Id | None = None,
    invoice_id: Id | None = None,
    thread_id: Id | None = None,
    sender: Id | None = None,
    code: Id | None = None,
    from_: Annotated[Instant | None, Query(alias="from")] = None,
    to: Instant | None = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Decisions, newest first: who asked for what, and the answer.

    For a customer this includes decisions about ids merged into theirs, for an invoice decisions
    about mails that name it together with others.
    """
    wanted = DecisionFilter(
        invoice_id=invoice_id, thread_id=thread_id, sender=sender, code=code, from_=from_, to=to
    )
    if customer_id is not None:
        wanted = replace(wanted, customers=await context.reader.every_id_of([customer_id]))
    if invoice_id is not None:
        async with context.connections.use() as connection:
            links = await links_of_invoice(connection, invoice_id)
        debtors = await context.reader.every_id_of(links.owners)
        wanted = replace(wanted, debtors=debtors, permits=links.permits)
    id_, at = decode_cursor(cursor)
    before = (at, id_) if at is not None else None
    async with context.connections.use() as connection:
        rows = await list_decisions(connection, wanted, limit + 1, before)
    page = rows[:limit]
    following = None
    if len(rows) > limit:
        following = encode_cursor(page[-1]["decision_id"], page[-1]["decided_at"])
    for row in page:
        row["position"] = str(row["position"])
    return _page(page, following)


@router.get("/events", response_model=EventList, responses=documented(404))
async def get_events(
    caller: Auditor,
    context: CurrentContext,
    customer_id: Id | None = None,
    aggregate: Annotated[str | None, Query(max_length=300)] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Events in log order: all, those of a customer with their invoices, or of one aggregate.

    `aggregate` is an aggregate's id, or a kind and an outside id: `invoice:inv_1`.
    """
    after = decode_number(cursor) or 0
    aggregates = await _wanted_aggregates(context, customer_id, aggregate)
    async with context.connections.use() as connection:
        rows = await list_events(connection, aggregates, limit + 1, after)
    page = rows[:limit]
    following = encode_text(str(page[-1]["position"])) if len(rows) > limit else None
    for row in page:
        row["position"] = str(row["position"])
    return _page(page, following)


async def _wanted_aggregates(
    context: Any, customer_id: str | None, aggregate: str | None
) -> list[uuid.UUID] | None:
    if aggregate is not None:
        kind, colon, name = aggregate.partition(":")
        if colon and kind == "address" and "@" in name:
            name = context.translator.address(name).fingerprint
        if colon and kind in _KINDS:
            return [aggregate_id(kind, name)]
        try:
            return [uuid.UUID(aggregate)]
        except ValueError:
            raise ProblemError("invalid_request", "aggregate is an id or kind:id") from None
    if customer_id is None:
        return None
    customer, _ = await context.reader.customer(customer_id)
    if customer is None:
        raise ProblemError("unknown_customer", f"customer {customer_id} is not known")
    invoices = await context.reader.invoices_of(customer)
    ids = (customer.customer_id, *customer.absorbed)
    mailboxes = [aggregate_id("address", name) for name in customer.addresses]
    own = [aggregate_id("customer", name) for name in ids]
    return own + mailboxes + [i.id for i in invoices]


@router.get("/alerts", response_model=AlertPage, responses=documented())
async def get_alerts(
    caller: Auditor,
    context: CurrentContext,
    kind: Id | None = None,
    unacked: bool = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Alerts, newest first, and whether they were delivered and acknowledged."""
    await watch_unknown(context)
    await watch_feeds(context)
    async with context.connections.use() as connection:
        page = await list_alerts(
            connection,
            limit=limit,
            cursor=decode_number(cursor),
            kind=kind,
            unacked=unacked,
        )
    return _page(page.items, encode_text(str(page.next)) if page.next is not None else None)


@router.post("/alerts/{alert_id}/ack", response_model=Acknowledged, responses=documented(404))
async def ack_alert(
    alert_id: int,
    caller: Operator,
    context: CurrentContext,
    body: AckRequest | None = None,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Acknowledge an alert for a person who has seen it: it is not escalated any more."""
    asked = body or AckRequest()
    path = f"/v1/alerts/{alert_id}/ack"
    idempotency = idempotency_of(caller, "POST", path, key_header, asked)

    async def work() -> Response:
        by = asked.by or caller.name
        async with context.connections.use() as connection:
            if not 0 < alert_id < 2**63 or not await acknowledge(connection, alert_id, by):
                raise ProblemError("not_found", f"there is no alert {alert_id}")
        position = (await context.reader.load(Need())).position
        content = {"alert_id": alert_id, "acked": True, "position": str(position)}
        return Response(to_json(content), media_type="application/json")

    return await answered_once(context, idempotency, caller, work)


@router.get("/projections", response_model=ProjectionList, responses=documented())
async def get_projections(caller: Auditor, context: CurrentContext) -> Response:
    """The read models: their positions, and how far they are behind the log."""
    async with context.connections.use() as connection:
        rows = await status(connection)
    return _page(rows, None)


@router.post(
    "/projections/{name}/rebuild",
    status_code=202,
    response_model=RebuildStarted,
    responses=documented(404),
)
async def rebuild_projection(
    name: Id,
    caller: Operator,
    context: CurrentContext,
    body: RebuildRequest | None = None,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Rebuild a read model beside the live one, and switch to it once it has caught up."""
    path = f"/v1/projections/{name}/rebuild"
    idempotency = idempotency_of(caller, "POST", path, key_header, body or RebuildRequest())

    async def work() -> Response:
        async with context.connections.use() as connection:
            known = [row.name for row in await status(connection)]
        if name not in known:
            raise ProblemError("not_found", f"there is no read model {name}; known are {known}")
        context.in_background(rebuild(context.conninfo, name, context.policy), f"rebuild {name}")
        position = (await context.reader.load(Need())).position
        content = {"name": name, "state": "rebuilding", "position": str(position)}
        return Response(to_json(content), 202, None, "application/json")

    return await answered_once(context, idempotency, caller, work)


def _page(items: Any, following: str | None) -> Response:
    return Response(to_json({"items": items, "next": following}), media_type="application/json")
