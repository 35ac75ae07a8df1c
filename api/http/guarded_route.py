"""Routes that look at the key before they read a word of the body, and read JSON strictly."""

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
    """A request whose JSON holds no NaN, no Infinity, no half of a surrogate pair (RFC 8259)."""

    async def json(self) -> Any:
        """The body as JSON. Raises json.JSONDecodeError, which becomes 422."""
        return orjson.loads(await self.body())


class AnyText(Convertor[str]):
    """A path's end as an id, whatever it holds: `path` would stop at a line break, which is 422."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """The text as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The text as it is."""
        return value


register_url_convertor("text", AnyText())


def _read_as_json(scope: Scope) -> Scope:
    """The scope of a request whose body is JSON, whatever its Content-Type says or leaves out.

    Only CloudEvents say by it what the JSON means.
    """
    given = dict(scope["headers"]).get(b"content-type", b"")
    if given.lower().startswith(b"application/cloudevents"):
        return scope
    others = [header for header in scope["headers"] if header[0] != b"content-type"]
    return {**scope, "headers": [*others, (b"content-type", b"application/json")]}


class GuardedRoute(APIRoute):
    """Asks for the key and its scope first: FastAPI would tell of a broken body before (401, 403).

    The endpoint's own dependency asks again and gets the caller from the ring of known keys.
    """

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, behind the key."""
        handle = super().get_route_handler()
        wanted = [d.call for d in self.dependant.dependencies if isinstance(d.call, Requirement)]

        async def guarded(request: Request) -> Response:
            for requirement in wanted:
                await requirement.judge(request)
            return await handle(StrictRequest(_read_as_json(request.scope), request.receive))

        return guarded
