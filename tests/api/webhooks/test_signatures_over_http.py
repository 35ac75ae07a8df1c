"""Every signature vector is taken at its moment; whatever is wrong with one is 400 and no fact."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.api.webhooks.posting import SECRETS, Post, signed
from tests.support.service import Answer, Service, fresh_service
from tests.unit.webhooks.signed import Signed, published

VECTORS = sorted(published().items(), key=lambda item: item[1].now)
"""By the moment at which each is valid: a test clock only goes forward."""
COVERED = {"stripe", "recurly", "standardwebhooks", "commune"}
"""Vectors whose signature covers the body and a timestamp."""


@pytest.fixture(scope="module")
def vectors(postgres: str) -> Iterator[Service]:
    """A service with the vectors' own secrets beside others, begun before the oldest of them."""
    env = {}
    for vector in published().values():
        env[f"LEDGER_WEBHOOK_{vector.provider.upper()}_SECRET"] = f"another:one,{vector.secret}"
        env[f"LEDGER_WEBHOOK_{vector.provider.upper()}_MODE"] = "test"
    with fresh_service(postgres, datetime(2018, 1, 1, tzinfo=UTC), env=env) as service:
        yield service


def post(service: Service, delivery: Signed, **changes: str | None) -> Answer:
    """Post the vector, some headers changed or left out (None)."""
    headers = {name: value for name, value in (delivery.headers | changes).items() if value}
    return Post(delivery.provider, headers, delivery.body).to(service)


def test_every_vector_is_taken_at_its_moment_and_not_before_or_after(vectors: Service) -> None:
    for name, vector in VECTORS:
        early = vector.now - timedelta(minutes=30)
        if name != "chargebee" and vectors.clock < early:
            vectors.move_clock(early)
            post(vectors, vector).no(400, "bad_signature")
        vectors.move_clock(max(vector.now, vectors.clock))
        answer = post(vectors, vector).ok()
        assert answer["received"] is True
        tampered_ones_are_refused(vectors, name, vector)
        again = post(vectors, vector).ok()
        assert {result["result"] for result in again["results"]} <= {"duplicate"}
        if name != "chargebee":
            vectors.advance(hours=13)
            post(vectors, vector).no(400, "bad_signature")
    customer = vectors.get("/v1/customers/cus_123").ok()
    assert customer["addresses"] == ["test@stripe.com"]
    kinds = {item["object_kind"] for item in vectors.get("/v1/webhooks/refresh").ok()["items"]}
    assert kinds == {"account"}


def tampered_ones_are_refused(service: Service, name: str, vector: Signed) -> None:
    """One byte of body, header, timestamp or scheme; empty, missing, and another encoding."""
    before = service.get("/v1/control").ok()["position"]
    for header, value in vector.headers.items():
        if header in ("x-commune-delivery-id", "x-commune-attempt"):
            continue
        counted = value.partition(",v0=")[0]
        flips = [counted[:i] + chr(ord(counted[i]) ^ 1) + counted[i + 1 :] for i in (2, -9, -3)]
        for wrong in (*flips, counted[::-1], counted[:-1], "", None):
            post(service, vector, **{header: wrong}).no(400, "bad_signature")
    if name in COVERED:
        for place in range(0, len(vector.body), 23):
            body = bytearray(vector.body)
            body[place] ^= 1
            post(service, replace(vector, body=bytes(body))).no(400, "bad_signature")
        for other in (b"", vector.body + b" ", vector.body.decode().encode("utf-16")):
            post(service, replace(vector, body=other)).no(400, "bad_signature")
    assert service.get("/v1/control").ok()["position"] == before


@pytest.mark.parametrize("provider", SECRETS)
def test_each_provider_is_taken_and_refused_on_the_shared_service(
    hooks: Service, provider: str
) -> None:
    good = signed(provider, b'{"id": 1}', hooks.clock)
    assert good.to(hooks).ok()["received"] is True
    for wrong in (-timedelta(hours=49), timedelta(minutes=6)):
        if provider not in ("chargebee", "postmark"):
            late = signed(provider, b'{"id": 1}', hooks.clock + wrong)
            late.to(hooks).no(400, "bad_signature")
    for bad in (replace(good, headers={}), replace(good, headers=dict.fromkeys(good.headers, "é"))):
        if provider != "mailgun":
            sent = replace(bad, headers={k: v.encode("latin-1") for k, v in bad.headers.items()})  # type: ignore[misc]
            sent.to(hooks).no(400, "bad_signature")


def test_mailguns_signature_inside_the_body_is_checked(hooks: Service) -> None:
    members = json.loads(signed("mailgun", b'{"event-data": {}}', hooks.clock).body)
    for name in ("timestamp", "token", "signature"):
        for wrong in ("", "0" * 64, 5, None):
            body = json.dumps(members | {"signature": members["signature"] | {name: wrong}})
            Post("mailgun", {}, body.encode()).to(hooks).no(400, "bad_signature")
    for body in ("[]", "{}", '{"signature": []}', "no JSON"):
        Post("mailgun", {}, body.encode()).to(hooks).no(400, "bad_signature")


@pytest.mark.parametrize(
    "name", ["nobody", "ses", "rejected", "refresh", "%00", "x" * 300, "Stripe"]
)
def test_without_credentials_there_is_nothing(hooks: Service, name: str) -> None:
    Post(name, {}, b"{}").to(hooks).no(404, "not_found")


def test_a_refused_post_leaves_nothing_behind(hooks: Service) -> None:
    before = hooks.get("/v1/webhooks/rejected", limit=1000, resolved="true").ok()["items"]
    good = signed("stripe", b'{"type": "invoice.paid"}', hooks.clock)
    replace(good, body=good.body + b" ").to(hooks).no(400, "bad_signature")
    assert hooks.get("/v1/webhooks/rejected", limit=1000, resolved="true").ok()["items"] == before


def test_both_secrets_of_a_rotation_are_good(vectors: Service) -> None:
    """The service's own list has another secret first."""
    header = {"authorization": "Basic YW5vdGhlcjpvbmU="}
    assert Post("chargebee", header, b"{}").to(vectors).ok()["received"] is True


def test_a_signature_that_covers_no_body_is_taken_for_one_body_only(hooks: Service) -> None:
    """Given a delivery of Mailgun, when its signature comes with another body, it is refused."""
    event = {"event": "failed", "severity": "permanent", "id": "once", "recipient": "a@example.com"}
    event |= {"timestamp": hooks.clock.timestamp(), "message": {"headers": {"message-id": "m@x"}}}
    first = signed("mailgun", json.dumps({"event-data": event}).encode(), hooks.clock)
    assert first.to(hooks).ok()["results"][0]["result"] == "applied"
    assert first.to(hooks).ok()["results"][0]["result"] == "duplicate"
    other = json.loads(first.body)
    other["event-data"] |= {"id": "forged", "recipient": "victim@example.com"}
    forged = replace(first, body=json.dumps(other).encode())
    forged.to(hooks).no(400, "bad_signature")
    assert first.to(hooks).ok()["results"][0]["result"] == "duplicate"


def test_a_subaccounts_signature_of_mailgun_is_good_under_the_primary_accounts_key(
    hooks: Service, mark: str
) -> None:
    """Given the primary account's key only, an event that a subaccount's key signed is taken."""
    event: dict[str, object] = {"event": "complained", "id": mark}
    event |= {"timestamp": hooks.clock.timestamp(), "recipient": f"{mark}@example.com"}
    ours = signed("mailgun", json.dumps({"event-data": event}).encode(), hooks.clock, mark)
    body = json.loads(ours.body)
    primary = body["signature"].pop("signature")

    def posted(**signatures: object) -> Answer:
        signature = body["signature"] | signatures
        raw = json.dumps(body | {"signature": signature}).encode()
        return Post("mailgun", {}, raw).to(hooks)

    foreign = "0" * 64
    for parent in (foreign, primary[::-1], "", 5, None, [primary]):
        posted(signature=foreign, **{"parent-signature": parent}).no(400, "bad_signature")
    posted(**{"parent-signature": primary}).no(400, "bad_signature")
    good = {"signature": foreign, "parent-signature": primary}
    assert posted(**good).ok()["results"][0]["result"] == "applied"
    assert posted(**good).ok()["results"][0]["result"] == "duplicate"
    asked = hooks.ask("notification", event_type="x", event_id=mark, to=f"{mark}@example.com")
    asked.no(409, "address_on_hold")
