"""Shared by all rows: a PostgreSQL, a ledger, the empty endpoint, and measuring in pairs."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from bench.fill import Teller
from bench.load import Load, Stream, run_load
from bench.machine import Spent, cpu_seconds, wait_until_quiet
from bench.ratio import Comparison, Pair, Sample
from bench.servers import (
    ROOT,
    Postgres,
    Server,
    running_empty,
    running_ledger,
    running_postgres,
    settle,
)

Part = TypeVar("Part")
Take = Callable[[int], Sample]
"""Measures one side of a round, given the number of the round."""

_MORE = 1.3
_WARM_UP = '{"kind":"notification","customer_id":"warm-{n}","event_type":"shipped","event_id":"1"}'


@dataclass(frozen=True, slots=True)
class Pace:
    """How thorough a run is: rounds per row, seconds per load.

    After `budget` seconds no row and no round is started.
    """

    quick: bool
    rounds: int
    seconds: int
    budget: float

    def size(self, full: int, quick: int) -> int:
        """The size for a full or a quick run."""
        return quick if self.quick else full


QUICK = Pace(True, 1, 1, 60.0)
FULL = Pace(False, 3, 4, 600.0)


class Stand:
    """Starts servers when a row first needs them; at the end stops them and removes their data."""

    def __init__(self, pace: Pace, stack: ExitStack, folder: Path) -> None:
        self.pace = pace
        self._stack = stack
        self._folder = folder
        self._most_per_second = 0
        self._numbers = 1
        self._databases = 0
        self._keys: dict[str, str] = {}
        self._give_up = time.monotonic() + pace.budget
        self._parts: dict[Any, Any] = {}

    @cached_property
    def postgres(self) -> Postgres:
        """The one PostgreSQL of the run."""
        return self._stack.enter_context(running_postgres(self._folder / "postgres"))

    @cached_property
    def ledger(self) -> Server:
        """The shared ledger, warmed up."""
        server = self._stack.enter_context(self.own_ledger())
        self._most_per_second = int(_MORE * self._warm_up(server))
        return server

    @property
    def most_per_second(self) -> int:
        """Somewhat more permits than the ledger grants in a second, so that a load has enough.

        Not twice as many: the invoices of a load must fit in the engine's cache.
        """
        _ = self.ledger
        return self._most_per_second

    @most_per_second.setter
    def most_per_second(self, value: int) -> None:
        self._most_per_second = value

    @cached_property
    def empty(self) -> Server:
        """The baseline endpoint, warmed up in the same way."""
        server = self._stack.enter_context(running_empty(self._folder / "empty"))
        self._warm_up(server)
        return server

    @cached_property
    def teller(self) -> Teller:
        """Posts facts to the shared ledger."""
        return Teller(self.ledger.url, self.ledger.key)

    def once(self, make: "Callable[[Stand], Part]") -> Part:
        """The result of `make` for this stand; computed once for all rows that use it."""
        if make not in self._parts:
            self._parts[make] = make(self)
        part: Part = self._parts[make]
        return part

    @property
    def time_is_up(self) -> bool:
        """True where the run has used up its time."""
        return self.seconds_left <= 0

    @property
    def seconds_left(self) -> float:
        """The seconds that the run has left; negative where its time is up."""
        return self._give_up - time.monotonic()

    def enter(self, server: AbstractContextManager[Server]) -> Server:
        """Start a server that runs until the end of the run."""
        return self._stack.enter_context(server)

    @contextmanager
    def own_ledger(
        self, *options: str, conninfo: str | None = None, root: Path = ROOT
    ) -> Iterator[Server]:
        """Another ledger, on a new database or on one that was used before.

        `root` is the checkout whose code serves.
        """
        folder = self.own_folder()
        conninfo = conninfo or self.own_database()
        key = self._keys.get(conninfo)
        with running_ledger(conninfo, folder, *options, key=key, root=root) as server:
            self._keys[conninfo] = server.key
            yield server

    def own_database(self) -> str:
        """A new, empty database on the shared PostgreSQL."""
        self._databases += 1
        return self.postgres.database(f"bench_{self._databases}")

    def own_folder(self) -> Path:
        """A new folder."""
        return Path(tempfile.mkdtemp(dir=self._folder))

    def numbers(self, count: int) -> int:
        """Reserve `count` numbers that no other part of the run uses; returns the first."""
        first = self._numbers
        self._numbers += count
        return first

    def alternate(self, ours: Take, baseline: Take, notes: tuple[str, ...] = ()) -> Comparison:
        """Measure both sides alternately, changing the order every round: A B, B A, A B."""
        pairs = []
        for number in range(self.pace.rounds):
            if number and self.time_is_up:
                notes = (*notes, f"only {number} of {self.pace.rounds} rounds: time was up")
                break
            if number % 2:
                theirs = baseline(number)
                pairs.append(Pair(ours(number), theirs))
            else:
                mine = ours(number)
                pairs.append(Pair(mine, baseline(number)))
        told = [note for pair in pairs for note in (*pair.ours.notes, *pair.baseline.notes)]
        return Comparison(pairs, list(dict.fromkeys((*notes, *told))))

    def load(self, server: Server, stream: Stream, connections: int) -> tuple[Load, Sample]:
        """Run a load on an idle machine; the sample's value is answers per second."""
        with self.counted(server) as cost:
            load = run_load(server.url, server.key, stream, connections, self.pace.seconds)
        notes = (f"{load.broken} connections broke",) if load.broken else ()
        return load, cost.sample(load.per_second, load.requests, load.p50_ms, load.p99_ms, notes)

    @contextmanager
    def counted(self, server: Server | None, postgres: bool | None = None) -> Iterator["Cost"]:
        """The CPU seconds of a block, from idle to idle.

        PostgreSQL is included for a ledger, unless `postgres` is given.
        """
        service = server.pid if server is not None else None
        counts = bool(server and server.conninfo) if postgres is None else postgres
        postmaster = self.postgres.pid if counts else None
        watched = {server.pid} if server is not None else set()
        if "ledger" in self.__dict__:
            watched.add(self.ledger.pid)
        if server is not None and server.conninfo:
            settle(server.conninfo)
        quiet = wait_until_quiet(watched, self._postmaster())
        cost = Cost(quiet)
        before = cpu_seconds(service, postmaster)
        yield cost
        after = cpu_seconds(service, postmaster)
        cost.during = after.since(before)
        wait_until_quiet(watched, self._postmaster())
        cost.later = cpu_seconds(service, postmaster).since(after)

    def _postmaster(self) -> int | None:
        return self.postgres.pid if "postgres" in self.__dict__ else None

    def _warm_up(self, server: Server) -> float:
        """Warm the server up with a load; returns answers per second."""
        stream = Stream((_WARM_UP,), first=self.numbers(50_000))
        return run_load(server.url, server.key, stream, 64, 1).per_second


class Cost:
    """CPU seconds of a block: while it ran, and after it until all processes were idle."""

    def __init__(self, quiet: bool) -> None:
        self.during = self.later = Spent(0.0, 0.0)
        self._quiet = quiet

    def sample(
        self,
        value: float,
        requests: int,
        p50_ms: float | None = None,
        p99_ms: float | None = None,
        notes: tuple[str, ...] = (),
    ) -> Sample:
        """The sample of this block, which answered `requests` requests."""
        per = 1000 / max(requests, 1)
        if not self._quiet:
            notes = (*notes, "started while something of an earlier load was still at work")
        return Sample(
            value,
            requests,
            p50_ms,
            p99_ms,
            self.during.service * per,
            self.during.postgres * per,
            (self.later.service + self.later.postgres) * per,
            notes,
        )


@contextmanager
def open_stand(pace: Pace) -> Iterator[Stand]:
    """A stand during the block; afterwards its processes are stopped and its data is removed."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-bench-"))
    try:
        with ExitStack() as stack:
            yield Stand(pace, stack, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
