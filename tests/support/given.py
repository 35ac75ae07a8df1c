"""given(steps).when(step).then(…): the preconditions, the command, and the expected result."""

import asyncio
import itertools
import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast
from uuid import UUID

from ledger.application.answers import Answer
from ledger.application.commands import (
    ApplyFact,
    Command,
    DryRun,
    Lapse,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact, FactData
from ledger.domain.identity import aggregate_id
from ledger.domain.permit import Permit
from ledger.domain.policy import Policy
from tests.support.build import CALLERS, IDENTITY, POLLER, at
from tests.support.memory import MemorySession, MemoryStore

Step: TypeAlias = Any
"""A time to set (datetime), a time to add (timedelta), a Fact, FactData, or a Command."""
_RUNNER = asyncio.Runner()
START = at("2026-01-01T00:00:00Z")


class Scenario:
    """An in-memory ledger, its history, and the last answer."""

    def __init__(self, policy: Policy, now: datetime = START) -> None:
        self.policy = policy
        self.store = MemoryStore(now, keys=frozenset(caller.key_id for caller in CALLERS))
        self.granted: list[str] = []
        self.answer = Answer(0, b"{}")
        self._ids = itertools.count(1)
        self._before = self._counts()

    def when(self, *steps: Step) -> "Scenario":
        """Run the steps; `then` checks the events of all of them, and the last one's answer."""
        self._before = self._counts()
        for step in steps:
            self._take(step)
        return self

    def then(
        self,
        *,
        status: int | None = None,
        code: str | None = None,
        result: str | None = None,
        events: list[str] | None = None,
        alerts: list[str] | None = None,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> "Scenario":
        """Assert the given values; `events` are `Aggregate.Event`, in order; `body` is a subset."""
        assert (status, code, result, events, alerts, body, headers) != (None,) * 7
        if status is not None or code is not None:
            heard = (self.answer.status, self.body.get("code"))
            assert heard == (status or self.answer.status, code), self.answer.body
        if result is not None:
            assert self.answer.result == result, self.answer.body
        if events is not None:
            assert self.events == events, self.events
        if alerts is not None:
            assert self.alerts == alerts, self.alerts
        for name, value in (body or {}).items():
            assert (name, self.body.get(name)) == (name, value)
        for name, value in (headers or {}).items():
            assert (name, dict(self.answer.headers).get(name)) == (name, value)
        return self

    def number_from(self, first: int) -> None:
        """Count the ids of later decisions from here: those of another history differ."""
        self._ids = itertools.count(first)

    def granted_now(self) -> "Scenario":
        """The answer is the one yes: 201, and no code."""
        return self.then(status=201)

    @property
    def body(self) -> dict[str, Any]:
        """The body of the last answer."""
        return cast("dict[str, Any]", json.loads(self.answer.body or b"{}"))

    @property
    def events(self) -> list[str]:
        """The events of the last `when`, as `Aggregate.Event`."""
        rows = self.store.rows[self._before[0] :]
        return [row.topic.removeprefix("ledger:") for row in rows]

    @property
    def alerts(self) -> list[str]:
        """The kinds of the alerts of the last `when`.

        Without `redeem_skipped`: histories leave the redeem out where they are about other things.
        """
        kinds = [alert.kind for alert in list(self.store.alerts.values())[self._before[1] :]]
        return [kind for kind in kinds if kind != "redeem_skipped"]

    @property
    def skipped_redeems(self) -> list[str]:
        """The dedupe keys of all `redeem_skipped` alerts so far."""
        return [key for key, a in self.store.alerts.items() if a.kind == "redeem_skipped"]

    def event(self, name: str) -> Any:
        """The latest event of that name."""
        return next(r for r in reversed(self.store.rows) if r.topic == f"ledger:{name}").event()

    def permit(self, which: str = "$last") -> Permit:
        """A permit as it is stored."""
        return self.store.permit(self._permit_id(which))

    def aggregate(self, kind: str, external_id: str) -> Any:
        """An aggregate, replayed from its first event."""
        return self.store.replay()[aggregate_id(kind, external_id)]

    def submit(self, *commands: Command) -> list[Answer]:
        """Decide commands in this order in one transaction; returns their answers."""

        async def decide() -> list[Answer]:
            engine = Engine(MemorySession(self.store), self.policy, IDENTITY)
            await engine.start()
            answers = await engine.submit_all([self._numbered(c) for c in commands])
            await engine.stop()
            return answers

        answers = _RUNNER.run(decide())
        self.granted.extend(a.permit_id for a in answers if a.status == 201 and a.permit_id)
        self.answer = answers[-1]
        assert self.answer.status != 500, self.answer.body
        return answers

    def _take(self, step: Step) -> None:
        if isinstance(step, timedelta):
            step = self.store.now + step
        if isinstance(step, datetime):
            assert step >= self.store.now, "time never goes back"
            self.store.now = step
            return
        if isinstance(step, FactData):
            step = Fact(step)
        if isinstance(step, Fact):
            step = ApplyFact(step, POLLER)
        self.submit(cast("Command", step))

    def _numbered(self, command: Command) -> Command:
        if isinstance(command, Redeem | ReportOutcome | Lapse):
            command = replace(command, permit_id=self._permit_id(command.permit_id))
        if isinstance(command, DryRun):
            numbered = (cast("RequestPermit", self._numbered(r)) for r in command.requests)
            return replace(command, requests=tuple(numbered))
        if isinstance(command, RequestPermit | Redeem) and not command.decision_id:
            command = replace(command, decision_id=str(UUID(int=next(self._ids))))
        return command

    def _permit_id(self, which: str) -> str:
        if not which.startswith("$"):
            return which
        return self.granted[-1] if which == "$last" else self.granted[int(which[1:]) - 1]

    def _counts(self) -> tuple[int, int]:
        return len(self.store.rows), len(self.store.alerts)


def given(*steps: Step, policy: Policy | None = None) -> Scenario:
    """A ledger with this history; it begins on 1 January 2026, UTC."""
    scenario = Scenario(policy or Policy())
    scenario.submit(Lapse("nobody's"))
    return scenario.when(*steps)
