"""Idempotency-Key: a request's scope and fingerprint, and stored answers of writes (contract)."""

import hashlib
from collections.abc import Awaitable, Callable

from fastapi.responses import Response

from api.contract.fields import Body
from api.contract.problems import ProblemError
from api.http.context import Context
from api.http.problem_responses import problem_response
from ledger.application.caller import Caller
from ledger.application.commands import BindAnswer, Idempotency
from ledger.application.ports import Need


def idempotency_key(header: str | None) -> str | None:
    """The key in the header, quoted or bare. Raises ProblemError for an invalid key."""
    if header is None:
        return None
    key = header.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not 0 < len(key) <= 255 or not key.isprintable():
        raise ProblemError(
            "invalid_request", "an Idempotency-Key has 1 to 255 printable characters"
        )
    return key


def scope_of(caller: Caller, method: str, path: str, key: str) -> bytes:
    """The digest of (API key, method, path, key), length-prefixed."""
    parts = (caller.key_id, method, path, key)
    return hashlib.sha256(
        b"".join(b"%d:%b" % (len(p), p) for p in (part.encode() for part in parts))
    ).digest()


def fingerprint_of(body: Body) -> bytes:
    """The digest of a request's body, without trace ids and embedded facts."""
    text = body.model_dump_json(
        by_alias=True, exclude=body.NOT_COMPARED, exclude_unset=not body.LEFT_OUT_IS_NULL
    )
    return hashlib.sha256(text.encode()).digest()


def idempotency_of(
    caller: Caller, method: str, path: str, header: str | None, body: Body
) -> Idempotency | None:
    """The scope and fingerprint of a request with an Idempotency-Key, None without one."""
    key = idempotency_key(header)
    if key is None:
        return None
    return Idempotency(scope_of(caller, method, path, key), fingerprint_of(body))


async def answered_once(
    context: Context,
    idempotency: Idempotency | None,
    caller: Caller,
    work: Callable[[], Awaitable[Response]],
    kept: Callable[[bytes], bytes] = bytes,
) -> Response:
    """The stored answer of the same request, else the answer of `work`, stored if it succeeds.

    `kept` returns the part of the body to store. A concurrent request with the same key is waited
    for. Not for permits: the engine binds their keys in the transaction of the grant.
    """
    if idempotency is None:
        return await work()
    async with context.idempotency_lock.hold(idempotency.scope):
        stored = await _stored(context, idempotency)
        if stored is not None:
            return stored
        response = await work()
        if 200 <= response.status_code < 300:
            body = kept(bytes(response.body))
            await context.engine.submit(BindAnswer(idempotency, response.status_code, body, caller))
        return response


async def _stored(context: Context, idempotency: Idempotency) -> Response | None:
    found = await context.reader.load(Need(bindings={idempotency.scope}))
    binding = found.bindings.get(idempotency.scope)
    if binding is None or binding.body is None or binding.status is None:
        return None
    age = found.now - binding.created_at
    if age.days >= context.policy.idempotency_days:
        return None
    if binding.fingerprint != idempotency.fingerprint:
        return problem_response("key_conflict", "this Idempotency-Key was used for another request")
    headers = {"Idempotent-Replayed": "true"}
    return Response(binding.body, binding.status, headers, "application/json")
