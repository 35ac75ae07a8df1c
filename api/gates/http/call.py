"""A call of a program and its answer, as far as the gate looks at them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """A request; `path` is below the provider's prefix, header names are in lower case."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The value of the header, None where there is none or several."""
        found = [value for key, value in self.headers if key == name]
        return found[0] if len(found) == 1 else None

    def picked(self, names: frozenset[str]) -> dict[str, str]:
        """The headers of these names."""
        return {name: value for name, value in self.headers if name in names}


@dataclass(frozen=True)
class Answer:
    """What the program hears."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def json_answer(status: int, value: Any) -> Answer:
    """An answer in JSON."""
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Answer(status, body, {"content-type": "application/json"})


def member_of(answer: Answer, name: str) -> Any:
    """A member of an answer in JSON, None where there is none."""
    try:
        value = json.loads(answer.body)
    except ValueError:
        return None
    return value.get(name) if isinstance(value, dict) else None


class BadCall(Exception):
    """The gate does not take the call; the message says why, in a sentence without addresses."""

    def __init__(self, why: str, status: int | None = None, code: str = "invalid_request") -> None:
        super().__init__(why)
        self.status, self.code = status, code
