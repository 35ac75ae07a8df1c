"""Checks every translation: valid facts, and rejections without values of the body."""

import json
import re
from datetime import UTC, date, datetime

from api.webhooks.provider import Fact, Translation
from ledger.domain.money import CURRENCIES, LARGEST_AMOUNT

KINDS = {
    "bad_amount",
    "bad_date",
    "bad_text",
    "delivery_failed",
    "duplicate_json_key",
    "invoice_without_customer",
    "malformed_json",
    "malformed_xml",
    "missing_field",
    "subscription_confirmation_needed",
    "subscription_removed",
    "unknown_currency",
    "unknown_money_event",
    "unknown_status",
    "unusable_address",
    "wrong_form",
    "wrong_type",
}
IGNORED = {
    "answer_to_a_send",
    "changes_no_balance",
    "customer_without_address",
    "dashboard_test_event",
    "irrelevant_event",
    "list_of_webhook_deliveries",
    "names_no_customer",
    "names_no_invoice",
    "names_no_subscription",
    "other_mode",
    "temporary_bounce",
    "told_by_the_invoice",
}
REQUIRED = {
    "invoice.observed": {"invoice_id", "currency", "total", "amount_remaining", "status", "due_on"},
    "invoice.payment": {"invoice_id", "payment_id", "amount", "state"},
    "invoice.credit": {"invoice_id", "credit_id", "amount"},
    "invoice.hold": {"invoice_id", "reason"},
    "invoice.unhold": {"invoice_id", "reason"},
    "invoice.payment_failed": {"invoice_id", "event_id"},
    "invoice.refund_noted": {"invoice_id", "refund_id"},
    "customer.observed": {"customer_id", "emails"},
    "subscription.ended": {"subscription_id", "customer_id"},
    "subscription.resumed": {"subscription_id", "customer_id"},
    "address.hold": {"address", "reason"},
    "address.unhold": {"address", "reason", "told_by"},
    "thread.message": {"thread_id", "message_id", "direction", "from", "at"},
    "send.observed": {"customer_id", "at"},
    "delivery": {"provider", "event"},
}
OPTIONAL = {
    "invoice.observed": {
        "customer_id",
        "email",
        "issued_on",
        "observed_at",
        "payment_in_flight",
        "precision",
        "version",
    },
    "invoice.payment_failed": {"attempt_id", "subscription_id"},
    "subscription.ended": {"invoice_ids", "at", "reason"},
    "subscription.resumed": {"invoice_ids", "at"},
    "address.hold": {"kinds"},
    "address.unhold": {"kinds"},
    "thread.message": {"to", "references", "headers", "return_path", "reply_to"},
    "send.observed": {"invoice_id"},
    "delivery": {"provider_message_id", "message_id", "recipient", "send_token"},
}
MAY_BE_OF_ARRIVAL = {"delivery", "address.hold", "address.unhold", "subscription.resumed"}
"""Facts that a provider tells without a time, too."""
WORDS = {
    "status": {"draft", "open", "paid", "void", "uncollectible"},
    "precision": {"second"},
    "state": {"pending", "succeeded", "failed", "reversed"},
    "direction": {"inbound", "outbound"},
    "event": {"delivered", "bounced", "complained"},
}
FIRST, LAST = date(1990, 1, 1), date(2199, 12, 31)


def assert_acceptable(translation: Translation) -> None:
    """Every fact is one that the ledger takes, and no rejection tells a value of the body."""
    for fact in translation.facts:
        assert_fact(fact)
    assert len({fact.id for fact in translation.facts}) == len(translation.facts)
    for rejected in translation.rejected:
        assert rejected.kind in KINDS
        assert re.fullmatch(r"[A-Za-z0-9 _.,:;'/()-]{1,160}", rejected.detail)
    assert translation.ignored is None or translation.ignored in IGNORED
    for hint in translation.refresh:
        assert_text(hint.object_id)


def assert_fact(fact: Fact) -> None:
    """The fact has the fields of its type and nothing else, each within its bounds."""
    assert_text(fact.id)
    assert_text(fact.source)
    assert fact.time is not None or fact.type in MAY_BE_OF_ARRIVAL
    if fact.time is not None:
        assert fact.time.tzinfo is not None
        assert FIRST <= fact.time.astimezone(UTC).date() <= LAST
    given = set(fact.data)
    assert REQUIRED[fact.type] <= given <= REQUIRED[fact.type] | OPTIONAL.get(fact.type, set())
    for name, value in fact.data.items():
        assert_field(name, value)
    json.dumps(fact.cloud_event(), allow_nan=False).encode("utf-8", "strict")


def assert_field(name: str, value: object) -> None:
    """One field of a fact."""
    if name in ("total", "amount_remaining", "version", "amount"):
        assert type(value) is int
        assert abs(value) <= LARGEST_AMOUNT
        assert value >= 0 or name != "version"
    elif name == "payment_in_flight":
        assert value is False
    elif name in ("due_on", "issued_on"):
        assert value is None or FIRST <= date.fromisoformat(str(value)) <= LAST
    elif name in ("at", "observed_at"):
        assert isinstance(value, str)
        assert FIRST <= datetime.fromisoformat(value).date() <= LAST
    elif name == "currency":
        assert value in CURRENCIES
    elif name in WORDS:
        assert value in WORDS[name]
    elif name in ("emails", "references", "kinds", "invoice_ids"):
        assert isinstance(value, list)
        assert len(value) <= 100
        for item in value:
            assert_text(item)
    elif name == "headers":
        assert isinstance(value, dict)
        for text in value.values():
            assert len(text) <= 255
            assert text.isprintable()
    elif name == "return_path":
        assert isinstance(value, str)
        assert len(value) <= 255
        assert value.isprintable()
    else:
        assert_text(value)


def assert_text(value: object) -> None:
    """An id or word as the contract takes it."""
    assert isinstance(value, str)
    assert 0 < len(value) <= 255
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", value)
