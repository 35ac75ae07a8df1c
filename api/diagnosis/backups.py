"""Looks at backups, as far as PostgreSQL knows: is its log archived, and when was it last?"""

from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncConnection

from api.diagnosis.finding import Finding, wrong
from ledger.store.statements import statement

_GUIDE = "(docs/guides/production.md#backups)"


async def look_at_backups(connection: AsyncConnection[Any]) -> list[Finding]:
    """What is wrong with the archive of PostgreSQL's log. Raises psycopg.Error.

    Base backups leave no trace in the database: their tool watches those.
    """
    row = await (await connection.execute(statement("archiving", "state"))).fetchone()
    return [] if row is None else findings_of(*row)


def findings_of(archives: bool, last: datetime | None, fails: bool, is_old: bool) -> list[Finding]:
    """The findings; `last` is when a segment was last archived, `is_old` over 24 hours ago."""
    if not archives:
        return [
            Finding(
                "not_archived",
                "note",
                "PostgreSQL does not archive its log: what was written since the last dump is lost "
                "with the disk",
                f"archive it, by pgBackRest or WAL-G {_GUIDE}",
            )
        ]
    since = f"since {last.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if last is not None else "yet"
    if fails:
        what = f"PostgreSQL cannot archive its log: nothing was archived {since}"
        return [wrong("archiving_fails", what, f"look into PostgreSQL's log {_GUIDE}")]
    if is_old:
        what = f"PostgreSQL has archived nothing {since}"
        return [wrong("archive_old", what, f"set archive_timeout, and look at the tool {_GUIDE}")]
    return []
