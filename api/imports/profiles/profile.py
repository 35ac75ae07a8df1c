"""What a profile is: it knows a provider's log when it sees it, and what each row of it tells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from io import BufferedReader
from typing import Any, Protocol

from api.imports.csv_rows import header_of
from api.imports.dates import Dates
from api.imports.fields import Fields
from api.imports.json_rows import first_records
from api.imports.rows import RawRow

_ADDRESS = re.compile(r"[^\s@]@[^\s@]")
"""In a first line it says that the log has no header; a name such as `@timestamp` does not."""


class Fate(StrEnum):
    """What a row says became of a mail."""

    SENT = "sent"
    """It was handed over: to the provider, or to the recipient's server."""
    FAILED = "failed"
    """It was not, or came back: nobody received it."""
    OTHER = "other"
    """The row tells of something else: opened, waiting, another channel, delivered in the house."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one row tells of one mail; texts are as they stand there.

    `mail_id` names the mail within the log, the same in every row about it. `recipients` is an
    address, a text of several, or a list. `token` is what the mail carries in `X-Ledger-Send`.
    """

    fate: Fate
    at: str | None = None
    recipients: Any = None
    mail_id: str | None = None
    provider_id: str | None = None
    message_id: str | None = None
    customer: str | None = None
    invoice: str | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """How a log begins: its first lines, and the first records in it."""

    lines: tuple[str, ...]
    records: tuple[Fields, ...]
    kind: str
    """`csv`, `jsonl` (any JSON), or `lines`."""


class Profile(Protocol):
    """One provider's sent log."""

    @property
    def name(self) -> str:
        """The name that `--from` takes."""
        ...

    def knows(self, head: Head) -> bool:
        """Is this certainly such a log, and no other provider's?"""
        ...

    def rows(self, file: BufferedReader, kind: str, dates: Dates) -> Iterator[RawRow]:
        """The rows of a log. Raises BadLog."""
        ...

    def told(self, row: RawRow) -> Told:
        """What a row tells. Raises BadRow."""
        ...


def head_of(start: bytes) -> Head:
    """How a log begins, by its first bytes as UTF-8."""
    text = start.decode("utf-8", "replace").lstrip("\ufeff")
    lines = tuple(text.splitlines()[:50])
    if text.lstrip()[:1] in ("{", "["):
        records = tuple(Fields(record) for record in first_records(start))
        return Head(lines, records, "jsonl")
    header = header_of(text.encode())
    if len(header) > 1 and not any(_ADDRESS.search(name) for name in header):
        return Head(lines, (Fields(dict.fromkeys(header, "there")),), "csv")
    return Head(lines, (), "lines")
