"""Services with one defect built in, which the judge of a torture run must find.

`python -m tests.torture.mutants NAME serve …` is `send-ledger serve` with that defect.
"""

import sys
from collections.abc import Callable
from typing import Any

from ledger.application import permit_decision
from ledger.application.ports import Batch
from ledger.domain import guards, windows
from ledger.store.log.writer import PostgresWriter
from tests.support.service import SERVE

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


MUTANTS: dict[str, Callable[[], None]] = {
    "no cap": _no_cap,
    "forgets who holds a send": _forgets_holders,
    "acknowledges before commit": _acknowledges_before_commit,
}


def mutant_command(name: str) -> tuple[str, ...]:
    """The command of a service with that defect."""
    interpreter, module, _, *rest = SERVE
    return (interpreter, module, "tests.torture.mutants", name, *rest)


def main() -> None:
    """Build the defect in, then be `send-ledger`."""
    from api.cli.main import main as send_ledger

    MUTANTS[sys.argv.pop(1)]()
    send_ledger()


if __name__ == "__main__":
    main()
