"""Strategies for values of any declared type, so that new events and fields are covered."""

import dataclasses
import enum
import types
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from hypothesis import strategies as st

_MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
# What PostgreSQL keeps in text: no NUL, no lone surrogate.
_TEXTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=12)
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXTS,
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    datetime: _MOMENTS,
    date: st.dates(),
    UUID: st.uuids(),
    types.NoneType: st.none(),
    Any: st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXTS,
}


def moments() -> st.SearchStrategy[datetime]:
    """Instants of two centuries, UTC, to the microsecond."""
    return _MOMENTS


@cache
def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a declared type: scalars, enums, dataclasses, unions, tuples, dicts and sets."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(values_of(argument) for argument in arguments))
    if origin is set:
        return st.sets(values_of(arguments[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=3)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(list(kind))
    if dataclasses.is_dataclass(kind):
        cls: Any = kind
        return st.builds(cls, **fields_of(cls))
    raise TypeError(f"no strategy for {kind!r}: declare one where the type is declared")


def fields_of(cls: Any, **given: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """A strategy for each field of a dataclass, defaults or not; some may be given."""
    hints = get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)]
    return {name: given[name] if name in given else values_of(hints[name]) for name in names}
