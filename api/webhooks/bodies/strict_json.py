"""Parses JSON strictly: rejects everything that two parsers could read differently."""

import json
import math

from jiter import from_json

from api.webhooks.bodies.unusable import Unusable

_LONGEST_INTEGER = 30
"""The most digits of a number: more than any amount, id or time has, and cheap to convert."""
_SHAPES = (
    bytes(
        ord(
            "0" if chr(c).isdecimal() else "e" if chr(c) in "eE" else "s" if chr(c) in "+-" else " "
        )
        for c in range(128)
    )
    + b" " * 128
)
_LARGE = (b"0" * (_LONGEST_INTEGER + 1), b"0e000", b"0es000")
"""What a number that is out of range contains, in a text translated by _SHAPES."""


def read_json(body: bytes | str) -> object:
    """The value of a JSON document in UTF-8.

    Raises Unusable for other encodings, malformed text, repeated keys, numbers out of range, NaN
    and Infinity, and nesting that is too deep for the parser.
    """
    try:
        given = body.encode() if isinstance(body, str) else body
        shape = given.translate(_SHAPES)
        if not any(large in shape for large in _LARGE):
            return from_json(
                given, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True
            )
    except ValueError:
        # The slow parser reports why, or accepts it: it allows deeper nesting and lone surrogates.
        pass
    return _read_slowly(body)


def _read_slowly(body: bytes | str) -> object:
    """Parse what jiter refuses, or would convert to a number that differs from the text."""
    try:
        text = body.decode("utf-8") if isinstance(body, bytes) else body
    except UnicodeDecodeError:
        raise Unusable("malformed_json", "the body is not UTF-8") from None
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise Unusable("malformed_json", "the body is nested too deeply") from None
    except ValueError:
        raise Unusable("malformed_json", "the body is not JSON") from None


def read_json_object(body: bytes | str) -> dict[str, object]:
    """The members of a document that is one JSON object. Raises Unusable as read_json does."""
    value = read_json(body)
    if not isinstance(value, dict):
        raise Unusable("malformed_json", "the body is not a JSON object")
    return value


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Unusable("duplicate_json_key", "an object in the body has the same key twice")
    return members


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > _LONGEST_INTEGER:
        raise Unusable("malformed_json", "the body holds an integer beyond reason")
    return int(digits)


def _fraction(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Unusable("malformed_json", "the body holds a number beyond reason")
    return value


def _no_constant(name: str) -> object:
    raise Unusable("malformed_json", "the body holds NaN or Infinity, which JSON has not")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_int=_integer,
    parse_float=_fraction,
    parse_constant=_no_constant,
)
