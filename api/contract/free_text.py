"""What people write into requests, without addresses: they belong in `contacts` alone (D18)."""

from typing import Any

ADDRESS = "[address]"
"""What stands in a text in the place of an address."""


def without_addresses(value: Any) -> Any:
    """JSON without what looks like an address: for texts that people wrote into a request."""
    if isinstance(value, str):
        return " ".join(ADDRESS if "@" in word else word for word in value.split(" "))
    if isinstance(value, dict):
        return {key: without_addresses(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_addresses(item) for item in value]
    return value


def name_alone(text: str) -> str:
    """Who a person is: of an address only the part before the `@`, which colleagues know."""
    words = (word.partition("@")[0] or ADDRESS if "@" in word else word for word in text.split(" "))
    return " ".join(words)
