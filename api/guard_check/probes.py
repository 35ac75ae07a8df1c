"""The probes of a guard check: real requests to the engine for a synthetic customer."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import NamedTuple

import orjson

from api.guard_check.parts import ProbedParts
from api.paging.pager import PagingError
from ledger.application.answers import Answer, to_json
from ledger.application.caller import SYSTEM, Caller
from ledger.application.clock import process_time
from ledger.application.commands import Redeem, ReportOutcome, RequestPermit
from ledger.application.engine import Engine
from ledger.application.kinds.own_requests import notice_of
from ledger.application.ports import Need
from ledger.domain.permit import LIVE
from ledger.store.log.writer import PostgresWriter
from ledger.store.looking_back.guard_findings import (
    DURABLE,
    database_times,
    durability,
    recorded_decisions,
)
from projections.status import status

PROBER = Caller(SYSTEM.key_id, "guard-check", frozenset({"send", "operate"}))
"""The caller of the probes: a reserved name, so that the decision log shows them apart."""
_EVENT_TYPE = "guard-check"
_TWIN = "twin"
_CLOCKS_APART = timedelta(seconds=2)
"""The largest allowed difference between the database's clock and this machine's."""
_READ_MODELS_WAIT = 10.0
_OVER_THE_CAP = 3
"""How many requests above the cap the flood probe makes."""


class Finding(NamedTuple):
    """Whether a probe passed, and what it observed."""

    passed: bool
    detail: str


class Probes:
    """The probes of one guard check, in the order in which they run.

    The customer's id is reserved: their mails are allowed during a pause, count in no shared
    window, are in no read model, and their alert is a drill.
    """

    def __init__(self, parts: ProbedParts, customer_id: str) -> None:
        self._parts = parts
        self._engine = parts.engine
        self._customer_id = customer_id
        self._heard: dict[str, int] = {}
        self._granted: list[str] = []

    async def duplicate_denied(self) -> Finding:
        """Two connections request the same mail concurrently; after it was sent both ask again."""
        async with self._second_engine() as other:
            first, second = await asyncio.gather(
                self._ask(self._engine, _TWIN), self._ask(other, _TWIN)
            )
            heard = sorted([_word(first), _word(second)])
            if heard != ["granted", "permit_held"]:
                return Finding(False, f"two connections asked at once and heard {_list(heard)}")
            permit_id = first.permit_id or second.permit_id or ""
            handed_over = [_word(await self._redeem(e, permit_id)) for e in (self._engine, other)]
            if handed_over != ["yes", "already_redeemed"]:
                return Finding(False, f"two redeems of one permit heard {_list(handed_over)}")
            await self._engine.submit(ReportOutcome(permit_id, "sent", PROBER))
            again = [_word(await self._ask(e, _TWIN)) for e in (self._engine, other)]
        if again != ["already_sent", "already_sent"]:
            return Finding(False, f"asked for a mail that was sent and heard {_list(again)}")
        return Finding(
            True,
            "two connections asked for one mail at once: one was granted, one was denied "
            "permit_held; sent, it was denied already_sent on both",
        )

    async def flood_stopped(self) -> Finding:
        """Request more mails than the cap allows: exactly the number left under it is granted."""
        room = self._parts.policy.outreach_per_day - 1
        count = room + _OVER_THE_CAP
        asked = [self._ask(self._engine, f"flood-{number}") for number in range(count)]
        heard = [_word(answer) for answer in await asyncio.gather(*asked)]
        expected = ["granted"] * room + ["cap_reached"] + ["breaker_open"] * (_OVER_THE_CAP - 1)
        if heard != expected:
            return Finding(False, f"{count} requests heard {_list(heard)}, not {_list(expected)}")
        limit = self._parts.policy.outreach_per_day
        return Finding(
            True,
            f"of {count} more mails {room} were granted, up to the cap of {limit} in 24 hours; "
            f"then {_list(heard[room:])}",
        )

    async def breaker_opened(self) -> Finding:
        """The flood opened the customer's breaker, according to the log."""
        customer, _ = await self._parts.reader.customer(self._customer_id)
        if customer is None or customer.breaker is None:
            return Finding(False, "the breaker stayed closed")
        return Finding(True, f"the breaker is open for {customer.breaker.scope}")

    async def drill_delivered(self) -> Finding:
        """The page about that breaker, a drill, is delivered to every configured target now."""
        try:
            results = await self._parts.pager.deliver_drill(self._customer_id)
        except PagingError as error:
            return Finding(False, str(error))
        if not results:
            return Finding(
                True,
                "no target is configured (LEDGER_ALERT_URLS): nobody would be paged, "
                "alerts are only listed",
            )
        missed = [f"{r.target} did not: {r.detail}" for r in results if not r.ok]
        had = [r.target for r in results if r.ok]
        told = [f"the drill reached {_list(had)}"] if had else []
        return Finding(not missed, "; ".join(told + missed))

    async def decisions_recorded(self) -> Finding:
        """Each answer that the probes received is in the decision log with the same status."""
        if not self._heard:
            return Finding(False, "no probe was answered")
        async with self._parts.connections.use() as connection:
            found = await recorded_decisions(connection, self._heard)
        wrong = [
            decision_id
            for decision_id, heard in self._heard.items()
            if decision_id not in found
            or found[decision_id].status != heard
            or found[decision_id].position > found[decision_id].head
        ]
        if wrong:
            return Finding(False, f"{len(wrong)} answers are not in the decision log as given")
        return Finding(True, f"all {len(found)} answers are in the decision log as given")

    async def projections_current(self) -> Finding:
        """Every read model reaches the log's current position, and none has failed."""
        head = (await self._parts.reader.load(Need())).position
        behind = await self._parts.projector.wait_for(head, _READ_MODELS_WAIT)
        async with self._parts.connections.use() as connection:
            models = await status(connection)
        failed = [model.name for model in models if model.state == "failed"]
        if failed:
            return Finding(False, f"failed: {_list(failed)}")
        if behind > 0:
            late = [model.name for model in models if model.position < head]
            return Finding(False, f"{behind:.1f} seconds behind position {head}: {_list(late)}")
        return Finding(True, f"{_list([m.name for m in models])} have passed position {head}")

    async def clock_sane(self) -> Finding:
        """The database's clock agrees with this machine's and is not behind the last event."""
        before = process_time()
        async with self._parts.connections.use() as connection:
            theirs, last_event = await database_times(connection)
        after = process_time()
        if self._parts.test_clock:
            return Finding(True, "the ledger goes by a test clock")
        apart = max(before - theirs, theirs - after, timedelta(0))
        if apart > _CLOCKS_APART:
            return Finding(
                False,
                f"the database's clock and this machine's are {apart.total_seconds():.1f} s apart",
            )
        if last_event is not None and last_event - theirs > _CLOCKS_APART:
            ahead = (last_event - theirs).total_seconds()
            return Finding(
                False,
                f"the last event is {ahead:.1f} s ahead of the database's clock, which went back",
            )
        return Finding(True, "the clocks of the database and of this machine agree within 2 s")

    async def store_durable(self) -> Finding:
        """A commit survives a crash: fsync, full_page_writes and synchronous_commit are on."""
        settings = await durability(self._parts.conninfo)
        shown = ", ".join(f"{name} = {settings.get(name)}" for name in DURABLE)
        durable = all(settings.get(name) in values for name, values in DURABLE.items())
        return Finding(durable, shown)

    async def tidy(self) -> Finding:
        """End the flood's permits by reporting them as rejected: no mail was handed over."""
        permits = (await self._parts.reader.load(Need(permits=set(self._granted)))).permits
        live = [permit.permit_id for permit in permits.values() if permit.state in LIVE]
        reports = [ReportOutcome(permit_id, "rejected", PROBER) for permit_id in live]
        await self._engine.submit_all(reports)
        return Finding(True, f"{len(live)} permits ended")

    @asynccontextmanager
    async def _second_engine(self) -> AsyncIterator[Engine]:
        """A second engine with its own connection and cache, like the engine of another process."""
        parts = self._parts
        writer = PostgresWriter(parts.conninfo)
        engine = Engine(writer, parts.policy, parts.identity)
        await engine.start()
        try:
            yield engine
        finally:
            await engine.stop()
            await writer.close()

    async def _ask(self, engine: Engine, event_id: str) -> Answer:
        subject, request = notice_of(self._customer_id, _EVENT_TYPE, event_id)
        command = RequestPermit(subject, PROBER, str(uuid.uuid4()), to_json(request))
        answer = await engine.submit(command)
        self._heard[command.decision_id] = answer.status
        if answer.permit_id is not None:
            self._granted.append(answer.permit_id)
        return answer

    async def _redeem(self, engine: Engine, permit_id: str) -> Answer:
        command = Redeem(permit_id, None, PROBER, str(uuid.uuid4()), b"{}")
        answer = await engine.submit(command)
        self._heard[command.decision_id] = answer.status
        return answer


def _word(answer: Answer) -> str:
    """The answer in one word: granted, yes, or the code of the denial."""
    if answer.status < 300:
        return "granted" if answer.status == 201 else "yes"
    code: str = orjson.loads(answer.body).get("code", str(answer.status))
    return code


def _list(words: list[str]) -> str:
    """Join words for a sentence; repeated words are counted."""
    counted = {word: words.count(word) for word in words}
    return ", ".join(word if n == 1 else f"{word} × {n}" for word, n in counted.items())
