"""Authentication: the caller of a request by its API key, and the scope that an endpoint needs."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from api.contract.problems import ProblemError
from api.http.context import Context, context_of
from api.http.fresh_reads import After, log_has_reached
from api.http.reserve import is_for_need, may_use_the_reserve, still_live
from api.upkeep.sweeper import let_lapse
from ledger.application.caller import Caller
from ledger.store.connections import use_the_reserve

_CALLER = "ledger.caller"
SEVERAL = "the request has several Authorization headers; send one"
_BEARER = HTTPBearer(auto_error=False, description="An API key, made by `keys create`")


def the_authorization(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """The `Authorization` header of a request, None without one. Raises ProblemError for two.

    A proxy in front may judge the first and pass both on (RFC 9110, section 5.3: it is no list).
    """
    found = [value for name, value in headers if name == b"authorization"]
    if len(found) > 1:
        raise ProblemError("unauthorized", SEVERAL)
    return found[0] if found else None


async def caller_of(context: Context, authorization: bytes | None) -> Caller:
    """The caller of an `Authorization` header. Raises ProblemError (unauthorized)."""
    if authorization:
        caller = context.keys.known(authorization, context.engine.keys_version)
        if caller is None:
            caller = await context.keys.find(authorization)
        if caller is not None:
            return caller
    raise _unauthorized()


async def _caller_by_the_store(request: Request, in_need: bool) -> Caller:
    """The caller, read from the store once per request: another process may have revoked the key.

    An unknown key is refused from memory. The hot path has nothing but memory; there the engine
    checks under the writer lock. `in_need`: by the reserve, if the caller is one who may use it.
    """
    caller = request.scope.get(_CALLER)
    if caller is None:
        header = the_authorization(request.scope["headers"]) or b""
        context = context_of(request)
        caller = await context.keys.find(header)
        if caller is not None:
            if in_need and may_use_the_reserve(caller):
                use_the_reserve()
            caller = await still_live(context.connections, header)
        if caller is None:
            raise _unauthorized()
        request.scope[_CALLER] = caller
    assert isinstance(caller, Caller)
    return caller


def caller_known(request: Request) -> Caller | None:
    """The caller whom a check of this request has found, None before."""
    caller = request.scope.get(_CALLER)
    return caller if isinstance(caller, Caller) else None


def _unauthorized() -> ProblemError:
    return ProblemError("unauthorized", "give a known key as `Authorization: Bearer <key>`")


class Requirement:
    """A FastAPI dependency: the caller, who must have one of the scopes."""

    def __init__(self, *scopes: str) -> None:
        self._scopes = scopes
        self._in_need = is_for_need(scopes)

    async def __call__(
        self,
        request: Request,
        _: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None,
    ) -> Caller:
        """The caller, for FastAPI's dependency injection."""
        return await self.judge(request)

    async def judge(self, request: Request) -> Caller:
        """The caller of a request. Raises ProblemError (unauthorized, forbidden)."""
        caller = await _caller_by_the_store(request, self._in_need)
        if not any(caller.may(scope) for scope in self._scopes):
            raise ProblemError("forbidden", f"this needs the scope {' or '.join(self._scopes)}")
        return caller


class Reading(Requirement):
    """The requirement of a read, which may name (`after`) a position that it must include."""

    async def __call__(
        self,
        request: Request,
        _: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None,
        after: After = None,
    ) -> Caller:
        """The caller, for FastAPI's dependency injection. Raises ProblemError (stale)."""
        caller = await self.judge(request)
        context = context_of(request)
        await log_has_reached(context, after)
        await let_lapse(context)
        return caller


Sender = Annotated[Caller, Depends(Requirement("send"))]
Handler = Annotated[Caller, Depends(Requirement("send", "operate"))]
Teller = Annotated[Caller, Depends(Requirement("facts"))]
Operator = Annotated[Caller, Depends(Requirement("operate"))]
Admin = Annotated[Caller, Depends(Requirement("admin"))]
KeyReader = Annotated[Caller, Depends(Reading("admin"))]
BodyReader = Annotated[Caller, Depends(Reading("operate"))]
Auditor = Annotated[Caller, Depends(Reading("audit", "operate"))]
FactReader = Annotated[Caller, Depends(Reading("facts", "audit", "operate"))]
PermitReader = Annotated[Caller, Depends(Reading("send", "audit", "operate"))]
AnyReader = Annotated[Caller, Depends(Reading("send", "facts", "operate", "audit", "admin"))]


async def _current_context(request: Request) -> Context:
    """Async, because FastAPI would call a plain function in a thread, which is slower."""
    return context_of(request)


CurrentContext = Annotated[Context, Depends(_current_context)]
