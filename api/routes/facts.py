"""Facts: invoice snapshots, CloudEvents, and what providers post (contract: Facts)."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Path, Request
from fastapi.responses import Response
from pydantic import ValidationError

from api.auth import CurrentContext, FactReader, Teller
from api.context import Context
from api.guarded_route import GuardedRoute
from api.idempotency import answered_once, idempotency_of
from api.problems import ProblemError, answer_response, documented, validation_errors
from api.schemas.facts import (
    FACT_DATA,
    CloudEvent,
    FactsAnswer,
    FactsRequest,
    InvoiceSnapshot,
    InvoiceState,
)
from api.schemas.fields import Id
from api.translate import fact_of
from ledger.application.answers import Answer, to_json
from ledger.application.fact_data import Fact
from ledger.application.requests import ApplyFact, Caller
from ledger.application.views import invoice_view

router = APIRouter(prefix="/v1", tags=["facts"], route_class=GuardedRoute)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]
invoices = APIRouter(prefix="/v1/invoices", tags=["facts"], route_class=GuardedRoute)
InvoiceId = Annotated[Id, Path(description="The invoice's id in the billing system")]
_PATH = "/{invoice_id:path}"
"""Numbers such as 2026/001 are ids too; so this comes after every other path below invoices."""
_MOST_FACTS = 1000


@invoices.put(_PATH, response_model=InvoiceState, responses=documented(413))
async def put_invoice(
    invoice_id: InvoiceId,
    body: InvoiceSnapshot,
    caller: Teller,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Tell what the billing system says of an invoice now; an older snapshot changes nothing."""
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
    """An invoice as the ledger knows it, as of now."""
    invoice, found = await context.reader.aggregate("invoice", invoice_id)
    if invoice is None:
        raise ProblemError("unknown_invoice", f"invoice {invoice_id} is not known to the ledger")
    body = invoice_view(invoice, found.now, context.policy)
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
    """Up to 1000 CloudEvents, applied in order; one bad fact does not stop the others."""
    asked = await _events_of(request)
    idempotency = idempotency_of(caller, "POST", "/v1/facts", key_header, asked)

    async def work() -> Response:
        answer = await take_facts(context, caller, asked.facts)
        return Response(to_json(answer), media_type="application/json")

    return await answered_once(context, idempotency, caller, work)


async def _events_of(request: Request) -> FactsRequest:
    """The facts of a body: `{"facts": […]}`, one CloudEvent, or a batch of them."""
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
    """Apply the facts in order; the result of each, and the position after them."""
    parsed = [_parse(context, event) for event in events]
    commands = [ApplyFact(fact, caller) for fact in parsed if isinstance(fact, Fact)]
    answers = iter(await context.engine.submit_all(commands))
    results: list[dict[str, Any]] = []
    position = context.engine.position
    for event, fact in zip(events, parsed, strict=True):
        given = event.get("id") if isinstance(event, dict) else None
        id_ = given if isinstance(given, str) else None
        if isinstance(fact, Fact):
            answer = next(answers)
            if answer.status >= 500:
                raise ProblemError("unavailable", "the store does not answer; send the facts again")
            if answer.status >= 400:
                raise ProblemError("unauthorized", "the key was revoked")
            position = max(position, answer.position)
            results.append({"id": id_, "result": answer.result, "detail": _detail(answer)})
        else:
            results.append({"id": id_, "result": "rejected", "detail": fact})
    return {"results": results, "position": str(position)}


def _parse(context: Context, event: Any) -> Fact | str:
    """The fact of a CloudEvent, or why it is rejected."""
    if not isinstance(event, dict):
        return "a fact is a CloudEvent: a JSON object"
    try:
        envelope = CloudEvent.model_validate(event)
    except ValidationError as error:
        return _why(error)
    shape = FACT_DATA.get(envelope.type)
    if shape is None:
        return f"{envelope.type!r} is not a type of fact that the ledger takes"
    try:
        data = shape.model_validate(envelope.data)
    except ValidationError as error:
        return _why(error)
    source, id_, time = envelope.source, envelope.id, envelope.time
    return fact_of(context.translator, envelope.type, data, source, id_, time)


def _why(error: ValidationError) -> str:
    first = validation_errors(error)[0]
    return f"{first['at']}: {first['message']}"


def _detail(answer: Answer) -> str | None:
    detail = orjson.loads(answer.body).get("detail")
    return detail if isinstance(detail, str) else None
