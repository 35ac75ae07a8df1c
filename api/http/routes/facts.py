"""Endpoints that take facts, as invoice snapshots or CloudEvents (contract: Facts)."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Path, Request
from fastapi.responses import Response

from api.contract.cloud_events import fact_from
from api.contract.facts import (
    FACT_DATA,
    FactsAnswer,
    FactsRequest,
    InvoiceSnapshot,
    InvoiceState,
)
from api.contract.fields import Id
from api.contract.free_text import without_addresses
from api.contract.problems import ProblemError
from api.http.auth import CurrentContext, FactReader, Teller
from api.http.context import Context
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.problem_responses import answer_response, documented
from api.http.unusable_news import SnapshotRoute, tell_of_unusable_facts
from ledger.application.answers import Answer, to_json
from ledger.application.caller import Caller
from ledger.application.commands import ApplyFact
from ledger.application.effects import Alert
from ledger.application.facts.confirmations import CONFIRMED, as_confirmed
from ledger.application.facts.fact import Fact
from ledger.application.ports import Need
from ledger.application.views import invoice_view
from ledger.store.alerts.alerting import raise_alert

router = APIRouter(prefix="/v1", tags=["facts"], route_class=GuardedRoute)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]
invoices = APIRouter(prefix="/v1/invoices", tags=["facts"], route_class=SnapshotRoute)
InvoiceId = Annotated[Id, Path(description="The invoice's id in the billing system")]
_PATH = "/{invoice_id:text}"
"""Ids may have slashes (2026/001), so this route comes after all other paths below invoices."""
_NO_OBJECT = "a fact is a CloudEvent: a JSON object"
_MONEY = ("invoice", "payment", "credit", "refund", "charge", "dispute", "balance")
_LONGEST_TYPE = 64
_MOST_UNKNOWN_TYPES = 5
_MOST_MERGES = 250
"""Of one post: each copies what two customers have, so it takes much longer than another fact."""
_TOO_MANY_MERGES = f"one post may have {_MOST_MERGES} merges; tell the others in another one"


@invoices.put(_PATH, response_model=InvoiceState, responses=documented(413))
async def put_invoice(
    invoice_id: InvoiceId,
    body: InvoiceSnapshot,
    caller: Teller,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Store a snapshot of an invoice from the billing system; an older one changes nothing."""
    path = f"/v1/invoices/{invoice_id}"
    idempotency = idempotency_of(caller, "PUT", path, key_header, body)

    async def work() -> Response:
        fact = Fact(context.translator.invoice(invoice_id, body), f"put:{caller.name}")
        answer = await context.engine.submit(ApplyFact(fact, caller, answer_with_state=True))
        if answer.result == "rejected":
            raise ProblemError("invalid_request", orjson.loads(answer.body)["detail"])
        return answer_response(answer)

    return await answered_once(context, idempotency, caller, work)


@invoices.get(_PATH, response_model=InvoiceState, responses=documented(404))
async def get_invoice(
    invoice_id: InvoiceId, caller: FactReader, context: CurrentContext
) -> Response:
    """The current state of an invoice in the ledger."""
    invoice, found = await context.reader.aggregate("invoice", invoice_id)
    if invoice is None:
        raise ProblemError("unknown_invoice", f"invoice {invoice_id} is not known to the ledger")
    told = (await context.reader.load(Need(names={(CONFIRMED, invoice_id)}))).names
    snapshot = invoice.snapshot
    latest = as_confirmed(snapshot, told.get((CONFIRMED, invoice_id))) if snapshot else None
    body = invoice_view(invoice, found.now, context.policy, latest)
    return Response(
        to_json(body | {"position": str(found.position)}), media_type="application/json"
    )


@router.post(
    "/facts",
    response_model=FactsAnswer,
    responses=documented(413),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": FactsRequest.model_json_schema()},
                "application/cloudevents+json": {
                    "schema": {"type": "object", "description": "One CloudEvent"}
                },
                "application/cloudevents-batch+json": {
                    "schema": {"type": "array", "items": {"type": "object"}}
                },
            },
        }
    },
)
async def post_facts(
    request: Request,
    caller: Teller,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Apply up to 1000 CloudEvents in order; an invalid fact does not stop the others."""
    asked = await _events_of(request)
    idempotency = idempotency_of(caller, "POST", "/v1/facts", key_header, asked)

    async def work() -> Response:
        answer = await take_facts(context, caller, asked.facts)
        await _tell_of_unknown_types(context, asked.facts)
        await tell_of_unusable_facts(context, asked.facts, answer["results"])
        return Response(to_json(answer), media_type="application/json")

    return await answered_once(context, idempotency, caller, work)


async def _events_of(request: Request) -> FactsRequest:
    """The facts in a body: `{"facts": […]}`, one CloudEvent, or a batch of them."""
    try:
        given = await request.json()
    except ValueError:
        raise ProblemError("invalid_request", "the body is not JSON") from None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/cloudevents-batch+json":
        given = {"facts": given}
    elif kind == "application/cloudevents+json":
        given = {"facts": [given]}
    return FactsRequest.model_validate(given)


async def take_facts(context: Context, caller: Caller, events: list[Any]) -> dict[str, Any]:
    """Apply the facts in order; returns the result of each, and the log position after them."""
    parsed = [
        fact_from(context.translator, event) if isinstance(event, dict) else _NO_OBJECT
        for event in events
    ]
    for place in _merges_of(events)[_MOST_MERGES:]:
        parsed[place] = _TOO_MANY_MERGES
    commands = [ApplyFact(fact, caller) for fact in parsed if isinstance(fact, Fact)]
    answers = iter(await context.engine.submit_all(commands))
    results: list[dict[str, Any]] = []
    position = context.engine.position
    for event, fact in zip(events, parsed, strict=True):
        given = event.get("id") if isinstance(event, dict) else None
        id_ = given if isinstance(given, str) else None
        if isinstance(fact, Fact):
            answer = next(answers)
            if answer.status == 429:
                raise ProblemError("rate_limited", "too many facts at once; send them again")
            if answer.status >= 500:
                raise ProblemError("unavailable", "the store does not answer; send the facts again")
            if answer.status >= 400:
                raise ProblemError("unauthorized", "the key was revoked")
            position = max(position, answer.position)
            results.append({"id": id_, "result": answer.result, "detail": _detail(answer)})
        else:
            results.append({"id": id_, "result": "rejected", "detail": fact})
    return {"results": results, "position": str(position)}


def _merges_of(events: list[Any]) -> list[int]:
    """The places of the merges in a list of CloudEvents."""
    return [
        place
        for place, event in enumerate(events)
        if isinstance(event, dict) and event.get("type") == "customer.merged"
    ]


async def _tell_of_unknown_types(context: Context, events: list[Any]) -> None:
    """Raise one alert for each unknown type that could concern money (design D10)."""
    given = [event.get("type") for event in events if isinstance(event, dict)]
    texts = {type_ for type_ in given if isinstance(type_, str) and type_.isprintable()}
    unknown = {type_[:_LONGEST_TYPE] for type_ in texts - FACT_DATA.keys()}
    touching = sorted(t for t in unknown if any(word in t.lower() for word in _MONEY))
    if not touching:
        return
    async with context.connections.use() as connection:
        for type_ in touching[:_MOST_UNKNOWN_TYPES]:
            summary = f"facts of the unknown type {type_!r} were rejected; they may touch money"
            key = f"ingest_rejected:facts:{type_}"
            await raise_alert(connection, Alert("ingest_rejected", key, without_addresses(summary)))
    context.pager.wake()


def _detail(answer: Answer) -> str | None:
    detail = orjson.loads(answer.body).get("detail")
    return detail if isinstance(detail, str) else None
