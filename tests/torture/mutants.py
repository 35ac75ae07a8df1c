"""Services with one defect built in, which the judge of a torture run must find.

`python -m tests.torture.mutants NAME serve …` is `send-ledger serve` with that defect.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ledger.application import answers, permit_decision
from ledger.application.clock import stopwatch
from ledger.application.clock_watch import ClockWatch
from ledger.application.ports import Batch, Head
from ledger.domain import guards, windows
from ledger.store.log.writer import PostgresWriter
from tests.support.service import SERVE

_LONG_SECONDS = 0.3
_slow = [False]
_HELD = ("already_sent", "duplicate_intent", "permit_held", "outcome_unknown")


def _no_cap() -> None:
    """Customers get as many mails as anybody asks for."""
    real = windows.outreach

    def roomy(*args: Any) -> windows.Window:
        window = real(*args)
        return windows.Window(window.name, 0, window.limit, None)

    windows.outreach = roomy  # type: ignore[assignment]


def _forgets_holders() -> None:
    """No send key is held by anybody."""
    real = guards.judge_subject

    def blind(case: Any, subject: Any) -> Any:
        denial = real(case, subject)
        return None if denial is not None and denial.code in _HELD else denial

    permit_decision.judge_subject = blind  # type: ignore[attr-defined]


def _acknowledges_before_commit() -> None:
    """One batch in four is answered as if it were committed, and is rolled back."""
    real, turn = PostgresWriter.write, [0]

    async def write(self: PostgresWriter, batch: Batch) -> None:
        turn[0] += 1
        if turn[0] % 4 == 0:
            await self.rollback()
            return
        await real(self, batch)

    PostgresWriter.write = write  # type: ignore[method-assign]


def _believes_a_lost_commit() -> None:
    """A COMMIT without an answer counts as done, and nobody looks again."""

    async def committed(self: PostgresWriter, batch: Batch) -> bool:
        return True

    PostgresWriter.committed = committed  # type: ignore[method-assign]


def _says_no_where_it_does_not_know() -> None:
    """Nobody knows whether a COMMIT happened, and callers are told that it did not."""
    answers.store_failed = lambda error: answers.unavailable(f"no answer: {error}")


def _believes_a_slow_database() -> None:
    """Who waited long for the lock is answered at once, and what was decided is not written."""
    begin, write = PostgresWriter.begin, PostgresWriter.write

    async def timed_begin(self: PostgresWriter) -> Head:
        since = stopwatch()
        try:
            return await begin(self)
        finally:
            _slow[0] = stopwatch() - since > _LONG_SECONDS

    async def hasty_write(self: PostgresWriter, batch: Batch) -> None:
        if _slow[0]:
            await self.rollback()
            return
        await write(self, batch)

    PostgresWriter.begin = timed_begin  # type: ignore[method-assign]
    PostgresWriter.write = hasty_write  # type: ignore[method-assign]


def _trusts_any_clock() -> None:
    """The database's clock is right, whatever it shows."""

    async def checked(self: ClockWatch, head: Head, commands: Any, session: Any) -> Head:
        return head

    ClockWatch.checked = checked  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Mutant:
    """How the defect is built in, and the faults that bring it to light, none by default."""

    build_in: Callable[[], None]
    faults: tuple[str, ...] = ()


MUTANTS: dict[str, Mutant] = {
    "no cap": Mutant(_no_cap),
    "forgets who holds a send": Mutant(_forgets_holders),
    "acknowledges before commit": Mutant(_acknowledges_before_commit),
    "believes a lost COMMIT": Mutant(_believes_a_lost_commit, ("COMMIT lost",)),
    "believes a full disk": Mutant(_believes_a_lost_commit, ("disk full for a while",)),
    "says no to a late COMMIT": Mutant(_says_no_where_it_does_not_know, ("COMMIT late",)),
    "believes a slow database": Mutant(
        _believes_a_slow_database,
        ("service stopped for a while", "PostgreSQL stopped for a while"),
    ),
    "trusts any clock": Mutant(_trusts_any_clock, ("clock wrong for a while",)),
}


def mutant_command(name: str) -> tuple[str, ...]:
    """The command of a service with that defect."""
    interpreter, module, _, *rest = SERVE
    return (interpreter, module, "tests.torture.mutants", name, *rest)


def main() -> None:
    """Build the defect in, then be `send-ledger`."""
    from api.cli.main import main as send_ledger

    MUTANTS[sys.argv.pop(1)].build_in()
    send_ledger()


if __name__ == "__main__":
    main()
