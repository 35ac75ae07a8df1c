"""Answers that the door gives by itself, as bytes: no application has seen the request."""

from http import HTTPStatus

from api.contract.problems import PROBLEM, problem_document
from ledger.application.answers import to_json


def refusal(code: str, detail: str) -> bytes:
    """The problem document of this code as a whole HTTP response that closes the connection."""
    status, body = problem_document(code, detail)
    content = to_json(body)
    head = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"content-type: {PROBLEM}",
        f"content-length: {len(content)}",
        "connection: close",
    ]
    if status == 503:
        head.append("retry-after: 1")
    return "\r\n".join([*head, "", ""]).encode() + content
