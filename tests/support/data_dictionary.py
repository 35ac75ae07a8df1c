"""Writes the data dictionary of the views for analysts from their comments in the database.

`python -m tests.support.data_dictionary` writes it to docs/analytics.md.
"""

import asyncio
from pathlib import Path

import psycopg

from ledger.domain.policy import Policy
from ledger.store.migrate import migrate
from projections.schema import prepare
from projections.views import VIEWS
from tests.support.postgres import fresh_database, running_postgres

PAGE = Path(__file__).resolve().parents[2] / "docs" / "analytics.md"
_HEAD = """\
# Data dictionary of the schema `analytics`

Made from the comments in the database (`\\d+ analytics.sends` shows them too) by
`python -m tests.support.data_dictionary`; a test compares. [The guide](guides/analytics.md) says
how to ask.

Columns are never renamed, removed or given another type; new ones come at the end. Names say the
unit: `_at` and `_until` are instants (timestamptz), `_on` and `day` calendar days, `_minor_units`
amounts in the smallest unit of the currency, `_seconds` durations, `_count` numbers of things,
`is_` yes or no, `log_position` a position of the log.
"""
_COLUMNS = (
    "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),"
    " col_description(a.attrelid, a.attnum) FROM pg_attribute a"
    " WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 ORDER BY a.attnum"
)
_TYPES = {"timestamp with time zone": "timestamptz", "double precision": "float8"}


def dictionary(conninfo: str) -> str:
    """The page, from a database with the views."""
    parts = [_HEAD]
    with psycopg.connect(conninfo) as connection:
        for name in VIEWS:
            view = f"analytics.{name}"
            about = connection.execute(
                "SELECT obj_description(to_regclass(%s))", (view,)
            ).fetchone()
            assert about is not None
            parts.append(
                f"\n## {name}\n\n{about[0]}\n\n| column | type | meaning |\n|---|---|---|\n"
            )
            for column, kind, meaning in connection.execute(_COLUMNS, (view,)):
                parts.append(f"| `{column}` | {_TYPES.get(kind, kind)} | {meaning} |\n")
    return "".join(parts)


def main() -> None:
    """Write the page."""
    with running_postgres(fast=True) as server, fresh_database(server) as conninfo:
        migrate(conninfo)
        asyncio.run(prepare(conninfo, Policy()))
        PAGE.write_text(dictionary(conninfo), encoding="utf-8")


if __name__ == "__main__":
    main()
