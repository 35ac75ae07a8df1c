"""The manifests of an export: one for each range of the log, each naming the one before it."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

FORM = "send-ledger export 1"
FOLDER = "_manifests"
SCHEMA_VERSION = 1
"""Raised where a column changes its meaning or goes; columns that are added do not raise it."""


class BadExport(Exception):
    """A folder is no export of this ledger, or cannot be continued; the message says why."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the export: its path below the root, and what is in it."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TableEntry:
    """What a range has of a table: columns as (name, type), and files of one day each."""

    columns: list[list[str]]
    rows: int = 0
    files: list[FileEntry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was exported of the positions (from_position, to_position].

    `from_hash` and `head_hash` are those of the log at both ends (hex), `previous` is the sha256
    of the manifest before it, None in the first one.
    """

    ledger: str
    format: str
    from_position: int
    to_position: int
    from_hash: str
    head_hash: str
    previous: str | None
    tables: dict[str, TableEntry]
    form: str = FORM
    schema_version: int = SCHEMA_VERSION

    @property
    def path(self) -> str:
        """Where it is, below the root."""
        return f"{FOLDER}/{span_name(self.from_position, self.to_position)}.json"

    def text(self) -> bytes:
        """The manifest as JSON."""
        return (json.dumps(asdict(self), indent=1) + "\n").encode()


def span_name(after: int, upto: int) -> str:
    """The part of a file's name that says its range; such names sort by position."""
    return f"{after:012d}-{upto:012d}"


def digest_of(text: bytes) -> str:
    """The sha256 of a manifest, by which the next one names it."""
    return hashlib.sha256(text).hexdigest()


def read_manifest(path: str, text: bytes) -> Manifest:
    """A manifest from its JSON. Raises BadExport."""
    try:
        said: dict[str, Any] = json.loads(text)
        if said.get("form") != FORM:
            raise BadExport(f"{path} is no manifest that this version can read")
        tables = {
            name: TableEntry(
                table["columns"], table["rows"], [FileEntry(**each) for each in table["files"]]
            )
            for name, table in said.pop("tables").items()
        }
        return Manifest(**said, tables=tables)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadExport(f"{path} is not a manifest") from error
