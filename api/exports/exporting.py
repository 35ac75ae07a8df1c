"""Exports what is new of the log, range by range; each range is complete or not there at all."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
import pyarrow as pa

from api.exports.folder import ExportFolder
from api.exports.manifest import BadExport, Manifest, TableEntry, span_name
from api.exports.partitions import DAY, Partitions
from api.exports.rows import batches, schema_of
from ledger.store.hashchain import GENESIS
from ledger.store.looking_back.audit import Checkpoint, stored_checkpoint
from ledger.store.looking_back.checkpoints import epoch_of
from ledger.store.session_limits import session_options
from projections.exported_tables import (
    TABLES,
    live_schemas,
    position_before,
    query_of,
    range_of,
    reachable,
)

RANGE = 500_000
"""How many positions a range has at most; a killed export loses what it had of one."""
SETTLE = 120.0
"""How long ago (seconds) what is exported was recorded: equal denials get their row within it."""
_SESSION = session_options(
    statement_timeout="0",
    idle_in_transaction_session_timeout="10min",
    work_mem="64MB",
    # One core is enough to take from the ledger.
    max_parallel_workers_per_gather="0",
)
Progress = Callable[[int, int], None]
"""Called with the position that was reached and the one that will be."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export: the format, the tables, and where a new export begins.

    `since` is a position, or a time (UTC) from which on; None: the beginning of the log.
    """

    format: str = "parquet"
    tables: Sequence[str] = tuple(TABLES)
    since: int | datetime | None = None
    settle: float = SETTLE
    most: int = RANGE


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export did: up to which position it is complete now, and how many rows it added."""

    position: int
    rows: int
    ranges: int


def export(conninfo: str, url: str, wanted: Wanted, progress: Progress | None = None) -> Exported:
    """Add to the export at this folder or URL what the log has more by now.

    A new folder is begun. Raises BadExport, psycopg.Error, OSError.
    """
    folder = ExportFolder(url)
    with folder.held():
        return _export(conninfo, folder, wanted, progress or _silent)


def _export(conninfo: str, folder: ExportFolder, wanted: Wanted, progress: Progress) -> Exported:
    manifests = folder.manifests()
    known = {each.path for each, _ in manifests}
    known |= {f.path for m, _ in manifests for table in m.tables.values() for f in table.files}
    _refuse_others(folder, bool(manifests))
    folder.clear(known)
    epoch = epoch_of(conninfo)
    with _connected(conninfo) as connection:
        end = reachable(connection, wanted.settle)
        position, previous = _begin(connection, manifests, wanted, epoch)
    before = _hash_at(conninfo, position)
    if manifests and manifests[-1][0].head_hash != before.hash.hex():
        raise BadExport(
            f"the log has another event at position {position} than the export: it was restored, "
            "or rewritten; begin an export of its own"
        )
    rows = ranges = 0
    progress(position, max(end, position))
    while position < end:
        upto = min(end, position + wanted.most)
        after = _hash_at(conninfo, upto)
        tables = _write_range(conninfo, folder, wanted, position, upto)
        made = Manifest(
            ledger=epoch,
            format=wanted.format,
            from_position=position,
            to_position=upto,
            from_hash=before.hash.hex(),
            head_hash=after.hash.hex(),
            previous=previous,
            tables=tables,
        )
        folder.settle([file.path for table in tables.values() for file in table.files])
        previous = folder.add_manifest(made)
        rows += sum(table.rows for table in tables.values())
        position, before, ranges = upto, after, ranges + 1
        progress(position, end)
    return Exported(position, rows, ranges)


def _refuse_others(folder: ExportFolder, begun: bool) -> None:
    """Raises BadExport for a folder with files that no export wrote: they would be removed."""
    own = (*TABLES, "_manifests", "_unfinished", "_lock")
    others = [path for path in folder.paths() if path.partition("/")[0] not in own]
    if others:
        what = "beside the export" if begun else "in the folder"
        raise BadExport(f"there are other files {what}, {others[0]} for one; name a new folder")


def _begin(
    connection: psycopg.Connection[Any],
    manifests: list[tuple[Manifest, str]],
    wanted: Wanted,
    epoch: str,
) -> tuple[int, str | None]:
    """The position from which to go on, and the digest of the manifest before. Raises BadExport."""
    if not manifests:
        if isinstance(wanted.since, datetime):
            return position_before(connection, wanted.since), None
        return wanted.since or 0, None
    last, digest = manifests[-1]
    if last.ledger != epoch:
        raise BadExport(f"it is an export of the ledger {last.ledger}, not of {epoch}")
    if wanted.since is not None:
        raise BadExport(f"it goes on from position {last.to_position}; leave --since out")
    if last.format != wanted.format or list(last.tables) != list(wanted.tables):
        raise BadExport(
            f"it has the format {last.format} and the tables {', '.join(last.tables)}; "
            "go on with these, or name a new folder"
        )
    return last.to_position, digest


def _write_range(
    conninfo: str, folder: ExportFolder, wanted: Wanted, after: int, upto: int
) -> dict[str, TableEntry]:
    """Write the files of a range, all from one snapshot of the database."""
    tables = {}
    with _connected(conninfo) as connection:
        schemas = live_schemas(connection)
        within = range_of(connection, after, upto)
        for name in wanted.tables:
            query = query_of(name, schemas)
            schema = schema_of(connection, query)
            files = Partitions(folder, name, span_name(after, upto), wanted.format, schema)
            files.write(batches(connection, query, schema, within))
            tables[name] = TableEntry(
                columns=_columns(schema), rows=sum(f.rows for f in files.files), files=files.files
            )
    return tables


def _columns(schema: pa.Schema) -> list[list[str]]:
    return [[field.name, str(field.type)] for field in schema if field.name != DAY]


def _hash_at(conninfo: str, position: int) -> Checkpoint:
    if position == 0:
        return Checkpoint(0, GENESIS)
    found = stored_checkpoint(conninfo, position)
    if found is None:
        raise BadExport(f"the log has no position {position}")
    return found


@contextmanager
def _connected(conninfo: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in a transaction that sees one snapshot and writes nothing."""
    with psycopg.connect(
        conninfo,
        options=_SESSION,
        application_name="send-ledger export",
        client_encoding="UTF8",
    ) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        yield connection


def _silent(position: int, end: int) -> None:
    """The default progress callback: does nothing."""
