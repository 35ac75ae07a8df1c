"""Problem documents as HTTP responses, also for FastAPI's own errors (RFC 9457)."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from api.contract.problems import (
    PROBLEM,
    ProblemError,
    first_of,
    problem_document,
    retry_headers,
    validation_errors,
)
from ledger.application.answers import Answer, to_json
from ledger.application.ports import StoreUnavailable


def problem_response(code: str, detail: str, **extra: Any) -> Response:
    """A problem document as a response."""
    status, body = problem_document(code, detail, **extra)
    headers = dict(retry_headers(status, code))
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


def invalid(error: ValidationError | RequestValidationError) -> Response:
    """The 422 response for an invalid body."""
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
    """The problem responses of an endpoint, for its OpenAPI description, and the common ones.

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
        429: "cap_reached, loop_guard or rate_limited",
        503: "unavailable (store down, queue full) or clock_suspect: send nothing, ask again",
    }
    found: dict[int | str, dict[str, Any]] = {}
    for status in sorted({401, 403, 422, 503, *statuses}):
        found[status] = {"description": texts[status]}
    return found
