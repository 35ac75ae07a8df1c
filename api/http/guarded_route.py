"""A route class that checks the API key before it parses the body, and parses JSON strictly."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.types import Scope

from api.http.auth import Requirement

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class StrictRequest(Request):
    """A request that refuses NaN, Infinity and lone surrogates in JSON (RFC 8259)."""

    async def json(self) -> Any:
        """Parse the body as JSON. Raises json.JSONDecodeError, which becomes a 422."""
        return orjson.loads(await self.body())


class AnyText(Convertor[str]):
    """The rest of a path as an id: `path` would not match a line break, which must be a 422."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """The text as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The text as it is."""
        return value


register_url_convertor("text", AnyText())


def _read_as_json(scope: Scope) -> Scope:
    """The request's scope with a JSON Content-Type, so that any or no Content-Type is accepted.

    Only for CloudEvents does the Content-Type matter.
    """
    given = dict(scope["headers"]).get(b"content-type", b"")
    if given.lower().startswith(b"application/cloudevents"):
        return scope
    others = [header for header in scope["headers"] if header[0] != b"content-type"]
    return {**scope, "headers": [*others, (b"content-type", b"application/json")]}


class GuardedRoute(APIRoute):
    """Checks the key and its scope first (401, 403): FastAPI would report an invalid body before.

    The endpoint's own dependency then finds the caller already known.
    """

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, called after the check of the key."""
        handle = super().get_route_handler()
        wanted = [d.call for d in self.dependant.dependencies if isinstance(d.call, Requirement)]

        async def guarded(request: Request) -> Response:
            for requirement in wanted:
                await requirement.judge(request)
            return await handle(StrictRequest(_read_as_json(request.scope), request.receive))

        return guarded
