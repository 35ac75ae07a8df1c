"""JSON from outside, read strictly: nothing that two readers could understand differently."""

import json
import math
import re

from api.webhooks.unusable import Unusable

_LONGEST_INTEGER = 30
"""Digits; far more than any amount, id or time has, and cheap to turn into a number."""
_MANY_DIGITS = re.compile(rf"[0-9]{{{_LONGEST_INTEGER + 1}}}")


def read_json(body: bytes | str) -> object:
    """The value of a JSON document in UTF-8.

    Raises Unusable for other encodings, malformed text, a key given twice, numbers beyond reason,
    NaN and Infinity, and nesting deeper than the reader can follow.
    """
    if isinstance(body, bytes):
        try:
            body = body.decode("utf-8")
        except UnicodeDecodeError:
            raise Unusable("malformed_json", "the body is not UTF-8") from None
    decoder = _COUNTING_DIGITS if _MANY_DIGITS.search(body) else _DECODER
    try:
        return decoder.decode(body)
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
    if len(digits) > _LONGEST_INTEGER:
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
    object_pairs_hook=_members, parse_float=_fraction, parse_constant=_no_constant
)
_COUNTING_DIGITS = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_int=_integer,
    parse_float=_fraction,
    parse_constant=_no_constant,
)
"""To ask for each integer is slow, so it is done only where the body may hold a long one."""
