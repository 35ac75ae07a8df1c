"""Finds the thread of a mail by its headers (RFC 5322, section 3.6.4)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from api.webhooks.bodies.record import Record, checked_text
from ledger.domain.identity import message_name
from ledger.domain.mail_references import header_references

_MESSAGE_ID = re.compile(r"<[^<>\s]{1,1998}>")


@dataclass(frozen=True)
class MailHeaders:
    """The headers of an inbound mail by lower-case name; the first of a repeated header counts."""

    by_name: Mapping[str, str]

    @classmethod
    def from_records(cls, records: Iterable[Record], name: str, value: str) -> "MailHeaders":
        """Read a list of objects that have a header's name and value under these keys."""
        by_name: dict[str, str] = {}
        for record in records:
            text = record.members.get(value)
            if isinstance(text, str):
                by_name.setdefault(record.text(name).lower(), text.strip())
        return cls(by_name)

    @property
    def message_id(self) -> str | None:
        """The mail's own Message-ID in angle brackets, or None."""
        return next(iter(self._ids("message-id")), None)

    @property
    def references(self) -> tuple[str, ...]:
        """The messages before this one, oldest first: References, then In-Reply-To."""
        return header_references(self.by_name)

    @property
    def thread_id(self) -> str | None:
        """The id of the thread's first message, or the mail's own id if it is the first."""
        return next(iter(self.references), None) or self.message_id

    def _ids(self, name: str) -> list[str]:
        found = _MESSAGE_ID.findall(self.by_name.get(name, ""))
        return [checked_text(message_name(id), f"the header {name}") for id in found]
