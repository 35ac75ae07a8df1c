"""The OpenAPI document: FastAPI's own, completed by errors, headers and examples."""

import json
from typing import Any

from fastapi import FastAPI

from api.contract.facts import FACT_DATA, CloudEvent
from api.contract.permits import PERMIT_REQUEST
from api.contract.problems import PROBLEM, Problem, problem_document
from api.http.openapi_examples import ASKED, DENIALS

_REF = "#/components/schemas/{model}"
_METHODS = ("get", "put", "post", "delete")
_TAGS = {
    "permits": "Ask before each mail; redeem right before hand-over; report what became of it.",
    "due": "What is newly due, and permits for it.",
    "facts": "What happened outside: invoices, payments, messages, deliveries.",
    "webhooks": "What billing and mail providers post.",
    "people": "Customers, their breakers and addresses.",
    "control": "Pauses, guard checks, job leases, the test clock.",
    "incidents": "What went wrong, whom it reached, and one apology to each of them.",
    "journal": "Decisions, events, alerts, read models, audit.",
    "keys": "API keys.",
    "service": "Health, metrics, policy and the pages of problem types.",
}
_HEADERS = {
    "Idempotent-Replayed": "`true` where this is the stored answer of an earlier request",
    "Ledger-Warning": "`idempotency-key-changes`: one send key came under several keys; "
    "`riding-facts-not-kept`: facts of the request were looked at and forgotten; "
    "`reported-id-not-kept`: an id of the report is another mail's; "
    "`redeem-skipped`: the permit had to be redeemed before its mail and was not; "
    "`redeem-before-mail`: redeem claimed permits also with a key whose redeem is optional",
    "Ledger-Stale": "Seconds by which the read model is behind the log",
    "Retry-After": "Seconds to wait before asking again",
    "WWW-Authenticate": "`Bearer`",
}

Json = dict[str, Any]


def install_openapi(app: FastAPI) -> None:
    """Make the application serve the completed document."""
    derive = app.openapi

    def complete() -> Json:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(derive())
        return app.openapi_schema

    app.openapi = complete  # type: ignore[method-assign]


def _completed(document: Json) -> Json:
    used = {tag for o in _operations(document).values() for tag in o.get("tags", ())}
    document["tags"] = [{"name": n, "description": t} for n, t in _TAGS.items() if n in used]
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    _add_model(schemas, "Problem", Problem.model_json_schema(ref_template=_REF))
    _type_the_items(document, schemas)
    _leave_out_defaults([document["paths"], schemas])
    for (method, path), operation in _operations(document).items():
        _complete_operation(method, path, operation)
    return document


def _leave_out_defaults(node: Any) -> None:
    """Say in words what a property that is left out means.

    A generator of types takes a property with a `default` for one that is always there: right for
    what it reads, wrong for what it sends, and the same schema serves both.
    """
    if isinstance(node, list):
        for item in node:
            _leave_out_defaults(item)
        return
    if not isinstance(node, dict):
        return
    properties = node.get("properties")
    for schema in properties.values() if isinstance(properties, dict) else ():
        default = schema.pop("default", None) if isinstance(schema, dict) else None
        if default not in (None, [], {}):
            said = f"Left out, it is {json.dumps(default)}."
            schema["description"] = (
                f"{schema['description']} {said}" if "description" in schema else said
            )
    for name, value in node.items():
        if name not in ("example", "examples"):
            _leave_out_defaults(value)


def _operations(document: Json) -> dict[tuple[str, str], Json]:
    return {
        (method, path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in _METHODS
    }


def _add_model(schemas: Json, name: str, schema: Json) -> None:
    schemas.update(schema.pop("$defs", {}))
    schemas[name] = schema


def _type_the_items(document: Json, schemas: Json) -> None:
    """Add the item types of lists that the code declares as lists of anything.

    The code checks their items one by one, but readers need the type.
    """
    permit: Json = PERMIT_REQUEST.json_schema(ref_template=_REF)
    _add_model(schemas, "PermitRequest", permit)
    ask = document["paths"]["/v1/permits"]["post"]["requestBody"]["content"]
    ask["application/json"]["schema"] = {"$ref": _REF.format(model="PermitRequest")}
    items = {"$ref": _REF.format(model="PermitRequest")}
    schemas["BatchRequest"]["properties"]["requests"]["items"] = items
    _add_model(schemas, "CloudEvent", _cloud_event(schemas))
    event = {"$ref": _REF.format(model="CloudEvent")}
    facts = document["paths"]["/v1/facts"]["post"]["requestBody"]["content"]
    facts["application/json"]["schema"]["properties"]["facts"]["items"] = event
    facts["application/cloudevents+json"]["schema"] = event
    facts["application/cloudevents-batch+json"]["schema"] = {
        "type": "array",
        "items": event,
        "maxItems": 1000,
    }


def _cloud_event(schemas: Json) -> Json:
    """One alternative for each type of fact, with its data."""
    alternatives = []
    for type_, data in FACT_DATA.items():
        _add_model(schemas, data.__name__, data.model_json_schema(ref_template=_REF))
        envelope = CloudEvent.model_json_schema(ref_template=_REF)
        envelope["title"] = type_
        envelope["properties"]["type"] = {"const": type_, "type": "string"}
        envelope["properties"]["data"] = {"$ref": _REF.format(model=data.__name__)}
        alternatives.append(envelope)
    return {"title": "CloudEvent", "oneOf": alternatives}


def _complete_operation(method: str, path: str, operation: Json) -> None:
    responses = operation["responses"]
    body = operation.get("requestBody")
    if body is not None:
        responses.setdefault("413", {"description": "too_large: the body is over 1 MiB"})
        examples = ASKED.get((method, path))
        if examples is not None:
            for media_type, content in body["content"].items():
                content["examples"] = examples.get(media_type, examples["application/json"])
    names = {parameter["name"] for parameter in operation.get("parameters", ())}
    for status, response in responses.items():
        if status >= "400":
            response["content"] = {PROBLEM: _problem_content(method, path, status)}
        for header in _headers_of(path, status, names):
            response.setdefault("headers", {})[header] = {
                "description": _HEADERS[header],
                "schema": {"type": "string"},
            }


def _problem_content(method: str, path: str, status: str) -> Json:
    codes = DENIALS.get((method, path), {}).get(status) or [_GENERAL[status]]
    return {
        "schema": {"$ref": _REF.format(model="Problem")},
        "examples": {
            code: {"value": problem_document(code, "which permit, which mail, when it frees")[1]}
            for code in codes
        },
    }


_GENERAL = {
    "400": "bad_signature",
    "401": "unauthorized",
    "403": "forbidden",
    "404": "not_found",
    "409": "already_settled",
    "413": "too_large",
    "422": "invalid_request",
    "429": "cap_reached",
    "503": "unavailable",
}


def _headers_of(path: str, status: str, parameters: set[str]) -> list[str]:
    found = []
    if status == "401":
        found.append("WWW-Authenticate")
    if status in ("429", "503"):
        found.append("Retry-After")
    if status < "300" and "Idempotency-Key" in parameters:
        found.append("Idempotent-Replayed")
    if path == "/v1/permits" and status in ("403", "404", "409", "429"):
        found.append("Ledger-Warning")
    if path in ("/v1/permits/{permit_id}/outcome", "/v1/due/claim") and status == "200":
        found.append("Ledger-Warning")
    if path == "/v1/due" and status == "200":
        found.append("Ledger-Stale")
    return found
