"""Writers that log the plan of every statement, also inside functions (auto_explain)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from psycopg import AsyncConnection
from psycopg.errors import Diagnostic

from ledger.store.log.timeouts import Timeouts
from ledger.store.log.writer import PostgresWriter

EXPLAINED = " ".join(
    f"-c {name}={value}"
    for name, value in {
        "session_preload_libraries": "auto_explain",
        "auto_explain.log_min_duration": "0",
        "auto_explain.log_nested_statements": "on",
        "auto_explain.log_analyze": "on",
        "auto_explain.log_buffers": "on",
        "auto_explain.log_timing": "off",
        "auto_explain.log_format": "json",
        "client_min_messages": "log",
    }.items()
)
"""Session options that have every statement's plan come as a notice."""


class ExplainingTimeouts(Timeouts):
    """The writer's own settings, plans for everything, and a mode of planning."""

    __slots__ = ()
    mode = "auto"

    @property
    def options(self) -> str:
        """The session settings."""
        return f"{super().options} {EXPLAINED} -c plan_cache_mode={self.mode}"


class CustomPlans(ExplainingTimeouts):
    """Each execution is planned anew."""

    __slots__ = ()
    mode = "force_custom_plan"


class GenericPlans(ExplainingTimeouts):
    """Statements are planned once, for any parameters."""

    __slots__ = ()
    mode = "force_generic_plan"


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement's plan as it was executed."""

    query: str
    root: dict[str, Any]

    def nodes(self) -> Iterator[dict[str, Any]]:
        """Every node, subplans included."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.get("Plans", ()))

    @property
    def pages(self) -> int:
        """How many pages it looked at."""
        return int(self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"])


@dataclass
class Collector:
    """Takes the plans of a writer as notices."""

    plans: list[Plan] = field(default_factory=list)

    def __call__(self, notice: Diagnostic) -> None:
        """One notice of the server."""
        text = notice.message_primary or ""
        if "plan:\n" in text:
            found = json.loads(text.partition("plan:\n")[2])
            self.plans.append(Plan(found["Query Text"], found["Plan"]))

    def about(self, words: str) -> list[Plan]:
        """The plans of statements that hold these words."""
        return [plan for plan in self.plans if words in plan.query]


class ExplainingWriter(PostgresWriter):
    """A writer that keeps the plans; only a superuser may load auto_explain."""

    def __init__(self, database: str, timeouts: Timeouts) -> None:
        super().__init__(database, timeouts)
        self.collector = Collector()

    async def _connected(self) -> AsyncConnection[Any]:
        known = self._connection
        connection = await super()._connected()
        if connection is not known:
            connection.add_notice_handler(self.collector)
        return connection
