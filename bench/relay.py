"""What stands behind the gates and takes every mail: an SMTP server, or a provider's endpoint.

`python -m bench.relay smtp` (or `http`) prints its port and serves until it is told to stop.
"""

import asyncio
import sys
from typing import Any

import uvicorn
from aiosmtpd.smtp import SMTP, Envelope, Session


class _Takes:
    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Take it."""
        return "250 2.0.0 queued"


async def _provider(scope: Any, receive: Any, send: Any) -> None:
    """An answer as Resend gives it, for any body."""
    while (await receive()).get("more_body"):
        pass
    body = b'{"id": "mail_1"}'
    length = str(len(body)).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def _serve(kind: str) -> None:
    loop = asyncio.get_running_loop()
    if kind == "smtp":
        server = await loop.create_server(lambda: SMTP(_Takes(), loop=loop), "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()
    config = uvicorn.Config(_provider, port=0, lifespan="off", log_config=None)
    http = uvicorn.Server(config)
    serving = asyncio.create_task(http.serve())
    while not http.started:
        await asyncio.sleep(0.01)
    print(http.servers[0].sockets[0].getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
