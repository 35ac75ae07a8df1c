"""Who asks: the key of a request and the scope that an endpoint needs."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from api.context import Context, context_of
from api.problems import ProblemError
from ledger.application.requests import Caller

_BEARER = HTTPBearer(auto_error=False, description="An API key, made by `keys create`")


async def caller_of(context: Context, authorization: bytes | None) -> Caller:
    """The caller of an `Authorization` header. Raises ProblemError (unauthorized)."""
    if authorization:
        caller = context.keys.known(authorization, context.engine.keys_version)
        if caller is None:
            caller = await context.keys.find(authorization)
        if caller is not None:
            return caller
    raise ProblemError("unauthorized", "give a known key as `Authorization: Bearer <key>`")


def require(*scopes: str) -> Callable[..., Coroutine[Any, Any, Caller]]:
    """A dependency that gives the caller, who must have one of the scopes."""

    async def dependency(
        request: Request,
        _: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None,
    ) -> Caller:
        header = request.headers.get("authorization")
        caller = await caller_of(context_of(request), header.encode("latin-1") if header else None)
        if not any(caller.may(scope) for scope in scopes):
            raise ProblemError("forbidden", f"this needs the scope {' or '.join(scopes)}")
        return caller

    return dependency


Sender = Annotated[Caller, Depends(require("send"))]
Teller = Annotated[Caller, Depends(require("facts"))]
Operator = Annotated[Caller, Depends(require("operate"))]
Auditor = Annotated[Caller, Depends(require("audit", "operate"))]
Admin = Annotated[Caller, Depends(require("admin"))]
AnyReader = Annotated[Caller, Depends(require("send", "facts", "operate", "audit", "admin"))]
CurrentContext = Annotated[Context, Depends(context_of)]
