"""Bodies made to break the reader: every provider rejects them, and nothing is ever raised."""

import copy
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from api.webhooks.provider import Translation
from api.webhooks.registry import provider_names
from tests.unit.webhooks.acceptable import assert_acceptable
from tests.unit.webhooks.bodies import every_sample, known, provider_of, sample, settings

SECRET = "leak@secret.example"
HOSTILE: list[object] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**53,
    10**25,
    -62135596801,
    253402300800,
    "",
    " ",
    "0",
    SECRET,
    f"Leak <{SECRET}>",
    "x" * 256,
    "\x00",
    "a\nb",
    "\ud800",
    "\u202e",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-02-30T00:00:00Z",
    "paid",
    "refund",
    [],
    [None],
    [SECRET],
    [[[[]]]],
    {},
    {SECRET: SECRET},
    {"id": SECRET},
    {"type": SECRET, SECRET: 5},
]
BODIES = [
    b"",
    b" ",
    b"null",
    b"0",
    b"[]",
    b"{}",
    b"[[]]",
    b"[{}]",
    b'"text"',
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b'{"type": "\xc3\x28"}',
    b"NaN",
    b"[" * 2**20,
    b'{"a":' * 2**17,
    b"<" * 2**10,
    b"<a>" * 2**18,
    b"<a/>",
    b"key=value&other=1",
    b"--boundary\r\nContent-Disposition: form-data; name=x\r\n\r\n1\r\n--boundary--",
    b"9" * 2**20,
    b'{"type": ' + b"9" * 4400 + b"}",
    b'{"id": "a", "id": "b"}',
]


@pytest.mark.parametrize("name", provider_names())
@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_body_that_is_none_is_rejected(name: str, body: bytes) -> None:
    translation = known(name).translate({}, body, settings(name))
    assert_acceptable(translation)
    assert translation.facts == ()
    nothing_in_it = name == "sendgrid" and body == b"[]"
    assert len(translation.rejected) == (0 if nothing_in_it else 1)


@given(name=st.sampled_from(provider_names()), body=st.binary(max_size=2000))
def test_no_bytes_raise(name: str, body: bytes) -> None:
    assert_acceptable(known(name).translate({}, body, settings(name)))


@given(
    name=st.sampled_from(provider_names()),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "data",
                        "object",
                        "id",
                        "event_type",
                        "content",
                        "message",
                        "Type",
                        "Message",
                        "RecordType",
                        "event-data",
                        "object_type",
                    ]
                )
                | st.text(),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    ),
)
def test_no_json_raises(name: str, value: object) -> None:
    body = json.dumps(value).encode()
    assert_acceptable(known(name).translate({}, body, settings(name)))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every member and item."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


JSON_SAMPLES = [path for path in every_sample() if path.endswith(".json")]
PARSED = {path: json.loads(sample(path)) for path in JSON_SAMPLES}
for parsed in PARSED.values():
    if isinstance(parsed.get("Message"), str):
        parsed["Message"] = json.loads(parsed["Message"])
PLACES = {path: list(places(value)) for path, value in PARSED.items()}


def changed(path: str, changes: list[tuple[tuple[Any, ...], object]]) -> bytes:
    """The sample with values at some places replaced, as far as the places are still there."""
    value = copy.deepcopy(PARSED[path])
    for place, replacement in changes:
        target = value
        try:
            for key in place[:-1]:
                target = target[key]
            target[place[-1]] = copy.deepcopy(replacement)
        except (KeyError, IndexError, TypeError):
            continue
    if isinstance(value.get("Message"), dict):
        value["Message"] = json.dumps(value["Message"])
    return json.dumps(value).encode()


def translated(path: str, body: bytes) -> Translation:
    """The translation in test mode, checked for what holds of every body."""
    name = provider_of(path)
    translation = known(name).translate({}, body, settings(name))
    assert_acceptable(translation)
    for rejected in translation.rejected:
        assert "leak" not in (rejected.kind + rejected.detail).lower()
    return translation


@hypothesis_settings(max_examples=150)
@given(data=st.data())
def test_no_change_of_a_sample_raises_or_tells_a_value(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(JSON_SAMPLES))
    change = st.tuples(st.sampled_from(PLACES[path]), st.sampled_from(HOSTILE))
    translated(path, changed(path, data.draw(st.lists(change, min_size=1, max_size=3))))


USED_PARTS = re.compile(r"lines|line_items|billing_address|shipping_address|metadata|plan|charges")


@pytest.mark.parametrize("path", JSON_SAMPLES)
def test_every_hostile_value_at_every_place_is_survived(path: str) -> None:
    for place in PLACES[path]:
        if any(isinstance(key, str) and USED_PARTS.fullmatch(key) for key in place[:-1]):
            continue
        for hostile in HOSTILE:
            translated(path, changed(path, [(place, hostile)]))


@pytest.mark.parametrize("path", JSON_SAMPLES)
def test_a_sample_cut_short_or_repeated_is_rejected(path: str) -> None:
    body = sample(path)
    name = provider_of(path)
    for part in (body[: len(body) // 2], body + body, body.replace(b"{", b"[", 1), body[1:]):
        translation = known(name).translate({}, part, settings(name))
        assert translation.facts == ()
        assert [rejected.kind for rejected in translation.rejected] == ["malformed_json"]


@pytest.mark.parametrize("path", JSON_SAMPLES)
def test_a_key_given_twice_is_rejected(path: str) -> None:
    body = sample(path)
    first_key = re.search(rb'"[^"]+"', body)
    assert first_key is not None
    twice = body.replace(b"{", b"{" + first_key.group() + b": 1,", 1)
    translation = translated(path, twice)
    assert translation.facts == ()
    assert [rejected.kind for rejected in translation.rejected] == ["duplicate_json_key"]


XML_SAMPLES = [path for path in every_sample() if path.endswith(".xml")]
LEAF = re.compile(rb">([^<>]+)</")
XML_VALUES = [
    b"",
    SECRET.encode(),
    b"-1",
    b"1.5",
    b"9" * 40,
    b"x" * 300,
    b"&amp;",
    b"true",
    b"0000-01-01T00:00:00Z",
    b"9999-12-31T23:59:59Z",
    b"<a/>",
    b"<",
    b"\xff",
]


@pytest.mark.parametrize("path", XML_SAMPLES)
def test_every_hostile_text_in_every_element_is_survived(path: str) -> None:
    body = sample(path)
    for leaf in LEAF.finditer(body):
        for value in XML_VALUES:
            translated(path, body[: leaf.start(1)] + value + body[leaf.end(1) :])


@given(path=st.sampled_from(XML_SAMPLES), data=st.data())
def test_no_cut_of_an_xml_sample_raises(path: str, data: st.DataObject) -> None:
    body = sample(path)
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, min(len(body), start + 200)))
    translated(path, body[:start] + body[end:])
