"""A row's fields by name, however an export writes the names: `Send Date`, `send_date`, nested."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_NOT_NAME = re.compile(r"[\W_]+")


class Fields:
    """The fields of one row; a path such as `message.headers.message-id` reaches into objects.

    Names are compared without case, spaces, dots, dashes and underscores, so that `message.headers`
    is also found as the column of a flattened CSV.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns = columns
        self._by_name = {plain(name): value for name, value in reversed(list(columns.items()))}

    def __contains__(self, path: str) -> bool:
        return self.get(path) is not None

    def get(self, path: str) -> Any:
        """What stands there; None where nothing does, or an empty text."""
        value = self._by_name.get(plain(path))
        if value is None and "." in path:
            value = _below(self.columns, path.split("."))
        return None if isinstance(value, str) and not value.strip() else value

    def first(self, paths: Iterable[str]) -> Any:
        """What stands at the first path where something does."""
        return next((value for path in paths if (value := self.get(path)) is not None), None)

    def text(self, paths: Iterable[str]) -> str | None:
        """The text or number at the first path where there is one."""
        for path in paths:
            value = self.get(path)
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                return str(value).strip()
        return None


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """A field's name as it is compared."""
    return _NOT_NAME.sub("", name.casefold())


def _below(found: Any, parts: list[str]) -> Any:
    for part in parts:
        if not isinstance(found, Mapping):
            return None
        wanted = plain(part)
        found = next((value for name, value in found.items() if plain(name) == wanted), None)
    return found
