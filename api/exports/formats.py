"""The formats of an export's files: Parquet, CSV, and lines of JSON."""

from collections.abc import Callable
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from pyarrow import parquet as pq

_LINES = 5_000
"""How many rows are objects of Python at once."""
_INSTANT = "%Y-%m-%dT%H:%M:%SZ"


class Writer(Protocol):
    """Writes batches of rows to one file."""

    def write(self, rows: pa.Table) -> None:
        """Add rows."""

    def close(self) -> None:
        """Write the end; the file itself stays open."""


class _Parquet:
    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(pa.PythonFile(file, "w"), schema, compression="zstd")

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows)

    def close(self) -> None:
        self._writer.close()


class _Csv:
    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._file = pa.PythonFile(file, "w")
        self._writer = csv.CSVWriter(self._file, _as_text(schema.empty_table()).schema)

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(_as_text(rows))

    def close(self) -> None:
        self._writer.close()


class _JsonLines:
    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._file = file
        self._names = schema.names

    def write(self, rows: pa.Table) -> None:
        for batch in _as_text(rows).to_batches(_LINES):
            columns = [column.to_pylist() for column in batch.columns]
            found = (dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True))
            lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in found]
            self._file.write(b"".join(lines))

    def close(self) -> None:
        """Nothing is left to write."""


def _as_text(rows: pa.Table) -> pa.Table:
    """Instants as RFC 3339 with microseconds, days as ISO 8601: CSV and JSON have no such types."""
    columns = []
    for column in rows.columns:
        if pa.types.is_timestamp(column.type):
            column = pc.strftime(column, format=_INSTANT)
        elif pa.types.is_date(column.type):
            column = column.cast(pa.string())
        columns.append(column)
    return pa.table(columns, names=rows.column_names)


FORMATS: dict[str, Callable[[Any, pa.Schema], Writer]] = {
    "parquet": _Parquet,
    "csv": _Csv,
    "jsonl": _JsonLines,
}
"""How each format is written to a file, by its name, which is also the ending of the file's."""
