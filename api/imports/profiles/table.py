"""A log of records, CSV or JSON, whose fields and words for what became of a mail are listed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BufferedReader
from typing import Any

from api.imports.csv_rows import csv_rows
from api.imports.dates import Dates
from api.imports.fields import Fields, plain
from api.imports.json_rows import json_rows
from api.imports.profiles.profile import Fate, Head, Told
from api.imports.row_times import time_in
from api.imports.rows import BadRow, RawRow
from api.webhooks.bodies.mail_ids import provider_message_id
from api.webhooks.bodies.send_token import token_in

_CARRYING = ("user-variables", "metadata", "tags", "headers", "mail.headers", "custom_args")
"""Where records keep what their sender gave the mail: the token of its permit among it."""


def words(sent: str = "", failed: str = "", other: str = "") -> dict[str, Fate]:
    """A provider's words for what became of a mail, compared as names of fields are."""
    fates = ((sent, Fate.SENT), (failed, Fate.FAILED), (other, Fate.OTHER))
    return {plain(word): fate for text, fate in fates for word in text.split()}


def record_rows(file: BufferedReader, kind: str) -> Iterator[RawRow]:
    """The records of a CSV, or of JSON in any of its forms."""
    return json_rows(file) if kind == "jsonl" else csv_rows(file)


def same(record: dict[str, Any]) -> dict[str, Any]:
    """The record itself: nothing is wrapped around it."""
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A profile made of lists: of each thing the fields that may hold it, in their order.

    `copies` are the fields of further recipients. `marks` has the sets of fields by which such a
    log is certainly known. `unwrap` takes off what archives and queues put around a record. A row
    without any status tells of a mail that was sent, as lists of sent mails do.
    """

    name: str
    marks: tuple[tuple[str, ...], ...]
    at: tuple[str, ...]
    recipients: tuple[str, ...]
    id: tuple[str, ...]
    status: tuple[str, ...]
    fates: Mapping[str, Fate]
    copies: tuple[str, ...] = ()
    message_id: tuple[str, ...] = ()
    customer: tuple[str, ...] = ()
    invoice: tuple[str, ...] = ()
    unwrap: Callable[[dict[str, Any]], dict[str, Any]] = field(default=same)

    def knows(self, head: Head) -> bool:
        """Is every field of a mark there, in a record of the first ones?"""
        return any(self.is_record(record) for record in head.records)

    def is_record(self, record: Fields) -> bool:
        """Has the record, or what is in its wrapping, every field of a mark?"""
        inner = Fields(self.unwrap(dict(record.columns)))
        return any(all(name in inner for name in mark) for mark in self.marks)

    def rows(self, file: BufferedReader, kind: str, dates: Dates) -> Iterator[RawRow]:
        """The records of the log."""
        return record_rows(file, kind)

    def told(self, row: RawRow) -> Told:
        """What a record tells. Raises BadRow for a status that is none that is known."""
        record = Fields(self.unwrap(row.columns))
        return self.told_by(record, self.fate_of(record))

    def fate_of(self, record: Fields) -> Fate:
        """What became of the mail, by the first status field that is there. Raises BadRow."""
        status = record.text(self.status)
        if status is None:
            return Fate.SENT
        fate = self.fates.get(plain(status))
        if fate is None:
            raise BadRow("status: it is none that is known; choose rows with --only")
        return fate

    def told_by(self, record: Fields, fate: Fate) -> Told:
        """What the listed fields hold."""
        told_id = record.text(self.id)
        provider_id = told_id and provider_message_id(self.name, told_id)
        message_id = record.text(self.message_id)
        return Told(
            fate,
            at=time_in(record, self.at),
            recipients=self._recipients(record),
            mail_id=provider_id or message_id,
            provider_id=provider_id,
            message_id=message_id,
            customer=record.text(self.customer),
            invoice=record.text(self.invoice),
            token=token_in(dict(record.columns), *map(record.get, _CARRYING)),
        )

    def _recipients(self, record: Fields) -> Any:
        """Whoever got a copy: one field, and those of further recipients where there are any."""
        first = record.first(self.recipients)
        copies = [part for name in self.copies if (part := record.get(name)) is not None]
        return [first, *copies] if copies else first
