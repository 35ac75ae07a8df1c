"""The baseline for webhooks: an endpoint that reads a body and answers with the ledger's model.

`python -m bench.empty_webhook FILE` serves it as bench.empty does.
"""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request

from api.contract.webhooks import FactOutcome, WebhookAnswer
from api.process.assembly import tune_garbage_collector
from api.process.logs import configure_logging
from api.process.serving import server_config, write_announcement


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    tune_garbage_collector()
    yield


app = FastAPI(lifespan=_lifespan)


@app.post("/v1/webhooks/{provider}", response_model=WebhookAnswer)
async def take_anything(provider: str, request: Request) -> WebhookAnswer:
    """An answer of the usual size, for any body."""
    await request.body()
    outcome = FactOutcome(id="evt_1", type="invoice.observed", result="applied")
    return WebhookAnswer(received=True, ignored=None, results=[outcome], refresh=0, rejected=0)


def main(announce: Path) -> None:
    """Serve until told to stop."""
    configure_logging()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        write_announcement(announce, url, "none")
        uvicorn.Server(server_config(app)).run(sockets=[listener])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
