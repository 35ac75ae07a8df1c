"""The messages that a mail refers to, by its headers (RFC 5322, section 3.6.4)."""

import re
from collections.abc import Iterable, Mapping

from ledger.domain.identity import message_name

_IN_BRACKETS = re.compile(r"<[^<>\s]{1,1998}>")
MOST_REFERENCES = 100
"""How many messages one mail refers to at most: the first, and the latest of the others."""


def header_references(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the messages in `References`, then in `In-Reply-To`, each once, oldest first.

    The names of the headers may be in any case. Ids without angle brackets are taken where the
    header holds nothing else; an id that cannot be printed names no message.
    """
    lower = {name.lower(): text for name, text in headers.items()}
    found = (*_ids(lower.get("references", "")), *_ids(lower.get("in-reply-to", "")))
    return bounded_references(message_name(text) for text in found if text.isprintable())


def bounded_references(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in order; of too many the first and the latest."""
    every = tuple(dict.fromkeys(names))
    if len(every) <= MOST_REFERENCES:
        return every
    return (every[0], *every[1 - MOST_REFERENCES :])


def _ids(text: str) -> list[str]:
    found = _IN_BRACKETS.findall(text)
    words = text.split()
    return found or (words if all("@" in word for word in words) else [])
