"""Makes `type` of problem documents absolute where a public URL is set (RFC 9457, 3.1.1)."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.contract.problems import PROBLEM
from api.http.door.whole_answer import piecewise

_RELATIVE = b'"type":"/problems/'
WITH_PROBLEMS_INSIDE = frozenset(
    {"/v1/permits/batch", "/v1/permits/redeem", "/v1/permits/outcomes"}
)
"""The paths whose answers are not problem documents themselves, and have some."""


class AbsoluteTypes:
    """An ASGI application around the whole service; `base` is the public URL, without a slash.

    The answers are bytes, encoded when they were decided, so the URL is put in as they leave. A
    text of somebody else cannot look like a type: its quotation marks are escaped.
    """

    def __init__(self, app: ASGIApp, base: str) -> None:
        self.application = app
        self._absolute = b'"type":"' + base.encode() + b"/problems/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, as ASGI defines it."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        batch = scope["path"] in WITH_PROBLEMS_INSIDE
        held: Message | None = None

        async def absolute(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start":
                if batch or MutableHeaders(scope=message).get("content-type") == PROBLEM:
                    held = message
                    return
            elif held is not None:
                start, held = held, None
                body = message.get("body", b"").replace(_RELATIVE, self._absolute)
                headers = MutableHeaders(scope=start)
                headers["content-length"] = str(len(body))
                await send(start)
                message = {**message, "body": body}
            await send(message)

        piecewise(scope)
        await self.application(scope, receive, absolute)
