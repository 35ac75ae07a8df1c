"""Reads a provider's object field by field; a wrong type raises Unusable with the field's path."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from api.webhooks.bodies.moments import from_rfc3339, from_unix
from api.webhooks.bodies.unusable import Unusable
from ledger.domain.identity import BadAddress, has_unseen_end, normal_form
from ledger.domain.money import CURRENCIES, LARGEST_AMOUNT

LONGEST_ID = 255
"""The length of the longest valid id, in characters (contract, Rules for every call)."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


@dataclass(frozen=True)
class Record:
    """A JSON object and its path in the body, such as `data.object`."""

    members: Mapping[str, object]
    place: str = ""

    def where(self, name: str) -> str:
        """The path of a member; names come from our code, never from the body."""
        return f"{self.place}.{name}" if self.place else name

    def has(self, name: str) -> bool:
        """Whether the member exists and is not null."""
        return self.members.get(name) is not None

    def record(self, name: str) -> "Record":
        """The object under that name. Raises Unusable where it is missing or something else."""
        value = self._required(name)
        if not isinstance(value, dict):
            raise Unusable("wrong_type", f"{self.where(name)} is not an object")
        return Record(cast("dict[str, object]", value), self.where(name))

    def optional_record(self, name: str) -> "Record":
        """The object under that name; an empty one where it is missing or null."""
        return self.record(name) if self.has(name) else Record({}, self.where(name))

    def records(self, name: str) -> tuple["Record", ...]:
        """The objects of the list under that name; none where it is missing or null."""
        records = []
        for item in self._list(name):
            if not isinstance(item, dict):
                raise Unusable("wrong_type", f"{self.where(name)} holds more than objects")
            records.append(Record(item, self.where(name)))
        return tuple(records)

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of the list under that name; none where it is missing or null."""
        texts = []
        for item in self._list(name):
            if not isinstance(item, str):
                raise Unusable("wrong_type", f"{self.where(name)} holds more than texts")
            texts.append(checked_text(item, self.where(name)))
        return tuple(texts)

    def text(self, name: str) -> str:
        """An id or word: 1 to 255 characters, none of them a control character or surrogate."""
        value = self._required(name)
        if not isinstance(value, str):
            raise Unusable("wrong_type", f"{self.where(name)} is not a text")
        if 0 < len(value) <= LONGEST_ID and value.isprintable():
            return value
        return checked_text(value, self.where(name))

    def optional_text(self, name: str) -> str | None:
        """The text, or None where it is missing, null or empty."""
        return self.text(name) if self.has(name) and self.members[name] != "" else None

    def reference(self, name: str) -> str | None:
        """The id of another object, given as text or as the object itself; None where null."""
        if isinstance(self.members.get(name), dict):
            return self.record(name).optional_text("id")
        return self.optional_text(name)

    def flag(self, name: str) -> bool:
        """True or false; false where it is missing or null."""
        value = self.members.get(name)
        if value is not None and not isinstance(value, bool):
            raise Unusable("wrong_type", f"{self.where(name)} is neither true nor false")
        return value is True

    def whole(self, name: str) -> int:
        """A whole number from 0 to 2**53 - 1."""
        value = self._required(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unusable("wrong_type", f"{self.where(name)} is not a whole number")
        if not 0 <= value <= LARGEST_AMOUNT:
            raise Unusable("wrong_type", f"{self.where(name)} is out of range")
        return value

    def amount(self, name: str) -> int:
        """An amount in whole minor units, 0 to 2**53 - 1. A fraction is rejected (design D10)."""
        return checked_amount(self._required(name), self.where(name))

    def signed_amount(self, name: str) -> int:
        """An amount of either sign: a total below zero, or what was paid too much."""
        value = self._required(name)
        if isinstance(value, int) and not isinstance(value, bool) and value < 0:
            return -checked_amount(-value, self.where(name))
        return checked_amount(value, self.where(name))

    def optional_amount(self, name: str) -> int:
        """The amount, or 0 where it is missing or null."""
        return self.amount(name) if self.has(name) else 0

    def currency(self, name: str) -> str:
        """An ISO 4217 currency in upper case."""
        code = self.text(name).upper()
        if code not in CURRENCIES:
            raise Unusable("unknown_currency", f"{self.where(name)} is not an ISO 4217 currency")
        return code

    def unix(self, name: str, *, per_second: int = 1) -> datetime:
        """A moment given in Unix time; see from_unix."""
        return from_unix(self._required(name), self.where(name), per_second=per_second)

    def optional_unix(self, name: str) -> datetime | None:
        """The moment, or None where it is missing or null."""
        return self.unix(name) if self.has(name) else None

    def time(self, name: str) -> datetime:
        """A moment given as RFC 3339."""
        return from_rfc3339(self._required(name), self.where(name))

    def optional_time(self, name: str) -> datetime | None:
        """The moment, or None where it is missing or null."""
        return self.time(name) if self.has(name) else None

    def _required(self, name: str) -> object:
        value = self.members.get(name)
        if value is None:
            raise Unusable("missing_field", f"{self.where(name)} is missing")
        return value

    def _list(self, name: str) -> list[object]:
        value = self.members.get(name)
        if value is not None and not isinstance(value, list):
            raise Unusable("wrong_type", f"{self.where(name)} is not a list")
        return value or []


def checked_text(value: str, where: str) -> str:
    """The text, if it is a valid id. Raises Unusable."""
    if not value:
        raise Unusable("missing_field", f"{where} is empty")
    if len(value) > LONGEST_ID:
        raise Unusable("bad_text", f"{where} is longer than {LONGEST_ID} characters")
    if not value.isprintable() and _CONTROL.search(value):
        raise Unusable("bad_text", f"{where} holds a control character")
    return value


def checked_id(value: str, where: str) -> str:
    """The text, if it is fit to be an id and both its ends are seen. Raises Unusable."""
    if value and has_unseen_end(value):
        raise Unusable("bad_text", f"{where} begins or ends with a character that nobody sees")
    return checked_text(value, where)


def checked_amount(value: object, where: str) -> int:
    """The amount, if it is whole minor units from 0 to 2**53 - 1. Raises Unusable."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unusable("bad_amount", f"{where} is not in whole minor units")
    if value < 0:
        raise Unusable("bad_amount", f"{where} is negative")
    if value > LARGEST_AMOUNT:
        raise Unusable("bad_amount", f"{where} is beyond reason")
    return value


def usable_address(value: str) -> bool:
    """Whether this is a valid address: one that the ledger can normalise (D9)."""
    try:
        normal_form(value)
    except BadAddress:
        return False
    return len(value) <= LONGEST_ID and not _CONTROL.search(value)
