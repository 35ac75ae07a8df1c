"""One clock: only ledger/application/clock.py asks this machine what time it is (D16)."""

import ast
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PACKAGES, Source, assert_kept, at, broken, sources

CLOCK = "ledger/application/clock.py"
WALL_CLOCKS = frozenset(
    {
        "datetime.date.today",
        "datetime.datetime.now",
        "datetime.datetime.today",
        "datetime.datetime.utcnow",
        "eventsourcing.domain.create_utc_datetime_now",
        "eventsourcing.domain.datetime_now_with_tzinfo",
        "time.time",
        "time.time_ns",
    }
)


def reads_wall_clock(source: Source) -> Iterator[str]:
    """Every use of a wall clock, also under another name or handed on without a call."""
    if source.path == CLOCK:
        return
    meanings = imported_names(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            for name in sorted(full_names(node, meanings) & WALL_CLOCKS):
                yield at(source, node, f"{name} is for {CLOCK} only; take the time as an argument")


def imported_names(tree: ast.Module) -> dict[str, set[str]]:
    """What each imported name stands for; imports inside functions count too."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                meanings[alias.asname or top].add(alias.name if alias.asname else top)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                meanings[alias.asname or alias.name].add(f"{node.module}.{alias.name}")
    return meanings


def full_names(node: ast.expr, meanings: dict[str, set[str]]) -> set[str]:
    """The dotted names an expression may stand for; none where no import is at its root."""
    if isinstance(node, ast.Name):
        return meanings.get(node.id, set())
    if isinstance(node, ast.Attribute):
        return {f"{owner}.{node.attr}" for owner in full_names(node.value, meanings)}
    return set()


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import UTC, datetime\nnow = datetime.now(UTC)",
        "from datetime import datetime as moment\nnow = moment.utcnow()",
        "import datetime as dt\nnow = dt.datetime.now(dt.UTC)",
        "import datetime\ntoday = datetime.date.today()",
        "from datetime import date\ntoday = date.today()",
        "from datetime import datetime\nnow = datetime.today()",
        "import time\nnow = time.time()",
        "from time import time_ns as clock\nnow = clock()",
        "from dataclasses import field\nfrom time import time\nat = field(default_factory=time)",
        "def late():\n    import time\n    return time.time()",
        "from eventsourcing import domain\nnow = domain.datetime_now_with_tzinfo()",
    ],
)
def test_a_wall_clock_is_found(text: str) -> None:
    assert len(broken(reads_wall_clock, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import time\nstart = time.monotonic()\nspent = time.perf_counter()",
        "def later(now, clock):\n    return clock.now() - now.time()",
        "from datetime import datetime\nstart = datetime.fromisoformat('2026-12-01')",
        "from time import sleep",
    ],
)
def test_other_uses_of_time_are_left_alone(text: str) -> None:
    assert broken(reads_wall_clock, text) == []


def test_the_clock_itself_may_read_it() -> None:
    text = "import time\nnow = time.time()"
    assert broken(reads_wall_clock, text, path=CLOCK) == []
    assert broken(reads_wall_clock, text, path="api/application/clock.py") != []


def test_a_breach_names_its_place() -> None:
    (breach,) = broken(reads_wall_clock, "import time\n\nnow = time.time()", path="api/app.py")
    assert breach.startswith("api/app.py:3: time.time is for ledger/application/clock.py only")


@pytest.mark.parametrize("folder", PACKAGES)
def test_nothing_else_reads_the_wall_clock(folder: str) -> None:
    assert_kept(reads_wall_clock, sources(folder))
