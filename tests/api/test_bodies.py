"""What a request may hold: the bounds of the contract's first section, for every kind of body."""

import json
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from tests.api.routes import ROUTES, Route
from tests.support.service import Answer, Service

_SNAPSHOT: dict[str, Any] = {
    "customer_id": "cus_1",
    "email": "pat@example.com",
    "currency": "USD",
    "total": 30_000,
    "amount_remaining": 30_000,
    "issued_on": "2026-11-01",
    "due_on": "2026-12-01",
    "status": "open",
    "time_zone": "UTC",
    "observed_at": "2026-12-01T00:00:00Z",
}
_REMINDER: dict[str, Any] = {"kind": "reminder", "invoices": ["inv_1"], "stage": "day-7"}
_MESSAGE: dict[str, Any] = {"kind": "message", "thread_id": "thr_1", "intent": "hello"}
_LONG = "x" * 256
_NUL = "a\x00b"
_WITH_BODIES = [r for r in ROUTES if r.method in ("POST", "PUT") and r.body is not None]

BAD_SNAPSHOTS: dict[str, dict[str, Any]] = {
    "unknown field": {"amount_due": 1},
    "no customer": {"customer_id": None, "email": None},
    "long customer": {"customer_id": _LONG},
    "empty customer": {"customer_id": ""},
    "control character": {"customer_id": _NUL},
    "newline": {"customer_id": "cus\n1"},
    "C1 control": {"customer_id": "cus\x851"},
    "no address": {"email": "pat at example.com"},
    "address with newline": {"email": "pat@example.com\n"},
    "lower-case currency": {"currency": "usd"},
    "unknown currency": {"currency": "XXQ"},
    "currency null": {"currency": None},
    "fraction of a cent": {"total": 100.5},
    "whole float": {"total": 100.0},
    "amount as text": {"total": "100"},
    "amount as bool": {"total": True},
    "total below all bounds": {"total": -(2**53)},
    "remaining below all bounds": {"amount_remaining": -(2**53)},
    "beyond reason": {"total": 10**30},
    "just beyond 64 bits": {"total": 2**64},
    "status": {"status": "overdue"},
    "status in capitals": {"status": "OPEN"},
    "date as time": {"due_on": "2026-12-01T00:00:00Z"},
    "no such day": {"due_on": "2026-02-30"},
    "American date": {"due_on": "12/01/2026"},
    "date as number": {"due_on": 20261201},
    "naive time": {"observed_at": "2026-12-01T00:00:00"},
    "time as number": {"observed_at": 1796083200},
    "date for a time": {"observed_at": "2026-12-01"},
    "no such hour": {"observed_at": "2026-12-01T25:00:00Z"},
    "year 0": {"due_on": "0000-01-01"},
    "year 9999": {"due_on": "9999-12-31"},
    "no zone": {"time_zone": "Mars/Olympus"},
    "zone as path": {"time_zone": "../../etc/passwd"},
    "offset for a zone": {"time_zone": "+02:00"},
    "much metadata": {"metadata": {str(n): "x" for n in range(21)}},
    "long metadata": {"metadata": {"trace": "x" * 501}},
    "nested metadata": {"metadata": {"trace": {"id": "x"}}},
}


@pytest.mark.parametrize("bad", BAD_SNAPSHOTS.values(), ids=BAD_SNAPSHOTS)
def test_a_snapshot_that_is_wrong_is_422_wherever_it_comes(
    bad: dict[str, Any], service: Service, name: str
) -> None:
    snapshot = _SNAPSHOT | bad
    put = service.call("PUT", f"/v1/invoices/{name}", snapshot).no(422, "invalid_request")
    assert put["errors"]
    riding = _REMINDER | {"invoices": [name], "facts": {name: snapshot}}
    service.post("/v1/permits", riding).no(422, "invalid_request")
    event = {
        "id": name,
        "source": "tests",
        "type": "invoice.observed",
        "data": snapshot | {"invoice_id": name},
    }
    (result,) = service.post("/v1/facts", {"facts": [event]}).ok()["results"]
    assert (result["id"], result["result"]) == (name, "rejected")
    assert result["detail"]
    service.get(f"/v1/invoices/{name}").no(404, "unknown_invoice")


BAD_REQUESTS: dict[str, Any] = {
    "no kind": {"invoices": ["inv_1"]},
    "unknown kind": {"kind": "newsletter"},
    "unknown field": _REMINDER | {"sender": "me"},
    "no invoices": {"kind": "reminder"},
    "empty invoices": _REMINDER | {"invoices": []},
    "duplicate invoices": _REMINDER | {"invoices": ["inv_1", "inv_1"]},
    "too many invoices": _REMINDER | {"invoices": [f"inv_{n}" for n in range(101)]},
    "invoice as text": _REMINDER | {"invoices": "inv_1"},
    "long invoice": _REMINDER | {"invoices": [_LONG]},
    "invoice with NUL": _REMINDER | {"invoices": [_NUL]},
    "no such stage": _REMINDER | {"stage": "day-5"},
    "expected of another invoice": _REMINDER | {"expected": {"inv_2": {"cycle": 1}}},
    "expected cycle as text": _REMINDER | {"expected": {"inv_1": {"cycle": "1"}}},
    "facts of another invoice": _REMINDER | {"facts": {"inv_2": _SNAPSHOT}},
    "facts in a message": _MESSAGE | {"facts": {"inv_1": _SNAPSHOT}},
    "redeem as text": _MESSAGE | {"redeem": "true"},
    "redeem as number": _MESSAGE | {"redeem": 1},
    "long thread": _MESSAGE | {"thread_id": _LONG},
    "empty intent": _MESSAGE | {"intent": ""},
    "override without a human": _MESSAGE | {"override": {"action_id": "a", "reason": "b"}},
    "job without token": _MESSAGE | {"job": {"name": "nightly"}},
    "negative step": {"kind": "follow_up", "thread_id": "thr_1", "step": -1},
    "step as text": {"kind": "follow_up", "thread_id": "thr_1", "step": "2"},
    "digest of no day": {"kind": "digest", "customer_id": "c", "inbox_id": "i", "date": "today"},
    "notification to nobody": {"kind": "notification", "event_type": "t", "event_id": "e"},
    "digest to nobody": {"kind": "digest", "inbox_id": "i", "date": "2026-12-04"},
    "to is no address": _MESSAGE | {"to": "pat"},
    "reply without message": {"kind": "reply", "thread_id": "thr_1"},
    "apology of nothing": {"kind": "apology", "customer_id": "cus_1"},
    "payment_failed without event": {"kind": "payment_failed", "invoice_id": "inv_1"},
    "a list": [_MESSAGE],
    "a text": "reminder",
    "null": None,
    "a number": 42,
}


@pytest.mark.parametrize("bad", BAD_REQUESTS.values(), ids=BAD_REQUESTS)
def test_a_request_for_a_permit_that_is_wrong_is_422_alone_and_in_a_batch(
    bad: Any, service: Service
) -> None:
    service.call("POST", "/v1/permits", content=json.dumps(bad)).no(422, "invalid_request")
    good = {"kind": "reminder", "invoices": ["inv_unheard_of"]}
    answer = service.post("/v1/permits/batch", {"requests": [bad, good]}).ok()
    first, second = answer["results"]
    assert (first["status"], first["problem"]["code"]) == (422, "invalid_request")
    assert (second["status"], second["problem"]["code"]) == (404, "unknown_invoice")


NOT_JSON: dict[str, bytes] = {
    "nothing": b"",
    "half an object": b'{"kind": "message"',
    "NaN": b'{"kind": NaN}',
    "Infinity": b'{"kind": -Infinity}',
    "half a surrogate pair": b'{"kind": "\\ud800"}',
    "not UTF-8": b'{"kind": "\xff\xfe"}',
    "UTF-16": '{"kind": "message"}'.encode("utf-16"),
    "two documents": b"{}{}",
    "a form": b"kind=message&thread_id=1",
    "nested too deeply": b"[" * 100_000 + b"]" * 100_000,
    "single quotes": b"{'kind': 'message'}",
    "a comment": b'{"kind": "message"} // hello',
}


@pytest.mark.parametrize("content", NOT_JSON.values(), ids=NOT_JSON)
@pytest.mark.parametrize("route", _WITH_BODIES, ids=str)
def test_what_is_not_json_is_422(route: Route, content: bytes, shared_service: Service) -> None:
    if not content and (route.path.endswith(("/claim", "/redeem", "/close"))):
        shared_service.call(route.method, route.url, content=content)
        return
    answer = shared_service.call(route.method, route.url, content=content)
    answer.no(422, "invalid_request")


@pytest.mark.parametrize("route", _WITH_BODIES, ids=str)
def test_every_write_refuses_unknown_fields_and_takes_metadata(
    route: Route, shared_service: Service
) -> None:
    plain = shared_service.call(route.method, route.url, route.body)
    with_metadata = shared_service.call(
        route.method, route.url, route.body | {"metadata": {"trace": "t-1"}}
    )
    assert (with_metadata.status, with_metadata.code) == (plain.status, plain.code)
    unknown = route.body | {"unheard_of": 1}
    shared_service.call(route.method, route.url, unknown).no(422, "invalid_request")
    for metadata in ({"a" * 65: "x"}, {"": "x"}, {"a": 1}, {"a": "\x00"}, ["a"], "a"):
        wrong = route.body | {"metadata": metadata}
        shared_service.call(route.method, route.url, wrong).no(422, "invalid_request")


@pytest.mark.parametrize("route", _WITH_BODIES, ids=str)
def test_a_body_over_one_mebibyte_is_413(route: Route, shared_service: Service) -> None:
    def chunks() -> Any:
        for _ in range(20):
            yield b" " * 65_536

    just_over = json.dumps(route.body).encode() + b" " * 1024 * 1024
    shared_service.call(route.method, route.url, content=just_over).no(413, "too_large")
    unannounced = shared_service.http.request(
        route.method,
        route.url,
        content=chunks(),
        headers={
            "authorization": f"Bearer {shared_service.key}",
            "content-type": "application/json",
        },
    )
    body = unannounced.json()
    Answer(unannounced.status_code, unannounced.headers, body).no(413, "too_large")
    largest = json.dumps(route.body).encode()
    largest += b" " * (1024 * 1024 - len(largest))
    assert shared_service.call(route.method, route.url, content=largest).status != 413


CONTENT_TYPES = ["", "text/plain", "application/x-www-form-urlencoded", "application/json; x=y"]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@pytest.mark.parametrize("route", _WITH_BODIES, ids=str)
def test_a_body_is_json_whatever_the_content_type(
    route: Route, content_type: str, shared_service: Service
) -> None:
    plain = shared_service.call(route.method, route.url, route.body)
    headers = {"content-type": content_type}
    told = shared_service.call(route.method, route.url, route.body, headers=headers)
    assert (told.status, told.code) == (plain.status, plain.code)


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1", "/", "/v2/permits", "/v1/permits/a/b/c"])
def test_what_is_not_there_is_a_problem_document_too(path: str, service: Service) -> None:
    service.get(path).no(404, "not_found")


def test_a_wrong_method_is_405_and_says_which_are_right(service: Service) -> None:
    answer = service.call("PATCH", "/v1/keys", {}).no(405, "method_not_allowed")
    assert {"GET", "POST"} & set(answer.headers["allow"].replace(" ", "").split(","))


def test_bounds_of_ids_are_inclusive(service: Service, name: str) -> None:
    longest = (name + "é" * 255)[:255]
    service.put_invoice(longest, customer_id=longest).ok()
    assert service.get(f"/v1/invoices/{longest}").ok()["invoice_id"] == longest
    too_long = longest + "x"
    service.put_invoice(too_long, customer_id="c").no(422, "invalid_request")
    service.get(f"/v1/invoices/{too_long}").no(422, "invalid_request")
    service.get(f"/v1/customers/{too_long}").no(422, "invalid_request")


@pytest.mark.parametrize("path", ["/v1/invoices/{}", "/v1/customers/{}"])
@pytest.mark.parametrize("id_", ["%0A", "a%0Ab", "%00", "a%0D%0Ab", "%7F", "%C2%85"])
def test_a_control_character_in_a_path_is_422(path: str, id_: str, service: Service) -> None:
    service.get(path.format(id_)).no(422, "invalid_request")
    snapshot = _SNAPSHOT | {"due_on": None}
    put = service.call("PUT", f"/v1/invoices/{id_}", snapshot)
    put.no(422, "invalid_request")


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "ten", "1.5", ""])
@pytest.mark.parametrize(
    "path", ["/v1/permits", "/v1/due", "/v1/decisions", "/v1/events", "/v1/alerts", "/v1/keys"]
)
def test_a_limit_is_from_1_to_1000(path: str, limit: str, shared_service: Service) -> None:
    shared_service.get(path, limit=limit).no(422, "invalid_request")
    shared_service.get(path, limit=1000).ok()


CURSORS = [
    "%",
    "x",
    "AA",
    "AAAA",
    "bm90IG91cnM",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0",
    "é",
    "A" * 600,
]


@pytest.mark.parametrize("cursor", CURSORS)
@pytest.mark.parametrize(
    "path",
    [
        "/v1/permits?",
        "/v1/permits?state=unknown&",
        "/v1/due?",
        "/v1/decisions?",
        "/v1/events?",
        "/v1/alerts?",
        "/v1/keys?",
    ],
)
def test_a_made_up_cursor_is_422(path: str, cursor: str, shared_service: Service) -> None:
    shared_service.get(f"{path}cursor={quote(cursor)}").no(422, "invalid_request")


def test_blanks_in_a_body_are_not_kept_in_the_decision_log(service: Service, name: str) -> None:
    body = json.dumps({"kind": "follow_up", "thread_id": name, "step": 1}).encode()
    answer = service.call("POST", "/v1/permits", content=body.ljust(500_000)).no(
        404, "unknown_thread"
    )
    with psycopg.connect(service.database) as db:
        row = db.execute(
            "SELECT request::text FROM decisions WHERE decision_id = %s", [answer["decision_id"]]
        ).fetchone()
    assert row is not None
    assert json.loads(row[0]) == json.loads(body)
    assert len(row[0]) < 1_000


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/permits", '{"kind": "reminder"', "Invalid JSON: EOF while parsing an object at"),
        ("/v1/permits", "", "Invalid JSON: EOF while parsing a value at line 1 column 0"),
        (
            "/v1/permits",
            '{"kind": "reminder", "invoices": ["i"], "to_": 1}',
            "reminder.to_: there is no such field",
        ),
        (
            "/v1/invoices/i",
            '{"currency": "USD"',
            "body: this is not JSON, at character 18: unexpected end",
        ),
        ("/v1/invoices/i", "", "body: a JSON body is needed, with Content-Type: application/json"),
        ("/v1/invoices/i", '{"currency": "euro"}', "body.currency: a currency is an ISO 4217 code"),
    ],
)
def test_a_body_that_is_wrong_is_told_in_plain_words(
    service: Service, path: str, body: str, told: str
) -> None:
    method = "PUT" if path.startswith("/v1/invoices") else "POST"
    said = service.call(method, path, content=body).no(422, "invalid_request")
    assert said["detail"].startswith(told)
