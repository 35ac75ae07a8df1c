"""Answers one request for a permit, from its bytes: part of the hot path (D4)."""

from dataclasses import replace
from typing import Any

import orjson
from pydantic import ValidationError

from api.contract.free_text import without_addresses
from api.contract.permits import PERMIT_REQUEST, RedeemRequest
from api.contract.problems import invalid_answer, problem_answer
from api.http.context import Context
from api.http.idempotency import fingerprint_of, idempotency_key, scope_of
from api.running.decision_ids import DECISION_IDS
from ledger.application.answers import Answer
from ledger.application.caller import Caller
from ledger.application.commands import DryRun, Idempotency, JobToken, Override, RequestPermit
from ledger.domain.identity import Address

_KEPT_AS_IT_CAME = 4096
"""Up to this size in bytes a body is stored unchanged; a larger one may be mostly blanks."""
_WITH_ADDRESSES: dict[str, Any] = {
    "to": True,
    "cc": True,
    "metadata": True,
    "facts": True,
    "message": True,
    "override": {"reason"},
}


async def ask(
    context: Context, caller: Caller, path: str, body: bytes, key_header: str | None
) -> Answer:
    """The answer to one request for a permit. Raises ProblemError for a bad Idempotency-Key."""
    context.engine.expect()
    key = idempotency_key(key_header)
    command = request_of(
        context, caller, body, scope_of(caller, "POST", path, key) if key else None
    )
    if isinstance(command, Answer):
        return command
    return await context.engine.submit(command)


def request_of(
    context: Context, caller: Caller, body: bytes, scope: bytes | None
) -> RequestPermit | DryRun | Answer:
    """The command of a body, or the 422 or 403 answer to it."""
    try:
        asked = PERMIT_REQUEST.validate_json(body)
    except ValidationError as error:
        return invalid_answer(error)
    override = None
    if asked.override is not None:
        if not caller.may("operate"):
            return problem_answer("forbidden", "an override needs the scope operate")
        override = Override(asked.override.action_id, asked.override.by, asked.override.reason)
    subject = context.translator.subject(asked)
    cc = tuple(map(context.translator.address, asked.cc or ()))
    command = RequestPermit(
        subject=subject,
        caller=caller,
        decision_id=DECISION_IDS.next(),
        request=_kept_request(asked, subject, cc, body),
        idempotency=Idempotency(scope, fingerprint_of(asked)) if scope is not None else None,
        redeem=asked.redeem,
        override=override,
        job=JobToken(asked.job.name, asked.job.token) if asked.job is not None else None,
        facts=context.translator.riding_facts(asked),
        cc=cc,
    )
    return dry_run(command) if asked.dry_run else command


def dry_run(*requests: RequestPermit, alone: bool = True) -> DryRun:
    """The command that only says what requests of one caller would be answered.

    An Idempotency-Key has no effect: it is about the answer that is kept, and none is.
    """
    unbound = tuple(replace(request, idempotency=None) for request in requests)
    return DryRun(unbound, requests[0].caller, alone)


def kept_redeem(permit_id: str, asked: RedeemRequest) -> bytes:
    """A redeem as the decision log stores it: with its permit, without addresses (design D18)."""
    kept: dict[str, Any] = {"permit_id": permit_id}
    if asked.attempt is not None:
        kept["attempt"] = asked.attempt
    if asked.metadata:
        kept["metadata"] = without_addresses(asked.metadata)
    return orjson.dumps(kept)


def _kept_request(asked: Any, subject: Any, cc: tuple[Address, ...], body: bytes) -> bytes:
    """The request as the decision log stores it: with fingerprints for addresses (design D18)."""
    given = asked.model_fields_set
    if len(body) <= _KEPT_AS_IT_CAME and not given & {
        "to",
        "cc",
        "metadata",
        "facts",
        "message",
        "override",
    }:
        return body
    kept = asked.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=_WITH_ADDRESSES)
    if "to" in given and subject.to is not None:
        kept["to_fingerprint"] = subject.to.fingerprint
    if cc:
        kept["cc_fingerprints"] = [address.fingerprint for address in cc]
    if asked.metadata:
        kept["metadata"] = without_addresses(asked.metadata)
    if asked.override is not None:
        kept["override"]["reason"] = without_addresses(asked.override.reason)
    return orjson.dumps(kept)
