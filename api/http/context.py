"""The parts of one process that the endpoints share, among them keys, intake and settings."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from api.claims.parts import ClaimParts
from api.contract.translation import Translator
from api.guard_check.parts import ProbedParts
from api.http.key_rates import KeyRates
from api.http.key_ring import KeyRing
from api.http.unusable_alerts import UnusableNews
from api.running.latency import Latencies
from api.settings.environment import Settings
from api.upkeep.status_watch import Watched
from api.webhooks.intake import Intake
from api.webhooks.refresh.refresher import Refresher
from ledger.store.idempotency_lock import IdempotencyLock
from ledger.store.log.writer import PostgresWriter


@dataclass(kw_only=True)
class Context(ClaimParts, ProbedParts):
    """The parts of one process, made at start-up and stored on `app.state`."""

    settings: Settings
    translator: Translator
    keys: KeyRing
    key_rates: KeyRates
    writer: PostgresWriter
    intake: Intake
    refresher: Refresher
    idempotency_lock: IdempotencyLock
    latencies: Latencies = field(default_factory=Latencies)
    watched: Watched = field(default_factory=Watched)
    dry_run_batch: asyncio.Lock = field(default_factory=asyncio.Lock)
    unusable_news: UnusableNews = field(default_factory=UnusableNews)
    draining: bool = False

    async def close(self) -> None:
        """Close the connections of the writer and of the Idempotency-Key locks."""
        await self.writer.close()
        await self.idempotency_lock.close()


def context_of(request: Request) -> Context:
    """The context of the application that serves this request."""
    context: Any = request.app.state.context
    assert isinstance(context, Context)
    return context
