"""The baseline: an endpoint with the ledger's models and server settings, without any logic.

`python -m bench.empty FILE` serves it on a free port of the loopback and writes
`{"url", "key", "pid"}` to FILE once it listens, as the ledger does.
"""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from api.contract.permits import Permit, PermitItem, PermitRequest, ReminderRequest, WindowUse
from api.process.assembly import tune_garbage_collector
from api.process.logs import configure_logging
from api.process.serving import server_config, write_announcement

_GRANTED = datetime(2026, 12, 1, 9, tzinfo=UTC)
_LAPSES = datetime(2026, 12, 1, 9, 10, tzinfo=UTC)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    tune_garbage_collector()
    yield


app = FastAPI(lifespan=_lifespan)


@app.post("/v1/permits", status_code=201, response_model=Permit)
async def say_yes(body: PermitRequest) -> Permit:
    """A permit of the usual size, for every request."""
    invoice = body.invoices[0] if isinstance(body, ReminderRequest) else "inv_1"
    item = PermitItem(
        invoice_id=invoice,
        cycle=1,
        stage="day-3",
        supersedes=[],
        amount_remaining=30000,
        currency="USD",
    )
    return Permit(
        permit_id="4a1d3f0e-8a36-4f0e-9f8e-2f6f2f0a7c11",
        state="granted",
        kind=body.kind,
        customer_id="cus_1",
        to="pat@example.com",
        items=[item],
        withheld=[],
        granted_at=_GRANTED,
        send_by=_LAPSES,
        provider_idempotency_key="4f1c6c0f9c3a4e7fb1f5a6c0d2e8b3974f1c6c0f9c3a4e7f",
        message_id="<4a1d3f0e.8a36@send-ledger.invalid>",
        windows={"outreach_24h": WindowUse(used=1, limit=2)},
        position="1",
        decision_id="4a1d3f0e-8a36-4f0e-9f8e-2f6f2f0a7c11",
    )


def main(announce: Path) -> None:
    """Serve until told to stop."""
    configure_logging()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        write_announcement(announce, url, "none")
        uvicorn.Server(server_config(app)).run(sockets=[listener])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
