"""Ends of subscriptions as Stripe, Chargebee and Recurly tell them."""

import json
from typing import Any

import pytest

from api.webhooks.provider import Refresh, Translation
from api.webhooks.refresh.apis import APIS, ApiAccess, address_of
from tests.unit.webhooks.acceptable import assert_acceptable
from tests.unit.webhooks.bodies import known, settings
from tests.unit.webhooks.stripe_events import LEFT_OUT, event, invoice, translate

IGNORED = Translation(ignored="irrelevant_event")


def only(translation: Translation) -> tuple[str, dict[str, object]]:
    """The type and data of the one fact."""
    assert_acceptable(translation)
    (fact,) = translation.facts
    assert translation == Translation(facts=(fact,))
    return fact.type, fact.data


def stripe(**changes: object) -> dict[str, object]:
    return {
        "id": "sub_1",
        "customer": "cus_1",
        "status": "canceled",
        "ended_at": 1796169000,
        "latest_invoice": "in_1",
        "cancellation_details": {"reason": "payment_failed"},
        **changes,
    }


@pytest.mark.parametrize("kind", ["deleted", "updated", "created"])
@pytest.mark.parametrize("status", ["canceled", "incomplete_expired"])
def test_the_state_of_a_stripe_subscription_says_that_it_ended(kind: str, status: str) -> None:
    body = event(f"customer.subscription.{kind}", stripe(status=status))
    assert only(translate(body)) == (
        "subscription.ended",
        {
            "subscription_id": "sub_1",
            "customer_id": "cus_1",
            "invoice_ids": ["in_1"],
            "at": "2026-12-01T23:50:00Z",
            "reason": "payment_failed",
        },
    )


def test_a_stripe_subscription_tells_what_it_knows() -> None:
    bare = stripe(ended_at=None, latest_invoice=None, cancellation_details=None)
    assert only(translate(event("customer.subscription.deleted", bare)))[1] == {
        "subscription_id": "sub_1",
        "customer_id": "cus_1",
        "at": "2026-12-02T00:00:00Z",
    }
    _, prefixed = only(translate(event("customer.subscription.deleted", stripe()), prefix="eu-"))
    assert prefixed["customer_id"] == "eu-cus_1"
    assert prefixed["invoice_ids"] == ["eu-in_1"]


@pytest.mark.parametrize("status", ["active", "past_due", "trialing", "unpaid", "paused"])
def test_a_stripe_subscription_that_lives_on_changes_nothing(status: str) -> None:
    for kind in ("created", "updated"):
        body = event(f"customer.subscription.{kind}", stripe(status=status))
        assert translate(body) == IGNORED
    ending = stripe(status="active", cancel_at_period_end=True)
    assert translate(event("customer.subscription.updated", ending)) == IGNORED
    assert translate(event("customer.subscription.trial_will_end", stripe())) == IGNORED


@pytest.mark.parametrize(
    "where",
    [
        {"subscription": "sub_1"},
        {"subscription": {"id": "sub_1"}},
        {"parent": {"subscription_details": {"subscription": "sub_1"}}},
    ],
)
def test_a_failed_payment_names_the_subscription_that_is_billed(where: dict[str, Any]) -> None:
    _, failed = translate(event("invoice.payment_failed", invoice(**where))).facts
    assert failed.data["subscription_id"] == "sub_1"
    _, plain = translate(event("invoice.payment_failed", invoice(parent=LEFT_OUT))).facts
    assert "subscription_id" not in plain.data


def chargebee(kind: str, **changes: object) -> Translation:
    subscription = {
        "id": "S1",
        "customer_id": "C1",
        "status": "cancelled",
        "cancelled_at": 1796169000,
        "cancel_reason": "not_paid",
        **changes,
    }
    body = {
        "id": "ev_1",
        "event_type": kind,
        "occurred_at": 1796169600,
        "api_version": "v2",
        "content": {"subscription": subscription, "invoice": {"id": "7"}},
    }
    return known("chargebee").translate({}, json.dumps(body).encode(), settings("chargebee"))


@pytest.mark.parametrize(
    "kind",
    ["subscription_cancelled", "subscription_canceled_with_backdating", "subscription_deleted"],
)
def test_a_subscription_of_chargebee_ended(kind: str) -> None:
    assert only(chargebee(kind)) == (
        "subscription.ended",
        {
            "subscription_id": "S1",
            "customer_id": "C1",
            "invoice_ids": ["7"],
            "at": "2026-12-01T23:50:00Z",
            "reason": "not_paid",
        },
    )
    deleted = only(chargebee(kind, status="active", deleted=True, cancelled_at=None))
    assert deleted[0] == "subscription.ended"


def test_a_subscription_of_chargebee_lives_on() -> None:
    kind, data = only(chargebee("subscription_reactivated", status="active", cancelled_at=None))
    assert (kind, data["at"], "reason" in data) == (
        "subscription.resumed",
        "2026-12-02T00:00:00Z",
        False,
    )
    for other in ("subscription_changed", "subscription_renewed", "subscription_cancelling"):
        assert chargebee(other) == IGNORED


RECURLY = """<?xml version="1.0" encoding="UTF-8"?>
<{kind}_notification>
  <account><account_code>A1</account_code><email></email></account>
  <subscription>
    <uuid>44f83d7cba354d5b84812419f923ea96</uuid>
    <state>{state}</state>
    <canceled_at type="datetime">2026-11-20T10:00:00Z</canceled_at>
    <expires_at type="datetime">2026-12-01T10:00:00Z</expires_at>
  </subscription>
</{kind}_notification>"""


def recurly(kind: str, state: str) -> Translation:
    body = RECURLY.format(kind=kind, state=state).encode()
    return known("recurly").translate({}, body, settings("recurly"))


@pytest.mark.parametrize(
    ("kind", "state", "at"),
    [
        ("canceled_subscription", "canceled", "2026-11-20T10:00:00Z"),
        ("expired_subscription", "expired", "2026-12-01T10:00:00Z"),
    ],
)
def test_a_subscription_of_recurly_ended(kind: str, state: str, at: str) -> None:
    assert only(recurly(kind, state)) == (
        "subscription.ended",
        {
            "subscription_id": "44f83d7cba354d5b84812419f923ea96",
            "customer_id": "A1",
            "at": at,
        },
    )


def test_a_subscription_of_recurly_lives_on() -> None:
    told = recurly("reactivated_account", "active")
    (fact,) = told.facts
    assert told == Translation(facts=(fact,), ignored="irrelevant_event")
    assert (fact.type, fact.time, "at" in fact.data) == ("subscription.resumed", None, False)
    bare = b"<reactivated_account_notification><account/></reactivated_account_notification>"
    ignored = known("recurly").translate({}, bare, settings("recurly")).ignored
    assert ignored == "names_no_subscription"


@pytest.mark.parametrize("event_type", ["canceled", "expired", "reactivated"])
def test_a_hint_of_recurly_is_fetched(event_type: str) -> None:
    body = {"object_type": "subscription", "event_type": event_type, "id": "s0", "uuid": "44f8"}
    told = known("recurly").translate({}, json.dumps(body).encode(), settings("recurly"))
    assert told == Translation(refresh=(Refresh("recurly", "subscription", "uuid-44f8"),))
    api, access = APIS["recurly"], ApiAccess("https://v3.recurly.com", "key")
    assert address_of(api, access, "subscription", "uuid-44f8") == (
        "https://v3.recurly.com/subscriptions/uuid-44f8"
    )
    other = json.dumps(body | {"event_type": "renewed"}).encode()
    assert known("recurly").translate({}, other, settings("recurly")) == IGNORED


@pytest.mark.parametrize(
    ("state", "kind", "at"),
    [
        ("expired", "subscription.ended", "2026-12-01T10:00:00Z"),
        ("canceled", "subscription.ended", "2026-11-20T10:00:00Z"),
        ("active", "subscription.resumed", "2026-12-02T10:00:00Z"),
    ],
)
def test_what_recurlys_api_says_of_a_subscription(state: str, kind: str, at: str) -> None:
    what = {
        "id": "s0",
        "uuid": "44f8",
        "state": state,
        "account": {"code": "A1"},
        "canceled_at": "2026-11-20T10:00:00Z",
        "expires_at": "2026-12-01T10:00:00Z",
        "updated_at": "2026-12-02T10:00:00Z",
    }
    body = json.dumps(what).encode()
    told = APIS["recurly"].translate("subscription", body, settings("recurly"))
    assert only(told) == (kind, {"subscription_id": "44f8", "customer_id": "A1", "at": at})
    paused = json.dumps(what | {"state": "paused"}).encode()
    assert APIS["recurly"].translate("subscription", paused, settings("recurly")) == IGNORED
