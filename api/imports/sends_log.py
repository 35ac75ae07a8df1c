"""Reads a provider's sent log, CSV or JSON lines, row by row and without keeping any of it."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

import orjson
from pydantic import TypeAdapter, ValidationError

from api.contract.facts import SendObservedData
from api.contract.fields import Email, Id, MessageId
from api.contract.free_text import without_addresses
from api.contract.problems import validation_errors

FORMATS = ("csv", "jsonl")
_LONGEST_LINE = 1024 * 1024
_LONGEST_FIELD = 256 * 1024
_MILLISECONDS_FROM = 100_000_000_000
"""Epoch numbers from here on count milliseconds: as seconds they would lie past the year 5000."""
_ID: TypeAdapter[str] = TypeAdapter(Id)
_MESSAGE_ID: TypeAdapter[str] = TypeAdapter(MessageId)
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


class BadLog(Exception):
    """The file as a whole cannot be used; the message says why."""


class BadRow(ValueError):
    """One row cannot be used; the message says why, and nothing of its content (design D18)."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of the log holds what; None: no column does.

    A name with dots in it reaches into nested objects of JSON lines.
    """

    customer: str | None = None
    at: str | None = None
    invoice: str | None = None
    stage: str | None = None
    thread: str | None = None
    intent: str | None = None
    id: str | None = None
    message_id: str | None = None
    address: str | None = None

    def named(self) -> list[str]:
        """The columns that are named."""
        values = (getattr(self, field.name) for field in fields(self))
        return [value for value in values if value is not None]


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row of the file: the number of the line it ends on, and its columns or why it has none."""

    line: int
    columns: dict[str, Any]
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class SentMail:
    """A row that can be used: one mail that went out.

    `row_id` names it within the log. `data` has no customer where only `address` is known.
    """

    line: int
    row_id: str
    provider_id: str | None
    message_id: str | None
    address: str | None
    data: SendObservedData


def raw_rows(file: BinaryIO, form: str, columns: Columns) -> Iterator[RawRow]:
    """The rows of a file in that format. Raises BadLog where a named column is not in a CSV."""
    return _csv_rows(file, columns) if form == "csv" else _json_rows(file)


def sent_mail(row: RawRow, columns: Columns, zone: ZoneInfo | None) -> SentMail:
    """The mail of a row; times without an offset are of that zone. Raises BadRow."""
    if row.trouble is not None:
        raise BadRow(row.trouble)
    told = {field.name: told_by(row, getattr(columns, field.name)) for field in fields(columns)}
    address = told["address"] if told["customer"] is None else None
    if told["customer"] is None and address is None:
        raise BadRow("it names no customer")
    if told["at"] is None:
        raise BadRow("it has no time")
    try:
        data = SendObservedData(
            # An address is looked up later; it stands for a customer who is known by nothing else.
            customer_id=told["customer"] or "-",
            at=moment_of(told["at"], zone),
            invoice_id=told["invoice"],
            stage=told["stage"] if told["invoice"] is not None else None,
            thread_id=told["thread"] if told["intent"] is not None else None,
            intent=told["intent"] if told["thread"] is not None else None,
        )
        row_id = _ID.validate_python(told["id"]) if told["id"] is not None else _digest(row)
        message_id = told["message_id"]
        if message_id is not None:
            message_id = _MESSAGE_ID.validate_python(message_id)
        if address is not None:
            _EMAIL.validate_python(address)
    except ValidationError as error:
        first = validation_errors(error)[0]
        raise BadRow(": ".join(part for part in (first["at"], first["message"]) if part)) from None
    return SentMail(row.line, row_id, told["id"], message_id, address, data)


def moment_of(value: str, zone: ZoneInfo | None) -> datetime:
    """A time of a log: ISO 8601, a mail's date (RFC 5322), or an epoch in seconds or milliseconds.

    Raises BadRow for anything else, and for one without an offset where no zone is given.
    """
    try:
        number = float(value)
    except ValueError:
        at = _written_moment(value)
    else:
        try:
            seconds = number / 1000 if abs(number) >= _MILLISECONDS_FROM else number
            return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            raise BadRow("at: the epoch is out of range") from None
    if at.tzinfo is not None:
        return at.astimezone(UTC)
    if zone is None:
        raise BadRow("at: the time has no offset; name its zone with --time-zone")
    return at.replace(tzinfo=zone).astimezone(UTC)


def _written_moment(text: str) -> datetime:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    raise BadRow("at: this is no time; write 2026-12-01T00:00:00Z")


def _csv_rows(file: BinaryIO, columns: Columns) -> Iterator[RawRow]:
    csv.field_size_limit(_LONGEST_FIELD)
    # What is not UTF-8 makes its own row unusable, not the whole file.
    text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
    try:
        reader = csv.reader(text)
        header = _header(reader, columns)
        while (row := _csv_row(reader, header)) is not None:
            if row.columns or row.trouble is not None:
                yield row
    finally:
        # The file is the caller's to close.
        text.detach()


def _header(reader: Any, columns: Columns) -> list[str]:
    try:
        header: list[str] | None = next(reader, None)
    except csv.Error as error:
        raise BadLog(f"the first line cannot be read: {error}") from None
    if not header:
        raise BadLog("the file is empty: its first line names the columns")
    missing = [name for name in columns.named() if name not in header]
    if missing:
        # A file without a header has a customer's row in its place.
        there = without_addresses(", ".join(header))
        raise BadLog(f"there is no column {', '.join(missing)}; there are {there}")
    return header


def _csv_row(reader: Any, header: list[str]) -> RawRow | None:
    """The next row, one without columns for an empty line, None at the end."""
    try:
        values: list[str] | None = next(reader, None)
    except csv.Error as error:
        return RawRow(reader.line_num, {}, f"it cannot be read: {error}")
    if values is None:
        return None
    if values and len(values) != len(header):
        return RawRow(reader.line_num, {}, f"it has {len(values)} columns, not {len(header)}")
    return RawRow(reader.line_num, dict(zip(header, values, strict=bool(values))))


def _json_rows(file: BinaryIO) -> Iterator[RawRow]:
    line = 0
    while text := file.readline(_LONGEST_LINE + 1):
        line += 1
        if len(text) > _LONGEST_LINE:
            _skip_rest(file, text)
            yield RawRow(line, {}, "it is longer than 1 MiB")
            continue
        if not text.strip():
            continue
        try:
            found = orjson.loads(text)
        except orjson.JSONDecodeError:
            found = None
        if isinstance(found, dict):
            yield RawRow(line, found)
        else:
            yield RawRow(line, {}, "it is no JSON object")


def _skip_rest(file: BinaryIO, text: bytes) -> None:
    while text and not text.endswith(b"\n"):
        text = file.readline(_LONGEST_LINE)


def told_by(row: RawRow, column: str | None) -> str | None:
    """What a column says, None where it is left out or empty. Raises BadRow."""
    if column is None:
        return None
    value = row.columns.get(column)
    if value is None and "." in column:
        value = _nested(row.columns, column)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise BadRow(f"{column} is neither text nor a number")
    return str(value).strip() or None if value is not None else None


def _nested(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _digest(row: RawRow) -> str:
    """The name of a row without an id: rows that are the same in every column are one mail."""
    text = json.dumps(row.columns, sort_keys=True, separators=(",", ":"))
    return f"row:{hashlib.sha256(text.encode()).hexdigest()[:40]}"
