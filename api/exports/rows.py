"""Reads the rows of a statement as batches of Arrow: PostgreSQL writes CSV, Arrow parses it.

Neither side makes a Python object of a value, so that a row costs about a microsecond here.
"""

import io
from collections.abc import Iterator
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql
from pyarrow import csv

from projections.exported_tables import Range, copy_of, described

_BLOCK = 4 * 2**20
_TYPES = {
    16: pa.bool_(),
    20: pa.int64(),
    23: pa.int32(),
    25: pa.string(),
    701: pa.float64(),
    1082: pa.date32(),
    1184: pa.timestamp("us", tz="UTC"),
    2950: pa.string(),
}
"""By the oids of bool, int8, int4, text, float8, date, timestamptz and uuid."""


class _Copied(io.RawIOBase):
    """What a COPY sends, as a file."""

    def __init__(self, copy: psycopg.Copy) -> None:
        self._blocks = iter(copy)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._left = memoryview(block)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def schema_of(connection: psycopg.Connection[Any], query: sql.Composed) -> pa.Schema:
    """The columns of a statement and their types. Raises psycopg.Error."""
    return pa.schema([(name, _TYPES[oid]) for name, oid in described(connection, query)])


def batches(
    connection: psycopg.Connection[Any], query: sql.Composed, schema: pa.Schema, wanted: Range
) -> Iterator[pa.RecordBatch]:
    """The rows of the range, some megabytes at a time. Raises psycopg.Error."""
    with connection.cursor().copy(copy_of(query), wanted.values) as copy:
        file = io.BufferedReader(_Copied(copy), _BLOCK)
        if not file.peek(1):
            return
        yield from csv.open_csv(
            file,
            read_options=csv.ReadOptions(
                column_names=schema.names, block_size=_BLOCK, use_threads=False
            ),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=schema,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
                true_values=["t"],
                false_values=["f"],
            ),
        )
