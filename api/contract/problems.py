"""Problem documents (RFC 9457) for denials and errors, for HTTP and the command line."""

from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from api.contract.invalid import first_of, validation_errors
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
    frees_at: str | None = None
    permit_id: str | None = None
    due_stage: str | None = None
    original: OriginalSend | None = None
    withheld: list[dict[str, Any]] | None = None
    riding_facts: Literal["not_kept"] | None = None
    errors: list[dict[str, Any]] | None = None
    committed: Literal["no", "unknown"] | None = None
    dry_run: Literal[True] | None = None


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
