"""Hostile bodies with right signatures: never a 5xx, nothing guessed, and every byte is kept."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.webhooks.posting import SECRETS, Post, signed
from tests.support.service import Service
from tests.unit.webhooks.bodies import provider_of, sample
from tests.unit.webhooks.test_hostile_bodies import BODIES, HOSTILE, JSON_SAMPLES, PLACES, changed

INVOICE = json.loads(sample("stripe/invoice.overdue.constructed.json"))
XML = sample("recurly/new_charge_invoice_notification.xml")
ENTITY = (
    b'<?xml version="1.0"?><!DOCTYPE x [%s]><new_account_notification>%s</new_account_notification>'
)
BOMB = b"".join(b'<!ENTITY e%d "%s">' % (i, b"&e%d;" % (i - 1) * 10) for i in range(1, 10))
XML_ATTACKS = {
    "entity bomb": ENTITY % (b'<!ENTITY e0 "lol">' + BOMB, b"&e9;"),
    "external entity": ENTITY % (b'<!ENTITY x SYSTEM "file:///etc/passwd">', b"&x;"),
    "external document type": b'<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><x/>',
    "parameter entity": ENTITY % (b'<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;', b""),
    "an element twice": XML.replace(b"</invoice>", b"<state>paid</state></invoice>"),
    "cents with a fraction": XML.replace(b">100000<", b">1000.5<"),
    "another encoding": XML.replace(b"UTF-8", b"UTF-7"),
    "nesting": b"<a>" * 300_000,
    "cut short": XML[:700],
}
WRONG_VALUES: list[tuple[str, object, str]] = [
    ("amount_remaining", 249.5, "bad_amount"),
    ("amount_remaining", "24900", "bad_amount"),
    ("amount_remaining", -(10**29), "bad_amount"),
    ("amount_remaining", 2**53, "bad_amount"),
    ("amount_remaining", 10**29, "bad_amount"),
    ("total", -(2**53), "bad_amount"),
    ("total", True, "bad_amount"),
    ("total", None, "missing_field"),
    ("currency", "xxl", "unknown_currency"),
    ("currency", "", "missing_field"),
    ("status", "overdue", "unknown_status"),
    ("due_date", -62167219200, "bad_date"),
    ("due_date", 253402300799, "bad_date"),
    ("due_date", 10**20, "bad_date"),
    ("due_date", "2026-12-01", "bad_date"),
    ("customer", {"id": 5}, "wrong_type"),
    ("customer", "cus\x00", "bad_text"),
    ("id", "i" * 256, "bad_text"),
    ("id", "in_\ud800", "bad_text"),
    ("customer_email", "nobody", "unusable_address"),
]


def kept(hooks: Service, post: Post) -> dict[str, Any]:
    """The kept body of a post that could not be used: whole, and listed."""
    answer = post.to(hooks).ok()
    assert answer["rejected"] >= 1
    rows: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = hooks.get(
            "/v1/webhooks/rejected", provider=post.provider, limit=1000, cursor=cursor
        ).ok()
        rows += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    newest = max(rows, key=lambda row: (row["last_received_at"], row["rejected_id"]))
    content = hooks.get(f"/v1/webhooks/rejected/{newest['rejected_id']}").ok().body
    raw: str = content["body"]
    if content["encoding"] == "utf-8":
        assert raw.encode() == post.body
    assert content["size"] == len(post.body)
    assert isinstance(content["headers"], dict)
    assert "authorization" not in content["headers"]
    row: dict[str, Any] = content
    return row


@pytest.mark.parametrize("name", sorted(set(SECRETS) - {"mailgun"}))
def test_what_is_no_body_is_kept(hooks: Service, name: str) -> None:
    before = hooks.get("/v1/control").ok()["position"]
    for body in BODIES:
        hooks.advance(seconds=1)
        post = signed(name, body, hooks.clock)
        if name == "sendgrid" and body == b"[]":
            assert post.to(hooks).ok()["rejected"] == 0
        elif name in ("resend", "stripe") and not is_text(body):
            post.to(hooks).no(400, "bad_signature")
        else:
            kinds = {reason["kind"] for reason in kept(hooks, post)["reasons"]}
            assert kinds <= {
                "malformed_json",
                "malformed_xml",
                "missing_field",
                "wrong_type",
                "duplicate_json_key",
                "unknown_money_event",
            }
    assert hooks.get("/v1/control").ok()["position"] == before


def is_text(body: bytes) -> bool:
    """Stripe's and Standard Webhooks' libraries sign text: other bytes cannot be of theirs."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("attack", XML_ATTACKS)
def test_xml_attacks_are_kept_and_reach_nothing(hooks: Service, attack: str) -> None:
    reasons = kept(hooks, signed("recurly", XML_ATTACKS[attack], hooks.clock))["reasons"]
    expected = "bad_amount" if attack == "cents with a fraction" else "malformed_xml"
    assert [reason["kind"] for reason in reasons] == [expected]


@pytest.mark.parametrize(("field", "value", "kind"), WRONG_VALUES)
def test_a_wrong_value_is_kept_and_never_guessed(
    hooks: Service, mark: str, field: str, value: object, kind: str
) -> None:
    event = json.loads(json.dumps(INVOICE).replace("example", mark))
    event["data"]["object"][field] = value
    row = kept(hooks, signed("stripe", json.dumps(event).encode(), hooks.clock))
    assert [reason["kind"] for reason in row["reasons"]] == [kind]
    assert "cus" not in row["reasons"][0]["detail"] or field == "customer"
    invoice = hooks.get(f"/v1/invoices/in_{mark}_0001")
    if kind == "unusable_address":
        assert invoice.ok()["amount_remaining"] == 24900
    else:
        invoice.no(404, "unknown_invoice")


def test_a_body_of_one_mebibyte_is_kept_and_a_larger_one_refused(hooks: Service) -> None:
    largest = b'{"a": "' + b"x" * (2**20 - 9) + b'"}'
    assert len(largest) == 2**20
    assert kept(hooks, signed("stripe", largest, hooks.clock))["size"] == 2**20
    signed("stripe", largest + b" ", hooks.clock).to(hooks).no(413, "too_large")

    def pieces() -> Iterator[bytes]:
        for _ in range(17):
            yield b" " * 2**16

    answer = hooks.http.post("/v1/webhooks/stripe", content=pieces())
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@settings(max_examples=60)
@given(data=st.data())
def test_no_change_of_a_sample_is_answered_with_an_error(
    shared_hooks: Service, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from([p for p in JSON_SAMPLES if "ses_sns" not in p]))
    change = st.tuples(st.sampled_from(PLACES[path]), st.sampled_from(HOSTILE))
    body = changed(path, data.draw(st.lists(change, min_size=1, max_size=3)))
    answer = signed(provider_of(path), body, shared_hooks.clock).to(shared_hooks).ok()
    meant = (answer["results"], answer["ignored"], answer["refresh"], answer["rejected"])
    assert meant != ([], None, 0, 0)


def test_each_kind_was_alerted_on_once(hooks: Service) -> None:
    """After everything above; a kind is alerted on again only when all its bodies are resolved."""
    signed("stripe", b'{"type": 5}', hooks.clock).to(hooks).ok()
    signed("stripe", b'{"type": 6}', hooks.clock).to(hooks).ok()
    keys = [alert["dedupe_key"] for alert in hooks.alerts("ingest_rejected")]
    assert keys.count("ingest_rejected:stripe:wrong_type:1") == 1
    assert len(keys) == len({key.rpartition(":")[0] for key in keys})
    assert all("@" not in alert["summary"] for alert in hooks.alerts("ingest_rejected"))
