"""The store and the engine are tested on every server, unless LEDGER_TEST_POSTGRES names one."""

from tests.support.each_postgres import migrated, postgres, postgres_kind

__all__ = ["migrated", "postgres", "postgres_kind"]
