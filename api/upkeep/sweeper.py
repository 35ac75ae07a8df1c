"""The sweeper: lets permits lapse, alerts on unknown outcomes, and deletes old rows (D6)."""

import asyncio

from api.running.parts import Parts
from api.upkeep.feed_watch import watch_feeds
from ledger.application.commands import NOBODY, Lapse
from ledger.application.effects import Alert
from ledger.application.ports import StoreUnavailable
from ledger.domain.instants import told
from ledger.store.alerts.alerting import raise_alert
from ledger.store.statements import statement
from ledger.store.webhooks.rejected import clear_old_rejected
from ledger.store.webhooks.tokens import clear_old_tokens

PERIOD = 1.0
"""Seconds between two sweeps."""
_MOST_AT_ONCE = 200
_MOST_ROUNDS = 20
_HOUSEKEEPING_EVERY = 600


async def sweep(parts: Parts) -> None:
    """Sweep once a second, for ever; each lapse is decided under the writer lock."""
    rounds = 0
    while True:
        await asyncio.sleep(PERIOD)
        try:
            await let_lapse(parts)
            await watch_unknown(parts)
            if parts.engine.owes_rows:
                await parts.engine.submit(Lapse(NOBODY))
            await watch_feeds(parts)
            if rounds % _HOUSEKEEPING_EVERY == 0:
                await _clear_old(parts)
            rounds += 1
        except StoreUnavailable:
            continue


async def let_lapse(parts: Parts) -> None:
    """Let the permits lapse whose `send_by` has passed; also called before a read of permits.

    If the store does not answer, the next sweep does it.
    """
    if parts.engine.clock_suspect is not None:
        # What a wrong clock calls late may not be.
        return
    for _ in range(_MOST_ROUNDS):
        async with parts.connections.use() as connection:
            values = {"limit": _MOST_AT_ONCE}
            cursor = await connection.execute(statement("permits", "lapsed"), values)
            due = [row[0] for row in await cursor.fetchall()]
        answers = await parts.engine.submit_all([Lapse(permit_id) for permit_id in due])
        if len(due) < _MOST_AT_ONCE or any(answer.status >= 500 for answer in answers):
            return


async def watch_unknown(parts: Parts) -> None:
    """Raise one alert for each oldest unknown permit that nobody settled in time."""
    minutes = parts.policy.unknown_alert_minutes
    async with parts.connections.use() as connection:
        cursor = await connection.execute(
            statement("permits", "long_unknown"), {"minutes": minutes}
        )
        row = await cursor.fetchone()
        if row is None or not row[0]:
            return
        count, since, permit_id, customer_id = row
        summary = (
            f"{count} permits have an unknown outcome; the oldest, {permit_id}, since {told(since)}"
        )
        key = f"permit_unknown:{permit_id}"
        await raise_alert(connection, Alert("permit_unknown", key, summary, customer_id, permit_id))


async def _clear_old(parts: Parts) -> None:
    """Delete old Idempotency-Keys and rejected webhook bodies (policy), and webhook tokens."""
    async with parts.connections.use() as connection:
        await connection.execute(
            statement("permits", "clear_idempotency"),
            {"days": parts.policy.idempotency_days, "limit": 50_000},
        )
        await clear_old_tokens(connection)
        for _ in range(_MOST_ROUNDS):
            if not await clear_old_rejected(connection, parts.policy.rejected_body_days):
                return
