"""Webhook bodies that could not be used: kept, size-bounded, and alerted on once per kind."""

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Json

from ledger.application.effects import Alert
from ledger.store.alerting import raise_alert
from ledger.store.statements import statement


async def keep_rejected(
    connection: AsyncConnection[Any],
    provider: str,
    kind: str,
    detail: str,
    headers: Mapping[str, str],
    body: bytes,
) -> int:
    """Keep a body with the headers that its replay needs; page once per provider and kind."""
    kept = {
        name: value for name, value in headers.items() if name not in ("authorization", "cookie")
    }
    async with connection.transaction():
        cursor = await connection.execute(
            statement("webhooks", "keep"),
            {
                "provider": provider,
                "kind": kind,
                "detail": detail,
                "headers": Json(kept),
                "body": body,
            },
        )
        row = await cursor.fetchone()
        await raise_alert(
            connection,
            Alert(
                "ingest_rejected",
                f"ingest_rejected:{provider}:{kind}",
                f"a webhook of {provider} could not be used: {kind}",
            ),
        )
    assert row is not None
    rejected_id: int = row[0]
    return rejected_id
