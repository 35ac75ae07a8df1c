"""The random histories of the property tests, fewer of them, on a real PostgreSQL."""

import os
from datetime import datetime

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.history import History
from tests.support.history_ledgers import HistoryLedger
from tests.support.history_postgres import PostgresLedger

_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


def test_histories_on_postgres(database: str) -> None:
    class OnPostgres(History):
        @staticmethod
        def make_ledger(now: datetime) -> HistoryLedger:
            return PostgresLedger(database, now)

    run_state_machine_as_test(
        OnPostgres,
        settings=settings(
            max_examples=300 if _DEEP else 8,
            stateful_step_count=60 if _DEEP else 40,
            derandomize=not _DEEP,
            database=None,
            deadline=None,
            # Shrinking belongs to the histories in memory; here each step is many statements.
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
