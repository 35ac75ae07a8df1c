"""Turns a row of a sent log into the mails that it tells of, by columns or by a profile."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from io import BufferedReader
from typing import Any

from pydantic import TypeAdapter, ValidationError

from api.contract.fields import Email, Id, MessageId
from api.contract.invalid import validation_errors
from api.contract.sent_mails import SendObservedData
from api.imports.addresses import addresses_in
from api.imports.csv_rows import csv_rows
from api.imports.dates import Dates, moment_of
from api.imports.json_rows import json_rows
from api.imports.profiles.profile import Fate, Profile, Told
from api.imports.profiles.table import Table
from api.imports.rows import BadRow, RawRow
from api.webhooks.bodies.mail_ids import possible_ids
from ledger.domain.identity import normal_form

FORMATS = ("csv", "jsonl")
_LONGEST_ID = 255
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_NEVER = datetime(2000, 1, 1, tzinfo=UTC)
"""Stands in a mail that failed, whose time nothing asks for."""
_ID: TypeAdapter[str] = TypeAdapter(Id)
_MESSAGE_ID: TypeAdapter[str] = TypeAdapter(MessageId)
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of the log holds what; None: no column does, or the profile knows.

    A name with dots in it reaches into nested objects of JSON.
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
    kind: str | None = None
    event_type: str | None = None
    event: str | None = None
    attempt: str | None = None
    inbox: str | None = None
    date: str | None = None
    step: str | None = None
    in_reply_to: str | None = None
    incident: str | None = None
    send_token: str | None = None
    provider_key: str | None = None

    def named(self) -> list[str]:
        """The columns that are named."""
        values = (getattr(self, field.name) for field in fields(self))
        return [value for value in values if value is not None]


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read the log: its columns and profile, how it writes times, which rows to take.

    `source` names the log: a row is known again by it and its id. `only` has the columns that must
    hold a value for a row to count, such as a status. `failed` has the copies of which another row
    says that they failed.
    """

    columns: Columns
    source: str
    dates: Dates = field(default_factory=Dates)
    only: tuple[tuple[str, str], ...] = ()
    profile: Profile | None = None
    failed: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class SentMail:
    """One copy of a mail that went out.

    `mail_id` names the mail within the log; `by_recipient` says that its copies have rows, or
    places in a row, of their own, so that the recipient belongs to the name. `provider_ids` are
    those that the provider may know it by. `data` has no customer where only `address` is known.
    """

    line: int
    mail_id: str
    by_recipient: bool
    provider_ids: tuple[str, ...]
    message_id: str | None
    address: str | None
    data: SendObservedData

    @property
    def copy(self) -> bytes:
        """What tells this copy from every other in the log, in a few bytes."""
        to = normal_form(self.address) if self.address is not None else self.data.customer_id
        return hashlib.sha256(f"{self.mail_id}\0{to}".encode()).digest()[:12]


@dataclass(frozen=True, slots=True)
class Understood:
    """What a row tells: the copies that went out, or what became of them instead."""

    fate: Fate
    mails: tuple[SentMail, ...] = field(default=())


def log_rows(file: BufferedReader, form: str, reading: Reading) -> Iterator[RawRow]:
    """The rows of a log in that format. Raises BadLog where a named column is not in a CSV."""
    columns = reading.columns
    profile = reading.profile
    if profile is not None and not (isinstance(profile, Table) and form == "csv"):
        return profile.rows(file, form, reading.dates)
    return csv_rows(file, columns.named()) if form == "csv" else json_rows(file)


def is_taken(row: RawRow, reading: Reading) -> bool:
    """Does the row hold what the reading takes only? Raises BadRow."""
    if row.trouble is not None:
        return True
    return all(told_by(row, column) == value for column, value in reading.only)


def understood(row: RawRow, reading: Reading) -> Understood:
    """What a row tells. Raises BadRow; UnsettledDate for a time that can be read in two ways."""
    if row.trouble is not None:
        raise BadRow(row.trouble)
    columns = reading.columns
    told = reading.profile.told(row) if reading.profile is not None else Told(Fate.SENT)
    if told.fate is Fate.OTHER:
        return Understood(Fate.OTHER)
    customer = told_by(row, columns.customer)
    if customer is None and columns.address is None:
        customer = told.customer
    recipients = _recipients(row, columns, told) if customer is None else ()
    if customer is None and not recipients:
        raise BadRow("it names no customer")
    at = told_by(row, columns.at) if columns.at else told.at
    if at is None and told.fate is Fate.SENT:
        raise BadRow("it has no time")
    several = len(recipients) > 1
    mails = [
        _mail(row, reading, told, customer, address, at, several=several)
        for address in recipients or (None,)
    ]
    return Understood(told.fate, tuple(mails))


def _recipients(row: RawRow, columns: Columns, told: Told) -> tuple[str, ...]:
    value = _value(row, columns.address) if columns.address else told.recipients
    try:
        return addresses_in(value)
    except ValueError as error:
        named = f"{columns.address}: " if columns.address and "neither" in str(error) else ""
        raise BadRow(f"{named}{error}") from None


def _mail(
    row: RawRow,
    reading: Reading,
    told: Told,
    customer: str | None,
    address: str | None,
    at: Any,
    *,
    several: bool,
) -> SentMail:
    columns = reading.columns
    own_id = told_by(row, columns.id)
    message_id = told_by(row, columns.message_id) or told.message_id
    mail_id = own_id or _short(told.mail_id)
    try:
        data = SendObservedData(
            # An address is looked up later; it stands for a customer who is known by nothing else.
            customer_id=customer or "-",
            at=moment_of(at, reading.dates) if told.fate is Fate.SENT else _NEVER,
            send_token=told_by(row, columns.send_token) or told.token,
            provider_idempotency_key=told_by(row, columns.provider_key),
            **_fields_of_kind(row, columns, told),
        )
        mail_id = _ID.validate_python(mail_id) if mail_id is not None else _digest(row)
        if message_id is not None:
            message_id = _MESSAGE_ID.validate_python(message_id)
        if address is not None:
            _EMAIL.validate_python(address)
    except ValidationError as error:
        first = validation_errors(error)[0]
        raise BadRow(": ".join(part for part in (first["at"], first["message"]) if part)) from None
    ids = [told.provider_id] if told.provider_id is not None and own_id is None else []
    for text in (own_id, message_id):
        ids += possible_ids(text) if text is not None else ()
    # A log whose id is named by hand was known by it alone before there were profiles.
    of_profile = own_id is None and told.mail_id is not None
    by_recipient = address is not None and (several or of_profile)
    return SentMail(
        row.line, mail_id, by_recipient, tuple(dict.fromkeys(ids)), message_id, address, data
    )


def _fields_of_kind(row: RawRow, columns: Columns, told: Told) -> dict[str, Any]:
    """What the mail was about, as `send.observed` names it.

    Without a kind a stage counts with its invoice only, and an intent with its thread.
    """
    kind, invoice = told_by(row, columns.kind), told_by(row, columns.invoice) or told.invoice
    thread, intent = told_by(row, columns.thread), told_by(row, columns.intent)
    answered, step = told_by(row, columns.in_reply_to), told_by(row, columns.step)
    about = intent is not None or answered is not None
    found: dict[str, Any] = {
        "invoice_id": invoice,
        "stage": told_by(row, columns.stage) if invoice is not None else None,
        "thread_id": thread if about or kind is not None else None,
        "intent": intent if thread is not None else None,
        "in_reply_to": answered,
    }
    if kind is None:
        return found
    if step is not None and not _NUMBER.fullmatch(step):
        raise BadRow("step: it is no number")
    return found | {
        "kind": kind,
        "event_type": told_by(row, columns.event_type),
        "event_id": told_by(row, columns.event),
        "attempt_id": told_by(row, columns.attempt),
        "inbox_id": told_by(row, columns.inbox),
        "date": told_by(row, columns.date),
        "step": int(step) if step is not None else None,
        "incident_id": told_by(row, columns.incident),
    }


def told_by(row: RawRow, column: str | None) -> str | None:
    """What a column says, None where it is left out or empty. Raises BadRow."""
    value = _value(row, column)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise BadRow(f"{column} is neither text nor a number")
    return str(value).strip() or None if value is not None else None


def _value(row: RawRow, column: str | None) -> Any:
    if column is None:
        return None
    value = row.columns.get(column)
    if value is None and "." in column:
        value = _nested(row.columns, column)
    return value


def _nested(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _short(mail_id: str | None) -> str | None:
    """An id that the ledger can keep: a longer one by its digest."""
    if mail_id is None or len(mail_id) <= _LONGEST_ID:
        return mail_id
    return f"id:{hashlib.sha256(mail_id.encode()).hexdigest()}"


def _digest(row: RawRow) -> str:
    """The name of a row without an id: rows that are the same in every column are one mail."""
    text = json.dumps(row.columns, sort_keys=True, separators=(",", ":"))
    return f"row:{hashlib.sha256(text.encode()).hexdigest()[:40]}"
