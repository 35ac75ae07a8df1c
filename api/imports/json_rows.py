"""Reads a log of JSON objects: one a line, a list of them, or the pages of a provider's API."""

import io
import json
from collections.abc import Iterator
from typing import Any

import orjson

from api.imports.rows import BadLog, RawRow

_LONGEST_LINE = 1024 * 1024
_LONGEST_DOCUMENT = 16 * 1024 * 1024
_OBJECTS_TRIED, _OBJECTS_SHOWN = 24, 5
_LISTS = (
    "items messages bounces data deliveries results records emails rows value logs activities "
    "events"
).split()
"""Under these names pages of providers' APIs hold their records, in the order of trial."""
_RECORD = frozenset({"msg_id", "MessageID", "message_id", "id"})
"""An object with one of these is a record, also where it holds a list of its own."""


def json_rows(file: io.BufferedReader) -> Iterator[RawRow]:
    """The records of a log. Raises BadLog for a document of more than 16 MiB.

    Lines are told from a document by the first one: if it holds an object by itself, and is not
    all that there is, all do.
    """
    head = file.readline(_LONGEST_LINE + 1)
    while head and not head.strip():
        head = file.readline(_LONGEST_LINE + 1)
    begins = head.lstrip()[:1] in (b"{", b"[")
    if begins and not (_is_line(head) and file.peek(1).strip()):
        yield from _document_rows(file, head)
    else:
        yield from _line_rows(file, head)


def records_of(found: Any) -> list[Any]:
    """The records of a JSON value: those of a list, those of a page, or itself."""
    if isinstance(found, list):
        return [record for part in found for record in (records_of(part) if part else [part])]
    if isinstance(found, dict) and not _RECORD & found.keys():
        by_name = {name.lower(): value for name, value in found.items()}
        for name in _LISTS:
            inner = by_name.get(name)
            if isinstance(inner, list) and all(isinstance(part, dict) for part in inner):
                return inner
    return [found]


def first_records(head: bytes) -> list[dict[str, Any]]:
    """Some of the objects that a log begins with, as far as its first bytes hold whole ones."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    decoder, position = json.JSONDecoder(), 0
    found: list[dict[str, Any]] = []
    for _ in range(_OBJECTS_TRIED):
        try:
            value, _end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            value = None
        found += [record for record in records_of(value) if isinstance(record, dict)][:5]
        position = text.find("{", position + 1)
        if position < 0 or len(found) >= _OBJECTS_SHOWN:
            break
    return found


def _is_line(line: bytes) -> bool:
    if not line.endswith(b"\n") and len(line) > _LONGEST_LINE:
        return False
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        # A first line that is damaged is one of lines, if it ends as an object does.
        return line.rstrip().endswith(b"}") and line.lstrip().startswith(b"{")
    return isinstance(orjson.loads(line), dict) or line.rstrip().endswith(b"]")


def _line_rows(file: io.BufferedReader, text: bytes) -> Iterator[RawRow]:
    line = 0
    while text:
        line += 1
        if len(text) > _LONGEST_LINE:
            _skip_rest(file, text)
            yield RawRow(line, {}, "it is longer than 1 MiB")
        elif text.strip():
            yield from _of_line(line, text)
        text = file.readline(_LONGEST_LINE + 1)


def _of_line(line: int, text: bytes) -> Iterator[RawRow]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    for record in records_of(found):
        if isinstance(record, dict):
            yield RawRow(line, record)
        else:
            yield RawRow(line, {}, "it is no JSON object")


def _document_rows(file: io.BufferedReader, head: bytes) -> Iterator[RawRow]:
    """The records of documents that follow each other, counted from 1."""
    body = head + file.read(_LONGEST_DOCUMENT + 1 - len(head))
    if len(body) > _LONGEST_DOCUMENT:
        raise BadLog(
            "the JSON document is longer than 16 MiB: give one record a line (jq -c '.[]'), or "
            "one page a file"
        )
    text = body.decode("utf-8", "replace").strip()
    decoder, position, number = json.JSONDecoder(), 0, 0
    while position < len(text):
        try:
            found, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            raise BadLog("the file is no JSON: neither an object a line nor a document") from None
        for record in records_of(found):
            number += 1
            if isinstance(record, dict):
                yield RawRow(number, record)
            else:
                yield RawRow(number, {}, "it is no JSON object")
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1


def _skip_rest(file: io.BufferedReader, text: bytes) -> None:
    while text and not text.endswith(b"\n"):
        text = file.readline(_LONGEST_LINE)
