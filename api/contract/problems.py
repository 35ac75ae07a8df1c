"""Problem documents (RFC 9457): the errors of the interface, and what FastAPI's own become."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from ledger.application.answers import Answer, to_json
from ledger.application.ports import StoreUnavailable
from ledger.domain.reasons import REASONS

PROBLEM = "application/problem+json"
RETRY_SOON = (("Retry-After", "1"),)
"""What goes with every 503: a store that is down is mostly back within seconds."""
OTHER_REASONS = {
    "unauthorized": (401, "No key, or one that the ledger does not know"),
    "forbidden": (403, "This key may not do that"),
    "not_found": (404, "There is nothing here"),
    "method_not_allowed": (405, "The path does not take this method"),
    "too_large": (413, "The body is larger than 1 MiB"),
    "bad_signature": (400, "The signature of the webhook does not fit"),
    "stale": (503, "The read model has not come that far yet"),
    "internal_error": (500, "The request could not be decided; nothing was granted"),
}


class OriginalSend(BaseModel):
    """The send that a duplicate repeats."""

    permit_id: str | None
    sender: str | None
    sent_at: str | None
    provider_message_id: str | None


class Problem(BaseModel):
    """A no, an error, or a denial."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    retryable: bool
    decision_id: str | None = None
    available_at: str | None = None
    permit_id: str | None = None
    due_stage: str | None = None
    original: OriginalSend | None = None
    withheld: list[dict[str, Any]] | None = None
    errors: list[dict[str, Any]] | None = None


class ProblemError(Exception):
    """Raised by an endpoint; becomes a problem document."""

    def __init__(self, code: str, detail: str, **extra: Any) -> None:
        super().__init__(code, detail)
        self.code, self.detail, self.extra = code, detail, extra


def problem_document(code: str, detail: str, **extra: Any) -> tuple[int, dict[str, Any]]:
    """Status and body of a problem of this code."""
    reason = REASONS.get(code)
    if reason is not None:
        status, title, retryable = reason.status, reason.title, reason.retryable
    else:
        status, title = OTHER_REASONS[code]
        retryable = status == 503
    body: dict[str, Any] = {
        "type": f"/problems/{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "retryable": retryable,
    }
    return status, body | extra


def problem_response(code: str, detail: str, **extra: Any) -> Response:
    """A problem as a response."""
    status, body = problem_document(code, detail, **extra)
    headers = dict(RETRY_SOON) if status == 503 else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(to_json(body), status, headers, PROBLEM)


def answer_response(answer: Answer) -> Response:
    """The engine's answer as a response."""
    media_type = PROBLEM if answer.status >= 400 else "application/json"
    response = Response(answer.body, answer.status, None, media_type)
    for name, value in answer.headers:
        response.headers.append(name, value)
    return response


def validation_errors(error: ValidationError | RequestValidationError) -> list[dict[str, Any]]:
    """Where a body is wrong and why, without the values: they may be addresses (design D18)."""
    return [_place_and_why(item) for item in list(error.errors())[:20]]


def _place_and_why(item: Any) -> dict[str, Any]:
    """One error of pydantic or FastAPI in the words of somebody who sent a request."""
    at, kind = ".".join(str(part) for part in item["loc"]), item["type"]
    message = str(item["msg"]).removeprefix("Value error, ")
    if kind == "json_invalid" and item["loc"]:
        why = item.get("ctx", {}).get("error", message)
        at, message = "body", f"this is not JSON, at character {item['loc'][-1]}: {why}"
    elif kind == "missing" and at == "body":
        message = "a JSON body is needed, with Content-Type: application/json"
    elif kind == "extra_forbidden":
        message = "there is no such field"
    return {"at": at, "message": message[:300]}


def first_of(errors: list[dict[str, Any]]) -> str:
    """The first of these errors, as the detail of a problem."""
    if not errors:
        return "the body is not valid"
    at, message = errors[0]["at"], errors[0]["message"]
    return f"{at}: {message}" if at else str(message)


def invalid(error: ValidationError | RequestValidationError) -> Response:
    """422 for a body that does not fit."""
    errors = validation_errors(error)
    return problem_response("invalid_request", first_of(errors), errors=errors)


def install_problem_handlers(app: FastAPI) -> None:
    """Turn every error of the application into a problem document."""

    async def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, ProblemError)
        return problem_response(error.code, error.detail, **error.extra)

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError | ValidationError)
        return invalid(error)

    async def on_unavailable(request: Request, error: Exception) -> Response:
        return problem_response("unavailable", "the store does not answer; nothing was granted")

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        codes = {404: "not_found", 405: "method_not_allowed", 401: "unauthorized"}
        code = codes.get(error.status_code, "invalid_request")
        response = problem_response(code, f"{request.method} {request.url.path}: {error.detail}")
        for name, value in (error.headers or {}).items():
            response.headers[name] = value
        return response

    async def on_defect(request: Request, error: Exception) -> Response:
        return problem_response("internal_error", "the request could not be answered; see the log")

    app.add_exception_handler(Exception, on_defect)
    app.add_exception_handler(ProblemError, on_problem)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(ValidationError, on_invalid)
    app.add_exception_handler(StoreUnavailable, on_unavailable)
    app.add_exception_handler(HTTPException, on_http)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem answers of an endpoint for its OpenAPI description, beside those of all.

    `api.http.openapi` adds their media type, schema and examples.
    """
    texts = {
        400: "bad_signature: the signature does not fit",
        401: "unauthorized: no key, or an unknown one",
        403: "forbidden: the key lacks the scope, or is not the granting one",
        404: "unknown_…: the ledger has not been told of it",
        409: "A denial: the code says which guard, `retryable` whether to ask again",
        413: "too_large: the body is over 1 MiB",
        422: "invalid_request, key_conflict or unknown_intent",
        429: "cap_reached or loop_guard",
        503: "unavailable: the store is down or the queue is full; nothing was granted",
    }
    found: dict[int | str, dict[str, Any]] = {}
    for status in sorted({401, 403, 422, 503, *statuses}):
        found[status] = {"description": texts[status]}
    return found
