"""Reads back what an export wrote: the events of a file as the log has them, and row counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import pyarrow as pa
import pyarrow.csv as arrow_csv
from pyarrow import parquet as pq

from api.exports.folder import ExportFolder
from ledger.store.hashchain import microseconds

_COLUMNS = (
    "log_position",
    "aggregate_id",
    "aggregate_version",
    "topic",
    "recorded_at",
    "state",
    "hash",
)
_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of the log; `hashed` are what its hash covers, in the order of `row_hash`."""

    position: int
    hash: bytes
    hashed: tuple[int, bytes, int, int, bytes, bytes]


def stored_events(folder: ExportFolder, path: str, format: str) -> Iterator[StoredEvent]:
    """The events of a file, in its order. Raises OSError, ValueError."""
    for row in _rows(folder, path, format):
        position, aggregate, version, topic, at, state, hash_ = row
        yield StoredEvent(
            int(position),
            bytes.fromhex(hash_),
            (
                int(position),
                UUID(aggregate).bytes,
                int(version),
                at if isinstance(at, int) else microseconds(datetime.fromisoformat(at)),
                topic.encode(),
                state.encode(),
            ),
        )


def count_rows(folder: ExportFolder, path: str, format: str) -> int:
    """How many rows a file has. Raises OSError, ValueError."""
    with folder.open(path) as file:
        if format == "parquet":
            count: int = pq.ParquetFile(file).metadata.num_rows
            return count
        if format == "jsonl":
            return sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))
        return sum(batch.num_rows for batch in _csv(file))


def _rows(folder: ExportFolder, path: str, format: str) -> Iterator[tuple[Any, ...]]:
    with folder.open(path) as file:
        if format == "jsonl":
            for line in file:
                row = orjson.loads(line)
                yield tuple(row[name] for name in _COLUMNS)
            return
        batches = (
            pq.ParquetFile(file).iter_batches(_BATCH, columns=list(_COLUMNS))
            if format == "parquet"
            else _csv(file)
        )
        for batch in batches:
            columns = [batch.column(name) for name in _COLUMNS]
            lists = [
                (each.cast(pa.int64()) if pa.types.is_timestamp(each.type) else each).to_pylist()
                for each in columns
            ]
            yield from zip(*lists, strict=True)


def _csv(file: Any) -> Any:
    """The batches of a CSV file, all columns as text."""
    names = arrow_csv.open_csv(
        file, parse_options=arrow_csv.ParseOptions(newlines_in_values=True)
    ).schema.names
    file.seek(0)
    return arrow_csv.open_csv(
        file,
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names}
        ),
    )
