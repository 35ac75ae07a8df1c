"""Removes addresses from people's text in requests: only `contacts` may contain them (D18)."""

from typing import Any

ADDRESS = "[address]"
"""The replacement for an address in a text."""


def without_addresses(value: Any) -> Any:
    """Replace everything like an address in JSON: for texts that people wrote in a request."""
    if isinstance(value, str):
        return " ".join(ADDRESS if "@" in word else word for word in value.split(" "))
    if isinstance(value, dict):
        return {key: without_addresses(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_addresses(item) for item in value]
    return value


def name_alone(text: str) -> str:
    """A person's name; of an address only the part before the `@`, which colleagues recognise."""
    words = (word.partition("@")[0] or ADDRESS if "@" in word else word for word in text.split(" "))
    return " ".join(words)
