"""The recipients that a log names: one address, `Name <address>`, several in a text, or a list."""

from email.utils import getaddresses
from typing import Any

from ledger.domain.identity import BadAddress, normal_form

_MOST = 1_000
_KEYS = ("email", "address", "emailaddress", "destination", "recipient")
"""Where an object of a list of recipients holds the address."""


def addresses_in(value: Any) -> tuple[str, ...]:
    """Every address that a value holds, once each, in its order; none where it holds none.

    Raises ValueError for what holds something that is neither an address nor a name beside one,
    and for more than 1,000 of them.
    """
    found: dict[str, str] = {}
    for text in _texts(value):
        parts = [part for _, part in getaddresses([text.replace(";", ",")]) if part]
        # `Doe, Jo <jo@example.com>` without quotes: what has no '@' is a piece of the name.
        addresses = [part for part in parts if "@" in part] or parts
        if not addresses and "@" in text:
            raise ValueError("not an e-mail address")
        for address in addresses:
            try:
                found.setdefault(normal_form(address), address)
            except BadAddress:
                raise ValueError("not an e-mail address") from None
    if len(found) > _MOST:
        raise ValueError(f"more than {_MOST:,} recipients")
    return tuple(found.values())


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        text = value.strip()
        # A list in a column of a CSV, as programs that know no better write it.
        return [text.strip("[]").replace('"', "").replace("'", "")] if text[:1] == "[" else [text]
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.replace("_", "").lower() in _KEYS:
                return _texts(inner)
        raise ValueError("neither text nor a list of recipients")
    if isinstance(value, list | tuple):
        return [text for part in value for text in _texts(part)]
    if value is None:
        return []
    raise ValueError("neither text nor a list of recipients")
