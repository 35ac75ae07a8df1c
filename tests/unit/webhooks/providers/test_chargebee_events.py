"""Chargebee's events: versions, write-offs, payments on their way, credits, reminders, types."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from api.webhooks.provider import Translation
from api.webhooks.providers.chargebee_types import (
    CREDIT_NOTES,
    CUSTOMERS,
    OTHER_TYPES,
    SNAPSHOTS,
    TRANSACTIONS,
)
from tests.unit.webhooks.bodies import known, settings

OCCURRED = 1796169600
VERSION = OCCURRED * 1000 + 250
INVOICE: dict[str, object] = {
    "id": "19",
    "customer_id": "cus_1",
    "status": "payment_due",
    "date": 1793491200,
    "due_date": 1796083199,
    "currency_code": "EUR",
    "total": 5000,
    "amount_due": 1500,
    "write_off_amount": 0,
    "updated_at": OCCURRED,
    "resource_version": VERSION,
    "deleted": False,
}
TRANSACTION: dict[str, object] = {
    "id": "txn_1",
    "type": "payment",
    "status": "success",
    "updated_at": OCCURRED,
    "linked_invoices": [
        {"invoice_id": "19", "applied_amount": 3500, "applied_at": OCCURRED},
    ],
}
NOTE: dict[str, object] = {
    "id": "CN-1",
    "type": "adjustment",
    "reason_code": "order_change",
    "reference_invoice_id": "19",
    "total": 700,
    "date": OCCURRED - 100,
    "updated_at": OCCURRED,
    "deleted": False,
}


def translate(kind: str, content: Mapping[str, object], **changes: object) -> Translation:
    """The translation of one event."""
    body = {"id": "ev_1", "occurred_at": OCCURRED, "event_type": kind, "content": content}
    configured = settings("chargebee", **changes)
    return known("chargebee").translate({}, json.dumps(body).encode(), configured)


def invoice(kind: str = "invoice_updated", /, **changes: object) -> dict[str, object]:
    """The data of the one snapshot that this invoice becomes."""
    (fact,) = translate(kind, {"invoice": INVOICE | changes}).facts
    return fact.data


def told(translation: Translation) -> list[tuple[str, dict[str, object]]]:
    """Types and data of the facts."""
    return [(fact.type, fact.data) for fact in translation.facts]


@pytest.mark.parametrize(
    ("changes", "status", "remaining"),
    [
        ({"status": "pending"}, "draft", 1500),
        ({"status": "posted"}, "open", 1500),
        ({"status": "payment_due"}, "open", 1500),
        ({"status": "not_paid"}, "open", 1500),
        ({"status": "paid", "amount_due": 0}, "paid", 0),
        ({"status": "voided", "amount_due": 0}, "void", 0),
        ({"status": "not_paid", "deleted": True}, "void", 1500),
        ({"status": "paid", "amount_due": 0, "write_off_amount": 1500}, "uncollectible", 1500),
        ({"status": "not_paid", "write_off_amount": 0}, "open", 1500),
    ],
)
def test_the_status_is_what_is_owed_and_written_off_is_not_paid(
    changes: dict[str, object], status: str, remaining: int
) -> None:
    data = invoice(**changes)
    assert (data["status"], data["amount_remaining"]) == (status, remaining)


def test_an_invoice_deleted_is_void_though_it_says_not_paid() -> None:
    assert invoice("invoice_deleted", status="not_paid")["status"] == "void"


@pytest.mark.parametrize(
    ("changes", "observed_at", "version"),
    [
        ({}, "2026-12-02T00:00:00.250000Z", VERSION),
        ({"resource_version": None}, "2026-12-02T00:00:00Z", None),
        ({"resource_version": None, "updated_at": OCCURRED - 60}, "2026-12-01T23:59:00Z", None),
        ({"resource_version": None, "updated_at": None}, "2026-12-02T00:00:00Z", None),
    ],
)
def test_snapshots_are_ordered_by_their_version(
    changes: dict[str, object], observed_at: str, version: int | None
) -> None:
    data = invoice(**changes)
    assert (data["observed_at"], data.get("version")) == (observed_at, version)


def test_a_pending_invoice_is_not_issued_and_dates_are_days_in_utc() -> None:
    assert invoice()["issued_on"] == "2026-11-01"
    assert invoice()["due_on"] == "2026-11-30"
    assert "issued_on" not in invoice("pending_invoice_created", status="pending")
    assert invoice(due_date=None)["due_on"] is None


def test_the_customer_beside_the_invoice_gives_its_address() -> None:
    customer = {"id": "cus_1", "email": "pat@example.com"}
    (fact,) = translate("invoice_updated", {"invoice": INVOICE, "customer": customer}).facts
    assert fact.data["email"] == "pat@example.com"
    other = {"id": "cus_2", "email": "sam@example.com"}
    (fact,) = translate("invoice_updated", {"invoice": INVOICE, "customer": other}).facts
    assert "email" not in fact.data


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("in_progress", "pending"),
        ("needs_attention", "pending"),
        ("success", "succeeded"),
        ("failure", "failed"),
        ("timeout", "failed"),
        ("voided", "failed"),
        ("late_failure", "reversed"),
    ],
)
@pytest.mark.parametrize("kind", sorted(TRANSACTIONS))
def test_a_transaction_is_a_payment_of_each_invoice_it_names(
    kind: str, status: str, state: str
) -> None:
    links = [
        {"invoice_id": "19", "applied_amount": 3500, "applied_at": OCCURRED - 9},
        {"invoice_id": "20", "applied_amount": 10, "applied_at": OCCURRED - 9},
    ]
    transaction = TRANSACTION | {"status": status, "linked_invoices": links}
    translation = translate(kind, {"transaction": transaction})
    base = {"payment_id": "txn_1", "state": state}
    assert told(translation) == [
        ("invoice.payment", {"invoice_id": "19", "amount": 3500, **base}),
        ("invoice.payment", {"invoice_id": "20", "amount": 10, **base}),
    ]
    assert [fact.id for fact in translation.facts] == ["ev_1:payment:19", "ev_1:payment:20"]
    late = 9 if state == "succeeded" else 0
    for fact in translation.facts:
        assert fact.time == datetime.fromtimestamp(OCCURRED - late, UTC)


def test_a_deleted_transaction_no_longer_counts() -> None:
    transaction = TRANSACTION | {"deleted": True}
    ((_, data),) = told(translate("transaction_deleted", {"transaction": transaction}))
    assert data["state"] == "failed"


@pytest.mark.parametrize("kind", ["authorization", "payment_reversal"])
def test_other_transactions_are_told_by_the_invoice(kind: str) -> None:
    translation = translate("transaction_created", {"transaction": TRANSACTION | {"type": kind}})
    assert translation == Translation(ignored="names_no_invoice")


def test_money_that_the_snapshot_holds_is_not_counted_twice() -> None:
    content = {"invoice": INVOICE, "transaction": TRANSACTION}
    snapshot, payment = translate("payment_succeeded", content).facts
    assert payment.time is not None
    assert snapshot.time is not None
    assert payment.time < snapshot.time
    content["invoice"] = INVOICE | {"resource_version": OCCURRED * 1000}
    snapshot, payment = translate("payment_succeeded", content).facts
    assert snapshot.data["precision"] == "second"
    assert payment.time == snapshot.time
    content["invoice"] = INVOICE | {"resource_version": (OCCURRED - 1) * 1000}
    (snapshot,) = translate("payment_succeeded", content).facts
    assert snapshot.type == "invoice.observed"


def test_a_payment_on_its_way_is_told_beside_the_snapshot() -> None:
    transaction = TRANSACTION | {"status": "in_progress"}
    content = {"invoice": INVOICE | {"resource_version": OCCURRED * 1000}}
    _, payment = translate("payment_initiated", content | {"transaction": transaction}).facts
    assert payment.data["state"] == "pending"


def test_a_failure_of_an_invoice_paid_by_now_is_no_failure() -> None:
    paid = INVOICE | {"status": "paid", "amount_due": 0}
    content = {"invoice": paid, "transaction": TRANSACTION | {"status": "failure"}}
    assert [kind for kind, _ in told(translate("payment_failed", content))] == [
        "invoice.observed",
        "invoice.payment",
    ]


def test_an_adjustment_lowers_its_invoice_once_however_often_it_is_edited() -> None:
    facts = [
        translate(kind, {"credit_note": NOTE}).facts[0]
        for kind in ("credit_note_created", "credit_note_updated")
    ]
    for fact in facts:
        assert fact.type == "invoice.credit"
        assert fact.data == {"invoice_id": "19", "credit_id": "CN-1", "amount": 700}
        assert fact.time == datetime.fromtimestamp(OCCURRED - 100, UTC)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [("credit_note_deleted", {}), ("credit_note_updated", {"deleted": True})],
)
def test_a_deleted_adjustment_takes_the_credit_back(kind: str, changes: dict[str, object]) -> None:
    (fact,) = translate(kind, {"credit_note": NOTE | changes}).facts
    assert fact.data == {"invoice_id": "19", "credit_id": "CN-1", "amount": -700}
    assert fact.time == datetime.fromtimestamp(OCCURRED, UTC)


def test_a_refundable_credit_lowers_the_invoices_that_it_is_allocated_to() -> None:
    allocations = [
        {"invoice_id": "21", "allocated_amount": 300, "allocated_at": OCCURRED - 50},
        {"invoice_id": "21", "allocated_amount": 400, "allocated_at": OCCURRED - 40},
    ]
    note = NOTE | {"type": "refundable", "allocations": allocations}
    facts = translate("credit_note_updated", {"credit_note": note}).facts
    assert [(fact.data["invoice_id"], fact.data["amount"]) for fact in facts] == [
        ("21", 300),
        ("21", 400),
    ]
    assert len({fact.data["credit_id"] for fact in facts}) == 2
    assert len({fact.id for fact in facts}) == 2


@pytest.mark.parametrize("kind", sorted(CREDIT_NOTES))
def test_a_write_off_is_told_by_the_invoice(kind: str) -> None:
    translation = translate(kind, {"credit_note": NOTE | {"reason_code": "write_off"}})
    assert translation == Translation(ignored="told_by_the_invoice")


def test_a_refund_is_noted_on_the_invoices_it_belongs_to() -> None:
    links = [{"cn_reference_invoice_id": "19"}, {"cn_reference_invoice_id": "19"}, {}]
    refund = {"id": "txn_2", "type": "refund", "status": "success", "linked_credit_notes": links}
    assert told(translate("transaction_created", {"transaction": refund})) == [
        ("invoice.refund_noted", {"invoice_id": "19", "refund_id": "txn_2"})
    ]


@pytest.mark.parametrize("kind", ["payment_due_reminder", "netd_payment_due_reminder"])
def test_chargebees_own_reminder_counts_as_a_mail(kind: str) -> None:
    _, sent = told(translate(kind, {"invoice": INVOICE}))
    assert sent == (
        "send.observed",
        {"customer_id": "cus_1", "invoice_id": "19", "at": "2026-12-02T00:00:00Z"},
    )
    assert len(translate(kind, {"invoice": INVOICE}, reminders=False).facts) == 1


@pytest.mark.parametrize(
    ("dunning", "kind"),
    [("stopped", "invoice.hold"), ("in_progress", "invoice.unhold"), ("exhausted", None)],
)
def test_dunning_stopped_by_hand_is_a_hold(dunning: str, kind: str | None) -> None:
    facts = told(translate("dunning_updated", {"invoice": INVOICE | {"dunning_status": dunning}}))
    hold = {"invoice_id": "19", "reason": "dunning stopped in Chargebee"}
    assert facts[1:] == ([(kind, hold)] if kind else [])


@pytest.mark.parametrize("kind", sorted(CUSTOMERS))
def test_a_customers_address_is_observed(kind: str) -> None:
    customer = {"id": "cus_1", "email": "pat@example.com"}
    assert told(translate(kind, {"customer": customer}, prefix="eu-")) == [
        ("customer.observed", {"customer_id": "eu-cus_1", "emails": ["pat@example.com"]})
    ]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"total": 50.0}, "bad_amount"),
        ({"amount_due": -(2**53)}, "bad_amount"),
        ({"write_off_amount": "all", "status": "paid"}, "bad_amount"),
        ({"currency_code": "EURO"}, "unknown_currency"),
        ({"status": "lost"}, "unknown_status"),
        ({"resource_version": "x"}, "bad_date"),
        ({"resource_version": 1.5}, "bad_date"),
        ({"due_date": 10**15}, "bad_date"),
        ({"id": 19}, "wrong_type"),
        ({"customer_id": None}, "invoice_without_customer"),
    ],
)
def test_what_cannot_be_used_is_rejected(changes: dict[str, object], kind: str) -> None:
    translation = translate("invoice_updated", {"invoice": INVOICE | changes})
    assert [rejected.kind for rejected in translation.rejected] == [kind]
    assert translation.facts == ()


@pytest.mark.parametrize(
    "kind",
    [
        "invoice_unheard_of",
        "payment_unheard_of",
        "credit_note_x",
        "dispute_created",
        "new_thing",
        "customer_unheard_of",
        "refund_x",
    ],
)
def test_an_unknown_type_that_could_touch_money_is_alerted_on(kind: str) -> None:
    (rejected,) = translate(kind, {"invoice": INVOICE}).rejected
    assert rejected.kind == "unknown_money_event"


@pytest.mark.parametrize("kind", ["plan_unheard_of", "subscription_x", "payment_source_x"])
def test_an_unknown_type_that_cannot_touch_money_is_ignored(kind: str) -> None:
    assert translate(kind, {}) == Translation(ignored="irrelevant_event")


def test_allocations_of_one_second_to_one_invoice_are_told_apart() -> None:
    one = {"invoice_id": "19", "allocated_amount": 200, "allocated_at": OCCURRED}
    allocations = [one, one | {"allocated_amount": 300}, one | {"invoice_id": "20"}, one]
    note = NOTE | {"type": "refundable", "allocations": allocations}
    facts = translate("credit_note_updated", {"credit_note": note}).facts
    at = "2026-12-02T00:00:00Z"
    assert [(f.data["invoice_id"], f.data["credit_id"], f.data["amount"]) for f in facts] == [
        ("19", f"CN-1:{at}", 200),
        ("19", f"CN-1:{at}:2", 300),
        ("20", f"CN-1:{at}", 200),
        ("19", f"CN-1:{at}:3", 200),
    ]
    assert len({fact.id for fact in facts}) == 4


def test_a_payment_that_is_presented_again_is_pending_from_then_on() -> None:
    for number, status in enumerate(("in_progress", "failure", "in_progress")):
        changed = OCCURRED + number * 3600
        again = TRANSACTION | {"status": status, "updated_at": changed}
        (fact,) = translate("transaction_updated", {"transaction": again}).facts
        assert fact.time == datetime.fromtimestamp(changed, UTC)


KNOWN_TYPES = """add_usages_reminder addon_created alert_status_changed attached_item_updated
    authorization_succeeded authorization_voided business_entity_created card_expired
    contract_term_created coupon_codes_added coupon_created coupon_set_created
    customer_business_entity_changed customer_deleted customer_entitlements_updated
    customer_moved_in customer_moved_out differential_price_created
    entitlement_overrides_updated feature_created gift_claimed hierarchy_created item_created
    item_price_updated item_family_created mrr_updated omnichannel_subscription_created
    order_created payment_intent_created payment_schedules_created payment_source_added
    plan_created price_variant_created product_created promotional_credits_added
    purchase_created quote_created record_purchase_failed rule_created sales_order_created
    subscription_created subscription_renewed token_created unbilled_charges_invoiced
    usage_file_ingested variant_created virtual_bank_account_added voucher_created""".split()


@pytest.mark.parametrize("kind", KNOWN_TYPES)
def test_types_that_chargebee_documents_have_their_place(kind: str) -> None:
    assert translate(kind, {}) == Translation(ignored="irrelevant_event")


def test_what_is_translated_is_not_ignored() -> None:
    translated = SNAPSHOTS | TRANSACTIONS | CREDIT_NOTES | CUSTOMERS
    assert {kind for kind in translated if OTHER_TYPES.is_harmless(kind)} == set()
