"""The field types of requests, each with its limits (contract: Rules)."""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
)

from api.contract.free_text import name_alone, without_addresses
from ledger.domain.identity import (
    RESERVED_CUSTOMER_PREFIX,
    BadAddress,
    has_unseen_end,
    message_name,
    normal_form,
)
from ledger.domain.money import CURRENCIES, LARGEST_AMOUNT
from ledger.domain.policy import PolicyError, check_time_zone

_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FIRST_YEAR, _LAST_YEAR = 1970, 2200
_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]*$"


class Body(BaseModel):
    """A request body: unknown fields are refused."""

    NOT_COMPARED: ClassVar[set[str]] = {"metadata"}
    """Fields that the fingerprint of a request with an Idempotency-Key leaves out (contract)."""
    LEFT_OUT_IS_NULL: ClassVar[bool] = True
    """True where a missing field means the same as null."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, regex_engine="rust-regex")


def _rfc3339(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise ValueError("a time is RFC 3339 with an offset, such as 2026-12-01T00:00:00Z")
    return value


def _iso_date(value: Any) -> Any:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise ValueError("a date is written YYYY-MM-DD")
    return value


def _sane_year(value: Any) -> Any:
    if not _FIRST_YEAR <= value.year <= _LAST_YEAR:
        raise ValueError(f"the year is not within {_FIRST_YEAR} to {_LAST_YEAR}")
    return value


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


def _currency(value: str) -> str:
    if value not in CURRENCIES:
        raise ValueError("a currency is an ISO 4217 code in upper case")
    return value


def _zone(value: str) -> str:
    try:
        return check_time_zone(value)
    except PolicyError as error:
        raise ValueError(str(error)) from None


def _not_reserved(value: str) -> str:
    if value.startswith(RESERVED_CUSTOMER_PREFIX):
        raise ValueError(
            f"ids that begin with {RESERVED_CUSTOMER_PREFIX} are the guard check's own"
        )
    return value


def _address(value: str) -> str:
    try:
        normal_form(value)
    except BadAddress as error:
        raise ValueError(str(error)) from None
    return value


def _seen_ends(value: str) -> str:
    if (not value.isascii() or value[0] <= " " or value[-1] <= " ") and has_unseen_end(value):
        raise ValueError("an id begins and ends with characters that are seen, not with a blank")
    return value


def _seen_inside(value: str) -> str:
    _seen_ends(value.removeprefix("<").removesuffix(">") or value)
    return value


_Short = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=_PRINTABLE)]
Id = Annotated[_Short, AfterValidator(_seen_ends)]
"""An external id: 1 to 255 characters, no control character, no invisible first or last one."""
OwnId = _Short
"""An id that the ledger gave; whatever else stands in its place is not known (404)."""
CustomerId = Annotated[Id, AfterValidator(_not_reserved)]
"""A customer's id: not one of the synthetic customers of guard checks (design D13)."""
MessageId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2000, pattern=_PRINTABLE),
    AfterValidator(message_name),
    AfterValidator(_seen_inside),
]
"""The Message-ID of a mail, with or without its brackets and blanks around them (RFC 5322).

A long one goes by its digest.
"""
SendToken = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=_PRINTABLE)]
"""What a mail carries in the header `X-Ledger-Send`: the `send_token` of its permit."""
Text = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2000, pattern=_PRINTABLE),
    AfterValidator(without_addresses),
]
"""A reason or title for people to read; anything like an address is removed (design D18)."""
Reason = Annotated[Id, AfterValidator(without_addresses)]
"""The short reason of a hold; lifting it needs the same reason."""
Name = Annotated[_Short, AfterValidator(name_alone)]
"""Who did something: a person's name."""
Instant = Annotated[
    AwareDatetime, BeforeValidator(_rfc3339), AfterValidator(_sane_year), AfterValidator(_utc)
]
"""A time: RFC 3339 with an offset; converted to UTC, so that equal times are written equally."""
Day = Annotated[date, BeforeValidator(_iso_date), AfterValidator(_sane_year)]
"""A calendar date, YYYY-MM-DD."""
Currency = Annotated[str, AfterValidator(_currency)]
"""An ISO 4217 code."""
TimeZone = Annotated[str, AfterValidator(_zone)]
"""An IANA time zone."""
Email = Annotated[
    str,
    StringConstraints(min_length=3, max_length=320, pattern=_PRINTABLE),
    AfterValidator(_address),
]
"""An e-mail address."""
Amount = Annotated[StrictInt, Field(ge=0, le=LARGEST_AMOUNT)]
"""Money in whole minor units."""
SignedAmount = Annotated[StrictInt, Field(ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT)]
"""Money in whole minor units, positive or negative."""
Whole = Annotated[StrictInt, Field(ge=0, le=2**31 - 1)]
"""A count."""
Flag = StrictBool
Metadata = Annotated[
    dict[
        Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=_PRINTABLE)],
        Annotated[str, StringConstraints(max_length=500, pattern=_PRINTABLE)],
    ],
    Field(max_length=20),
]
"""Metadata such as trace ids: stored, without an effect on the decision."""
Kind = Literal[
    "reminder",
    "payment_failed",
    "reply",
    "notification",
    "digest",
    "follow_up",
    "message",
    "apology",
]
Scope = Literal["send", "facts", "operate", "audit", "admin"]
