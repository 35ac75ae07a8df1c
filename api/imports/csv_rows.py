"""Reads a log of rows and columns, whichever way these are parted, row by row."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from api.contract.free_text import without_addresses
from api.imports.rows import BadLog, RawRow

_LONGEST_FIELD = 256 * 1024
_LONGEST_HEADER = 256 * 1024
_MARK_LINE = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)
DELIMITERS = (",", ";", "\t", "|")


def csv_rows(file: BinaryIO, named: Sequence[str] = ()) -> Iterator[RawRow]:
    """The rows below a header. Raises BadLog where a named column is not in it."""
    csv.field_size_limit(_LONGEST_FIELD)
    # What is not UTF-8 makes its own row unusable, not the whole file.
    text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
    try:
        first = text.readline(_LONGEST_HEADER)
        mark, before = _told_mark(first), 0
        if mark is not None:
            first, before = text.readline(_LONGEST_HEADER), 1
        reader = csv.reader(_with_first(first, text), delimiter=mark or delimiter_of(first))
        header = _header(reader, named)
        while (row := _csv_row(reader, header, before)) is not None:
            if row.columns or row.trouble is not None:
                yield row
    finally:
        # The file is the caller's to close.
        text.detach()


def delimiter_of(header: str) -> str:
    """What parts the columns of a header: the mark that stands in it most often unquoted."""
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def header_of(head: bytes) -> list[str]:
    """The names in the first line of a log; one name where nothing parts it."""
    first, _, rest = head.partition(b"\n")
    mark = _told_mark(first.decode("utf-8-sig", "replace"))
    line = (first if mark is None else rest.partition(b"\n")[0]).decode("utf-8-sig", "replace")
    try:
        found = next(csv.reader([line], delimiter=mark or delimiter_of(line)), [])
    except csv.Error:
        return []
    return [name.strip() for name in found]


def _told_mark(line: str) -> str | None:
    """What parts the columns by a line of its own before the header, as spreadsheets read it."""
    found = _MARK_LINE.fullmatch(line)
    return found[1] if found is not None else None


def _with_first(first: str, rest: io.TextIOWrapper) -> Iterator[str]:
    if first:
        yield first
    yield from rest


def _header(reader: Any, named: Sequence[str]) -> list[str]:
    try:
        header: list[str] | None = next(reader, None)
    except csv.Error as error:
        raise BadLog(f"the first line cannot be read: {error}") from None
    if not header:
        raise BadLog("the file is empty: its first line names the columns")
    header = [name if name in named else name.strip() for name in header]
    missing = [name for name in named if name not in header]
    if missing:
        # A file without a header has a customer's row in its place.
        there = without_addresses(", ".join(header))
        raise BadLog(f"there is no column {', '.join(missing)}; there are {there}")
    return header


def _csv_row(reader: Any, header: list[str], before: int) -> RawRow | None:
    """The next row, one without columns for an empty line, None at the end.

    `before` counts the lines before the header.
    """
    try:
        values: list[str] | None = next(reader, None)
    except csv.Error as error:
        return RawRow(before + reader.line_num, {}, f"it cannot be read: {error}")
    if values is None:
        return None
    if values and len(values) != len(header):
        return RawRow(
            before + reader.line_num, {}, f"it has {len(values)} columns, not {len(header)}"
        )
    return RawRow(before + reader.line_num, dict(zip(header, values, strict=bool(values))))
