"""Problem documents (RFC 9457) for denials and errors, for HTTP and the command line."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field, ValidationError

from ledger.application.answers import Answer, to_json
from ledger.domain.next_steps import DEFECT, NEXT_STEPS, Action
from ledger.domain.reasons import REASONS

PROBLEM = "application/problem+json"
RETRY_SOON = (("Retry-After", "1"),)
"""Retry-After of every 503, in seconds: a database that is down is mostly back within seconds."""
_SOON = frozenset({"rate_limited"})
OTHER_REASONS = {
    "unauthorized": (401, "No key, or one that the ledger does not know"),
    "forbidden": (403, "This key may not do that"),
    "not_found": (404, "There is nothing here"),
    "method_not_allowed": (405, "The path does not take this method"),
    "too_large": (413, "The body is larger than 1 MiB"),
    "bad_request": (400, "This is not a request of HTTP/1.1"),
    "request_timeout": (408, "The request took too long to arrive"),
    "uri_too_long": (414, "The path and its query are too long"),
    "head_too_large": (431, "The headers are too many or too large"),
    "bad_signature": (400, "The signature of the webhook does not fit"),
    "log_changed": (409, "The log that this position is of was replaced by an older copy"),
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
    """A problem document: an error or a denial."""

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(json_schema_extra={"enum": [*sorted({*REASONS, *OTHER_REASONS})]})
    retryable: bool
    next_action: Action
    next_step: str
    decision_id: str | None = None
    available_at: str | None = None
    permit_id: str | None = None
    due_stage: str | None = None
    original: OriginalSend | None = None
    withheld: list[dict[str, Any]] | None = None
    riding_facts: Literal["not_kept"] | None = None
    errors: list[dict[str, Any]] | None = None
    committed: Literal["no", "unknown"] | None = None


class InvalidInput(Protocol):
    """The validation errors that pydantic and FastAPI raise."""

    def errors(self) -> Sequence[Any]:
        """Each invalid field, and why."""


class ProblemError(Exception):
    """Raised where a request cannot be answered; becomes a problem document."""

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
        retryable = status in (408, 503)
    step = NEXT_STEPS.get(code, DEFECT)
    body: dict[str, Any] = {
        "type": f"/problems/{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "retryable": retryable,
        "next_action": step.action,
        "next_step": step.sentence,
    }
    return status, body | extra


def validation_errors(error: InvalidInput) -> list[dict[str, Any]]:
    """The invalid fields of a body and why, without values, which may be addresses (design D18)."""
    return [_place_and_why(item) for item in list(error.errors())[:20]]


def _place_and_why(item: Any) -> dict[str, Any]:
    """One error of pydantic or FastAPI, worded for the sender of the request."""
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


def problem_answer(code: str, detail: str, **extra: Any) -> Answer:
    """A problem document as an answer."""
    status, body = problem_document(code, detail, **extra)
    return Answer(status, to_json(body), retry_headers(status, code))


def retry_headers(status: int, code: str) -> tuple[tuple[str, str], ...]:
    """`Retry-After` of a problem that is over within seconds."""
    return RETRY_SOON if status == 503 or code in _SOON else ()


def invalid_answer(error: ValidationError) -> Answer:
    """The 422 for an invalid body, as an answer."""
    errors = validation_errors(error)
    return problem_answer("invalid_request", first_of(errors), errors=errors)
