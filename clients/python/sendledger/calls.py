"""The HTTP calls of the ledger, and the reading of their answers.

Redeems and outcomes are single calls here and nowhere else: `outcome_calls` takes many, so that a
call that reports a batch has its one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from sendledger.effects import Call, Reply
from sendledger.errors import Denied, LedgerError, Unavailable
from sendledger.kinds import Ask

PERMITS = "/v1/permits"
Report = tuple[str, Mapping[str, Any]]
"""A permit's id and the body of its outcome."""


def ask_call(ask: Ask, key: str) -> Call:
    """May this be sent? The key is of this one question, which nobody else may share.

    Two that share a key get one permit, and one of them could give back what the other sends.
    """
    return Call("ask", "POST", PERMITS, ask.body, {"Idempotency-Key": key})


def claim_call(limit: int, stage: str | None, key: str) -> Call:
    """Permits for what is newly due."""
    body: dict[str, Any] = {"limit": limit}
    if stage is not None:
        body["stage"] = stage
    return Call("claim", "POST", "/v1/due/claim", body, {"Idempotency-Key": key})


def redeem_call(permit_id: str, attempt: str) -> Call:
    """May it be handed over now? The same `attempt` hears a lost answer again."""
    path = f"{PERMITS}/{quote(permit_id, safe='')}/redeem"
    return Call("redeem", "POST", path, {"attempt": attempt}, permit_id=permit_id)


def outcome_calls(reports: Iterable[Report]) -> Iterator[tuple[list[Report], Call]]:
    """The calls that report these outcomes, each with the reports that it carries."""
    for permit_id, body in reports:
        path = f"{PERMITS}/{quote(permit_id, safe='')}/outcome"
        yield [(permit_id, body)], Call("outcome", "POST", path, body, permit_id=permit_id)


def granted_in(reply: Reply) -> Mapping[str, Any]:
    """The permit of an answer to `ask`: only 201 is a yes, and 200 where a yes is replayed.

    Raises Denied, or Unavailable for an answer that is none of the ledger's.
    """
    replayed = reply.headers.get("idempotent-replayed", "").lower() == "true"
    if reply.status == 201 or (reply.status == 200 and replayed):
        return _permit(reply)
    raise no_of(reply)


def redeemed_in(reply: Reply, permit_id: str) -> Mapping[str, Any]:
    """The permit of an answer to `redeem`: only this 200 is a yes.

    Raises Denied, or Unavailable for an answer that is none of the ledger's.
    """
    if reply.status != 200:
        raise no_of(reply)
    body = _permit(reply)
    if body["permit_id"] != permit_id or body.get("state") != "redeemed":
        raise Unavailable("the answer is about something else")
    return body


def no_of(reply: Reply) -> LedgerError:
    """The error for an answer that is no yes."""
    if reply.problem and 400 <= reply.status < 500:
        return Denied(reply)
    committed = reply.problem.get("committed")
    why = str(reply.problem.get("code") or f"status {reply.status}")
    return Unavailable(why, committed if isinstance(committed, str) else None)


def _permit(reply: Reply) -> Mapping[str, Any]:
    body = reply.body
    if not isinstance(body, dict) or not isinstance(body.get("permit_id"), str):
        raise Unavailable("the answer is no permit")
    return body
