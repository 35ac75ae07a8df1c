"""Builds the parts of one process, and starts and stops them in order."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp

from api.claims.claimed_customers import ClaimedCustomers
from api.contract.translation import Translator
from api.http.app import build_http
from api.http.context import Context
from api.http.key_rates import KeyRates
from api.http.key_ring import KeyRing
from api.http.metrics import LedgerCollector
from api.paging.pager import Pager
from api.process.telemetry import telemetry_to
from api.running.recent_time import RecentTime
from api.running.supervision import Supervisor
from api.settings.environment import Settings
from api.settings.writing import writer_of
from api.upkeep.lag_alert import lag_alert
from api.upkeep.status_watch import watch_status
from api.upkeep.sweeper import sweep
from api.upkeep.witness_watch import watch
from api.webhooks.intake import Intake
from api.webhooks.refresh.refresher import Refresher
from ledger.application.engine import Engine
from ledger.application.limits import Limits
from ledger.application.world import Identity
from ledger.store.connections import Connections
from ledger.store.idempotency_lock import IdempotencyLock
from ledger.store.log.reader import LedgerReader
from projections.projector import Projector
from projections.rebuild import rebuild_outdated


def build_app(settings: Settings, conninfo: str, test_clock: bool) -> ASGIApp:
    """The service as one ASGI application on this database."""
    telemetry = telemetry_to(settings.otlp_url) if settings.otlp_url is not None else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        supervisor = Supervisor()
        context = build_context(settings, conninfo, test_clock, supervisor)
        app.state.context = context
        await context.connections.open()
        await context.engine.start()
        context.engine.on_commit(context.projector.wake)
        await context.projector.start()
        supervisor.start("keys", context.keys.run)
        supervisor.start("read models", lambda: rebuild_outdated(conninfo, settings.policy))
        supervisor.start("pager", context.pager.run)
        supervisor.start("sweeper", lambda: sweep(context))
        supervisor.start("witness", lambda: watch(context))
        supervisor.start("watch", lambda: watch_status(context, context.watched))
        supervisor.start("refresher", context.refresher.run)
        if telemetry is not None:
            telemetry.observe(LedgerCollector(context))
        tune_garbage_collector()
        try:
            yield
        finally:
            context.draining = True
            await context.engine.stop()
            await context.projector.stop()
            await context.pager.stop()
            await supervisor.stop()
            context.intake.certificates.close()
            await context.connections.close()
            await context.close()
            if telemetry is not None:
                await asyncio.to_thread(telemetry.stop)

    app = build_http(lifespan, settings.max_body, settings.public_url)
    return telemetry.around(app) if telemetry is not None else app


def build_context(
    settings: Settings, conninfo: str, test_clock: bool, supervisor: Supervisor
) -> Context:
    """The parts of one process, not started yet."""
    policy = settings.policy
    identity = Identity(settings.secret, policy.message_id_domain)
    connections = Connections(conninfo)
    writer = writer_of(settings, conninfo)
    limits = Limits(queue=settings.max_waiting, a_caller=settings.per_key.commands)
    engine = Engine(writer, policy, identity, limits)
    reader, translator = LedgerReader(connections), Translator(identity, policy.own_lists)
    pager = Pager(conninfo, settings.alert_urls, policy)
    time = RecentTime(reader.now, always_read=test_clock)
    intake = Intake(settings.webhooks, engine, translator, connections, time, pager.wake)
    return Context(
        settings=settings,
        policy=policy,
        identity=identity,
        translator=translator,
        engine=engine,
        writer=writer,
        connections=connections,
        reader=reader,
        projector=Projector(conninfo, alert=lag_alert(connections)),
        pager=pager,
        keys=KeyRing(conninfo),
        key_rates=KeyRates(settings.per_key),
        supervisor=supervisor,
        intake=intake,
        refresher=Refresher(intake, connections, settings.apis, policy),
        idempotency_lock=IdempotencyLock(conninfo),
        claimed=ClaimedCustomers(),
        read_wait=settings.read_wait,
        witness_path=settings.witness_path,
        test_clock=test_clock,
        conninfo=conninfo,
    )


def tune_garbage_collector() -> None:
    """Keep the garbage collector off the hot path: the cache is large and has no cycles (D4).

    A collection looks at what the requests under way hold, too, some 7,000 objects: with few new
    ones it would mostly look at those. The middle generation is collected often, while it is small,
    since all requests wait meanwhile.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 2, 1_000)
