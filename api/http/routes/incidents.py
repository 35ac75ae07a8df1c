"""Endpoints of incidents: declare, list affected customers, report, close (contract: People)."""

import asyncio
import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from api.contract.fields import OwnId
from api.contract.incidents import (
    AffectedList,
    CloseRequest,
    IncidentDetail,
    IncidentList,
    IncidentRequest,
    ReportBody,
)
from api.contract.problems import ProblemError
from api.http.accepting import preferred
from api.http.auth import Auditor, CurrentContext, Operator
from api.http.context import Context
from api.http.cursors import decode_number, decode_text, encode_text
from api.http.fresh_reads import After, current_projection
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.problem_responses import answer_response, documented
from api.incidents.report import apologies_by_state, apology_to, report_of, window_of
from api.incidents.report_html import report_html
from api.incidents.report_json import report_json
from api.incidents.report_markdown import report_markdown
from api.incidents.views import affected_view, incident_row_view, incident_view
from ledger.application.answers import to_json
from ledger.application.commands import CloseIncident, DeclareIncident
from ledger.application.ports import Loaded
from ledger.domain.incident import Incident
from projections.affected import BEFORE_ALL, affected_customers, details_of
from projections.incidents import list_incidents

router = APIRouter(prefix="/v1/incidents", tags=["incidents"], route_class=GuardedRoute)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=2000)]
_MARKDOWN, _HTML = "text/markdown", "text/html"
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@router.post("", status_code=201, response_model=IncidentDetail, responses=documented())
async def declare_incident(
    body: IncidentRequest,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Declare an incident with its time window. Permits for apologies are then possible.

    Each affected customer can get one apology.
    """
    idempotency = idempotency_of(caller, "POST", "/v1/incidents", key_header, body)

    async def work() -> Response:
        command = DeclareIncident(
            incident_id=str(uuid.uuid4()),
            title=body.title,
            cause=body.cause,
            window_from=body.from_,
            window_to=body.to,
            by=body.by or caller.name,
            caller=caller,
        )
        answer = await context.engine.submit(command)
        if answer.status >= 400:
            return answer_response(answer)
        return await _state(context, command.incident_id, 201)

    return await answered_once(context, idempotency, caller, work)


@router.get("", response_model=IncidentList, responses=documented())
async def get_incidents(
    caller: Auditor,
    context: CurrentContext,
    limit: Limit = 100,
    cursor: Cursor = None,
    after: After = None,
) -> Response:
    """Incidents, newest first."""
    before = decode_number(cursor)
    headers = await current_projection(context, after)
    async with context.connections.use() as connection:
        rows = await list_incidents(connection, limit + 1, before)
    page = rows[:limit]
    following = encode_text(str(page[-1].position)) if len(rows) > limit else None
    content = {"items": [incident_row_view(row) for row in page], "next": following}
    return Response(to_json(content), headers=headers, media_type="application/json")


@router.get("/{incident_id}", response_model=IncidentDetail, responses=documented(404))
async def get_incident(incident_id: OwnId, caller: Auditor, context: CurrentContext) -> Response:
    """An incident, and the number of its apologies in each state."""
    return await _state(context, incident_id, 200)


@router.get("/{incident_id}/affected", response_model=AffectedList, responses=documented(404))
async def get_affected(
    incident_id: OwnId,
    caller: Auditor,
    context: CurrentContext,
    limit: Limit = 100,
    cursor: Cursor = None,
    after: After = None,
) -> Response:
    """The customers who got more mails in the window than the policy allows, most mails first.

    Counted are outreach mails: those with a permit, and those sent without the ledger.
    """
    place = _place(cursor)
    headers = await current_projection(context, after)
    incident, found = await _incident(context, incident_id)
    window = window_of(incident, found.now, context.policy)
    async with context.connections.use() as connection:
        rows = await affected_customers(connection, window, limit + 1, place)
        page = rows[:limit]
        details = await details_of(connection, window, [row.customer_id for row in page])
    following = None
    if len(rows) > limit:
        following = encode_text(f"{page[-1].mails} {page[-1].customer_id}")
    items = [
        affected_view(row, details[row.customer_id], apology_to(incident, row)) for row in page
    ]
    content = {"items": items, "next": following}
    return Response(to_json(content), headers=headers, media_type="application/json")


@router.get(
    "/{incident_id}/report",
    response_model=ReportBody,
    responses={
        200: {
            "description": "The report, as JSON or as the `Accept` header prefers",
            "content": {
                _MARKDOWN: {"schema": {"type": "string"}},
                _HTML: {"schema": {"type": "string"}},
            },
        },
        **documented(404),
    },
)
async def get_report(
    incident_id: OwnId,
    caller: Auditor,
    context: CurrentContext,
    accept: Annotated[str | None, Header(max_length=2000)] = None,
    after: After = None,
) -> Response:
    """The report: what happened, when, to whom, and what was done. It needs no other source."""
    headers = await current_projection(context, after)
    headers["Vary"] = "Accept"
    incident, found = await _incident(context, incident_id)
    async with context.connections.use() as connection:
        report = await report_of(connection, incident, found.now, found.position, context.policy)
    form = preferred(accept, ("application/json", _MARKDOWN, _HTML))
    if form == _MARKDOWN:
        text = await asyncio.to_thread(report_markdown, report)
        return Response(text, headers=headers, media_type=_MARKDOWN)
    if form == _HTML:
        text = await asyncio.to_thread(report_html, report)
        headers["Content-Security-Policy"] = _PAGE_POLICY
        return Response(text, headers=headers, media_type=_HTML)
    content = await asyncio.to_thread(lambda: to_json(report_json(report)))
    return Response(content, headers=headers, media_type="application/json")


@router.post("/{incident_id}/close", response_model=IncidentDetail, responses=documented(404))
async def close_incident(
    incident_id: OwnId,
    caller: Operator,
    context: CurrentContext,
    body: CloseRequest | None = None,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Close an incident: it allows no further apologies. Closing it again changes nothing."""
    asked = body or CloseRequest()
    path = f"/v1/incidents/{incident_id}/close"
    idempotency = idempotency_of(caller, "POST", path, key_header, asked)

    async def work() -> Response:
        command = CloseIncident(incident_id, asked.by or caller.name, caller)
        answer = await context.engine.submit(command)
        if answer.status >= 400:
            return answer_response(answer)
        return await _state(context, incident_id, 200)

    return await answered_once(context, idempotency, caller, work)


async def _incident(context: Context, incident_id: str) -> tuple[Incident, Loaded]:
    incident, found = await context.reader.aggregate("incident", incident_id)
    if not isinstance(incident, Incident):
        raise ProblemError("unknown_incident", f"there is no incident {incident_id}")
    return incident, found


async def _state(context: Context, incident_id: str, status: int) -> Response:
    """The current state of an incident, as a response."""
    incident, found = await _incident(context, incident_id)
    content: dict[str, Any] = incident_view(incident)
    content["apologies"] = apologies_by_state(incident)
    content["position"] = str(found.position)
    return Response(to_json(content), status, media_type="application/json")


def _place(cursor: str | None) -> tuple[int, str]:
    """Decode a cursor of affected customers: the mails and the id of the last one returned."""
    text = decode_text(cursor)
    if text is None:
        return BEFORE_ALL
    mails, space, customer_id = text.partition(" ")
    if not space or not mails.isdecimal() or len(mails) > 18:
        raise ProblemError("invalid_request", "the cursor is not one of the ledger's")
    return int(mails), customer_id
