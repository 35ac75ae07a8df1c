"""JSON and XML that two readers could understand differently are refused, and so are bombs."""

import pytest

from api.webhooks.bodies import strict_xml
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.strict_json import read_json, read_json_object
from api.webhooks.bodies.strict_xml import read_xml
from api.webhooks.bodies.unusable import Unusable
from api.webhooks.signatures.strict_base64 import NotBase64, decode_base64


def test_plain_json_is_read_as_it_is() -> None:
    text = '{"a": [1, -2, 1.5, true, null, "\\u00e9"], "b": {"c": {}}}'
    assert read_json(text) == {"a": [1, -2, 1.5, True, None, "é"], "b": {"c": {}}}
    assert read_json(text.encode()) == read_json(text)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "malformed_json"),
        (b"{", "malformed_json"),
        (b"{} {}", "malformed_json"),
        (b"{'a': 1}", "malformed_json"),
        (b'{"a": 1,}', "malformed_json"),
        (b"\xff\xfe{}", "malformed_json"),
        (b"\xef\xbb\xbf{}", "malformed_json"),
        ("{}".encode("utf-16"), "malformed_json"),
        (b'"\xc3\x28"', "malformed_json"),
        (b"\x00", "malformed_json"),
        (b"[NaN]", "malformed_json"),
        (b"[Infinity]", "malformed_json"),
        (b"[-Infinity]", "malformed_json"),
        (b"[1e999]", "malformed_json"),
        (b"[" + b"1" * 31 + b"]", "malformed_json"),
        (b"[" + b"1" * 2**20 + b"]", "malformed_json"),
        (b"[" * 2**20, "malformed_json"),
        (b'{"a":' * 2**17, "malformed_json"),
        (b"[" * 2**19 + b"]" * 2**19, "malformed_json"),
        (b'{"a": 1, "a": 1}', "duplicate_json_key"),
        (b'{"a": {"b": 1, "b": 2}}', "duplicate_json_key"),
        (b'{"a": 1, "\\u0061": 2}', "duplicate_json_key"),
    ],
)
def test_other_json_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(Unusable) as error:
        read_json(body)
    assert error.value.rejected.kind == kind


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"null", b"true"])
def test_an_object_is_asked_for_by_name(body: bytes) -> None:
    with pytest.raises(Unusable) as error:
        read_json_object(body)
    assert error.value.rejected.kind == "malformed_json"


def test_plain_xml_is_read_two_levels_deep() -> None:
    root, record = read_xml(
        b'<?xml version="1.0" encoding="UTF-8"?><n><a> x </a><b><c type="integer">-12</c>'
        b'<d type="boolean">true</d><e type="integer">1.5</e><f nil="true"/><g><h>1</h></g></b></n>'
    )
    assert root == "n"
    assert record.members == {
        "a": "x",
        "b": {"c": -12, "d": True, "e": "1.5", "f": None},
    }


PLAIN = b'<?xml version="1.0" encoding="UTF-8"?>'


@pytest.mark.parametrize("declared", [b"", PLAIN, PLAIN + b"<!-- -->"])
@pytest.mark.parametrize(
    "body",
    [
        b'<n><a t="1"> x </a><b><c type="integer">-12</c><d nil="true"/></b></n>',
        "<n><a>&lt;é&#233;&amp;</a>tail</n>".encode(),
        b'<n xmlns="u"><a/></n>',
        b"<n><a><b><c>1</c></b><b><c>2</c></b><d>3</d></a></n>",
        b"<n>" + b"<a>" * 50_000 + b"</a>" * 50_000 + b"</n>",
    ],
)
def test_both_parsers_read_alike(declared: bytes, body: bytes) -> None:
    assert read_xml(declared + body) == read_xml(b"<!-- the slow one -->" + body)


def test_what_is_plainly_declared_needs_no_hardened_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(strict_xml, "fromstring")
    assert read_xml(PLAIN + b"<n><a>1</a></n>") == ("n", Record({"a": "1"}))


BILLION_LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">
<!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]><n><a>&lol2;</a></n>"""
EXTERNAL = b"""<?xml version="1.0"?><!DOCTYPE n [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<n><a>&x;</a></n>"""
EXTERNAL_DTD = b'<?xml version="1.0"?><!DOCTYPE n SYSTEM "http://127.0.0.1:1/n.dtd"><n/>'


@pytest.mark.parametrize(
    "body",
    [
        BILLION_LAUGHS,
        EXTERNAL,
        EXTERNAL_DTD,
        b"<!DOCTYPE n><n/>",
        b"",
        b"<n>",
        b"<n/><n/>",
        b"<n>&undefined;</n>",
        b"<n><a>1</a><a>2</a></n>",
        b"<n><a><b>1</b><b>2</b></a></n>",
        b"<a>" * 2**18,
        b"<n>\xff</n>",
        b"<n>\x00</n>",
        b'<?xml version="1.0" encoding="no-such-encoding"?><n/>',
        b'<?xml version="1.0" encoding="UTF-16"?><n/>',
        b'<n xmlns:x="u"><x:a/><y:a/></n>',
    ],
)
@pytest.mark.parametrize("declared", [b"", PLAIN], ids=["as it is", "declared"])
def test_other_xml_is_refused(declared: bytes, body: bytes) -> None:
    with pytest.raises(Unusable) as error:
        read_xml(declared + body.removeprefix(b'<?xml version="1.0"?>') if declared else body)
    assert error.value.rejected.kind == "malformed_xml"


def test_deep_xml_that_is_well_formed_does_no_harm() -> None:
    root, record = read_xml(b"<n>" + b"<a>" * 50_000 + b"</a>" * 50_000 + b"</n>")
    assert (root, record.members) == ("n", {"a": {}})


@pytest.mark.parametrize("text", ["", "YQ==", "YWI=", "YWJj", "/+8="])
def test_base64_in_its_one_spelling_is_read(text: str) -> None:
    assert (
        decode_base64(text).hex()
        == {"": "", "YQ==": "61", "YWI=": "6162", "YWJj": "616263", "/+8=": "ffef"}[text]
    )


@pytest.mark.parametrize("text", ["YQ", "YQ=", "YR==", "YWJ=", "Y Q==", "_-8=", "é", "YQ==\n"])
def test_base64_in_another_spelling_is_refused(text: str) -> None:
    with pytest.raises(NotBase64):
        decode_base64(text)
