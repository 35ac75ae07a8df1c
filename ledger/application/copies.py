"""Copies of aggregates: what can change is copied, what cannot is shared with the original.

`copy.deepcopy` copies every value too: of a customer with many permits that takes
milliseconds, under the writer lock.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any

from eventsourcing.domain import Aggregate


def copied(value: Any) -> Any:
    """A copy that can be changed without changing the original."""
    kind: Any = type(value)
    copier = _copier(kind)
    return value if copier is None else copier(value)


@lru_cache(maxsize=256)
def _copier(kind: type) -> Callable[[Any], Any] | None:
    """How to copy a value of this type; None where it cannot change."""
    if issubclass(kind, dict):
        return lambda value: {name: copied(held) for name, held in value.items()}
    if issubclass(kind, list | set):
        return lambda value: kind(copied(held) for held in value)
    if issubclass(kind, Aggregate) or (is_dataclass(kind) and not _is_value(kind)):
        return _copied_object
    return None


def _is_value(kind: Any) -> bool:
    """Is it a record that nobody changes: frozen, or a `value` of the domain?"""
    made = kind.__dataclass_params__
    return bool(made.frozen or made.unsafe_hash)


def _copied_object(value: Any) -> Any:
    other = copy(value)
    for name in _names(value):
        object.__setattr__(other, name, copied(getattr(value, name)))
    return other


def _names(value: Any) -> list[str]:
    if hasattr(value, "__dict__"):
        return list(value.__dict__)
    return list(value.__dataclass_fields__)
