"""Writes the rows of a table to one file a day: they come in the order of their days."""

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from api.exports.folder import ExportFolder, HashedFile
from api.exports.formats import FORMATS, Writer
from api.exports.manifest import FileEntry

DAY = "partition_day"
_ROW_GROUP = 100_000
_ROW_GROUP_BYTES = 32 * 2**20


class Partitions:
    """The files of one table and range; one is open at a time, with a row group in memory."""

    def __init__(
        self, folder: ExportFolder, table: str, span: str, format: str, schema: pa.Schema
    ) -> None:
        self.files: list[FileEntry] = []
        self._folder, self._table, self._span, self._format = folder, table, span, format
        self._schema = schema.remove(schema.get_field_index(DAY))
        self._day: Any = None
        self._held: list[pa.RecordBatch] = []
        self._rows = 0
        self._open = ExitStack()
        self._file: HashedFile | None = None
        self._writer: Writer | None = None

    def write(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Write all rows. Raises OSError."""
        with self._open:
            for batch in batches:
                self._split(batch)
            self._end()

    def _split(self, batch: pa.RecordBatch) -> None:
        days = batch.column(DAY)
        rest = batch.drop_columns([DAY])
        start = 0
        for run in pc.run_end_encode(days).run_ends.to_pylist() if len(days) else []:
            day = days[start].as_py()
            if day != self._day:
                self._end()
                self._day = day
            self._held.append(rest.slice(start, run - start))
            start = run
            self._flush(_ROW_GROUP, _ROW_GROUP_BYTES)

    def _flush(self, rows: int, size: int) -> None:
        held = sum(batch.num_rows for batch in self._held)
        if held == 0 or (held < rows and sum(b.nbytes for b in self._held) < size):
            return
        if self._writer is None:
            self._file = self._open.enter_context(self._folder.writing(self._path))
            self._writer = FORMATS[self._format](self._file, self._schema)
        self._writer.write(pa.Table.from_batches(self._held, self._schema))
        self._rows += held
        self._held = []

    def _end(self) -> None:
        """Complete the file of the day."""
        self._flush(0, 0)
        if self._writer is None or self._file is None:
            return
        self._writer.close()
        self._open.close()
        self.files.append(FileEntry(self._path, self._rows, self._file.size, self._file.sha256))
        self._writer, self._file, self._rows = None, None, 0

    @property
    def _path(self) -> str:
        return f"{self._table}/day={self._day}/{self._span}.{self._format}"
