"""Raises an alert outside a decision, for a problem that upkeep detects (design D11)."""

from typing import Any

from psycopg import AsyncConnection

from ledger.application.effects import Alert
from ledger.store.statements import statement


async def raise_alert(connection: AsyncConnection[Any], alert: Alert) -> None:
    """Insert an alert into the outbox, unless an alert with the same dedupe key exists."""
    await connection.execute(
        statement("alerts", "raise"),
        {
            "key": alert.dedupe_key,
            "kind": alert.kind,
            "summary": alert.summary,
            "customer_id": alert.customer_id,
            "permit_id": alert.permit_id,
        },
    )
