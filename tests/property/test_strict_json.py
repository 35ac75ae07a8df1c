"""However a body is read, fast or slowly: the value that it holds, or the one reason why not."""

import json
import math
from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from api.webhooks.bodies.strict_json import read_json
from api.webhooks.bodies.unusable import Unusable

NUMBERS = st.from_regex(
    r"\A-?[0-9]{1,40}(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?\Z", fullmatch=True
).map(str.encode)
JUNK = st.text(alphabet='{}[]",:019eE+-. truefalsnN\\u0061éI', max_size=30).map(str.encode)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
DOCUMENTS = st.builds(
    lambda value, plain, indent: json.dumps(value, ensure_ascii=plain, indent=indent).encode(
        errors="surrogatepass"
    ),
    VALUES,
    st.booleans(),
    st.none() | st.just(1),
)
PAIRS = st.builds(
    lambda one, other: b'{"a": {"%b": 1, "%b": 2}}' % (one, other),
    *[st.sampled_from([b"a", b"b", b"\\u0061", b"\\n"])] * 2,
)


class Refused(Exception):
    """Why the body is none, by its kind."""


def reference(body: bytes) -> Any:
    """The standard library's reading, with the rules of design D10 put on it one by one."""

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in members}) < len(members):
            raise Refused("duplicate_json_key")
        return dict(members)

    def refuse(_: str) -> Any:
        raise Refused("malformed_json")

    def whole(digits: str) -> int:
        return int(digits) if len(digits.lstrip("-")) <= 30 else refuse(digits)

    def real(digits: str) -> float:
        return float(digits) if math.isfinite(float(digits)) else refuse(digits)

    try:
        return json.loads(
            body.decode(),
            object_pairs_hook=pairs,
            parse_constant=refuse,
            parse_int=whole,
            parse_float=real,
        )
    except ValueError:
        raise Refused("malformed_json") from None


@given(NUMBERS | JUNK | DOCUMENTS | PAIRS)
@example(b"[1e308, 1E+308, 1e-400, -0, -0.0]")
@example(b"1e309")
@example(b"0.1e+0308")
@example(b"1" * 30)
@example(b"-" + b"1" * 30)
@example(b'"\\ud800"')
@example(b"[" * 250 + b"]" * 250)
def test_a_body_is_read_by_one_rule(body: bytes) -> None:
    assert found_by(read_json, body) == found_by(reference, body)


def found_by(read: Callable[[bytes], Any], body: bytes) -> str:
    """The value as it is written in Python, so that 1 is not 1.0; or why there is none."""
    try:
        return repr(read(body))
    except Unusable as error:
        return error.rejected.kind
    except Refused as refused:
        return str(refused)
