"""The baseline for webhooks: an endpoint that reads a body of any provider and does nothing.

`python -m bench.empty_webhook FILE` serves it as bench.empty does.
"""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response

from api.app import tune_garbage_collector
from api.logs import configure_logging
from api.serving import server_config, write_announcement


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    tune_garbage_collector()
    yield


app = FastAPI(lifespan=_lifespan)


@app.post("/v1/webhooks/{provider}")
async def take_anything(provider: str, request: Request) -> Response:
    """An answer of the usual size, for any body."""
    await request.body()
    answer = b'{"received":true,"ignored":null,"results":[{"id":"evt_1","type":"invoice.observed",'
    answer += b'"result":"applied"}],"refresh":0,"rejected":0}'
    return Response(answer, media_type="application/json")


def main(announce: Path) -> None:
    """Serve until told to stop."""
    configure_logging()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        write_announcement(announce, url, "none")
        uvicorn.Server(server_config(app)).run(sockets=[listener])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
