"""Raises an alert when a read model fails or falls far behind the log."""

from collections.abc import Awaitable, Callable

from ledger.application.effects import Alert
from ledger.store.alerts.alerting import raise_alert
from ledger.store.connections import Connections
from projections.projector import Trouble


def lag_alert(connections: Connections) -> Callable[[Trouble], Awaitable[None]]:
    """The callback by which the projector raises this alert."""

    async def tell(trouble: Trouble) -> None:
        summary = (
            f"read model {trouble.name} is {trouble.lag:.0f} seconds behind the log at position "
            f"{trouble.position}: {trouble.reason}"
        )
        async with connections.use() as connection:
            await raise_alert(connection, Alert("projection_lag", trouble.key, summary))

    return tell
