"""Recurly's notifications: states, payments on their way, credits, hints, fetched answers."""

import json
from datetime import UTC, datetime

import pytest

from api.webhooks.provider import Refresh, Translation
from api.webhooks.providers.recurly_fetched import API_PATHS, translate_fetched
from tests.unit.webhooks.bodies import known, sample, settings

INVOICE = sample("recurly/new_charge_invoice_notification.xml").decode()
PAYMENT = sample("recurly/successful_payment_notification.xml").decode()


def translate(body: str, **changes: object) -> Translation:
    """The translation of one notification."""
    return known("recurly").translate({}, body.encode(), settings("recurly", **changes))


def changed(body: str, *pairs: tuple[str, str]) -> str:
    """The body with each first text replaced by its second; each must be there."""
    for old, new in pairs:
        assert old in body
        body = body.replace(old, new)
    return body


def renamed(body: str, name: str) -> str:
    """The body under another root element."""
    root = body.partition("\n<")[2].partition(">")[0]
    return body.replace(f"<{root}>", f"<{name}>").replace(f"</{root}>", f"</{name}>")


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("pending", "open"),
        ("open", "open"),
        ("past_due", "open"),
        ("PAST_DUE", "open"),
        ("paid", "paid"),
        ("collected", "paid"),
        ("failed", "uncollectible"),
        ("voided", "void"),
    ],
)
@pytest.mark.parametrize("root", ["updated_charge_invoice", "reopened_charge_invoice"])
def test_the_state_counts_whatever_the_notification_is_called(
    root: str, state: str, status: str
) -> None:
    body = changed(INVOICE, ("<state>pending</state>", f"<state>{state}</state>"))
    (fact,) = translate(renamed(body, f"{root}_notification")).facts
    assert (fact.type, fact.data["status"]) == ("invoice.observed", status)


def test_an_invoice_in_processing_has_a_payment_on_its_way() -> None:
    body = changed(INVOICE, ("<state>pending</state>", "<state>processing</state>"))
    snapshot, payment = translate(body).facts
    assert snapshot.data["status"] == "open"
    assert payment.type == "invoice.payment"
    assert payment.data == {
        "invoice_id": "42feb03ce368c0e1ead35d4bfa89b82e",
        "payment_id": "processing:2018-02-13T16:00:04Z",
        "amount": 100000,
        "state": "pending",
    }


@pytest.mark.parametrize(
    "pair",
    [
        ("<currency>USD</currency>", "<currency>JPY</currency>"),
        ("<currency>USD</currency>", "<currency>KWD</currency>"),
        ('<balance_in_cents type="integer">100000</balance_in_cents>', ""),
    ],
)
def test_what_the_notification_does_not_tell_is_fetched(pair: tuple[str, str]) -> None:
    hint = Refresh("recurly", "invoice", "2405")
    assert translate(changed(INVOICE, pair)) == Translation(refresh=(hint,))


def test_a_number_keeps_its_prefix() -> None:
    body = changed(
        INVOICE,
        ("<currency>USD</currency>", "<currency>JPY</currency>"),
        ("<invoice_number_prefix />", "<invoice_number_prefix>EU-</invoice_number_prefix>"),
    )
    assert translate(body).refresh == (Refresh("recurly", "invoice", "EU-2405"),)


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        ((">100000</total_in_cents>", ">1000.5</total_in_cents>"), "bad_amount"),
        ((">100000</total_in_cents>", ">-9007199254740992</total_in_cents>"), "bad_amount"),
        ((">100000</total_in_cents>", ">9007199254740992</total_in_cents>"), "bad_amount"),
        (('<total_in_cents type="integer">', "<total_in_cents>"), "bad_amount"),
        (("<currency>USD</currency>", "<currency>DOL</currency>"), "unknown_currency"),
        (("2018-03-16T15:00:04Z", "0000-01-01T00:00:00Z"), "bad_date"),
        (("2018-03-16T15:00:04Z", "9999-12-31T23:59:59Z"), "bad_date"),
        (("2018-03-16T15:00:04Z", "2018-02-30T00:00:00Z"), "bad_date"),
        (("2018-03-16T15:00:04Z", "2018-03-16T15:00:04"), "bad_date"),
        (("<state>pending</state>", "<state>lost</state>"), "unknown_status"),
        (("<uuid>42feb03ce368c0e1ead35d4bfa89b82e</uuid>", "<uuid/>"), "missing_field"),
        (("<account_code>1234</account_code>", ""), "missing_field"),
        (
            ("<currency>USD</currency>", "<currency>USD</currency><currency>EUR</currency>"),
            "malformed_xml",
        ),
    ],
)
def test_what_cannot_be_used_is_rejected(pair: tuple[str, str], kind: str) -> None:
    translation = translate(changed(INVOICE, pair))
    assert [rejected.kind for rejected in translation.rejected] == [kind]
    assert translation.facts == ()


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("success", "succeeded"),
        ("SUCCESS", "succeeded"),
        ("Processing", "pending"),
        ("scheduled", "pending"),
        ("declined", "failed"),
        ("void", None),
    ],
)
def test_the_status_of_a_payment_is_read_in_any_case(status: str, state: str | None) -> None:
    translation = translate(changed(PAYMENT, ("<status>success<", f"<status>{status}<")))
    if state is None:
        assert translation == Translation(ignored="changes_no_balance")
        return
    payment = translation.facts[0]
    assert (payment.type, payment.data["state"]) == ("invoice.payment", state)
    assert payment.time == datetime(2009, 11, 22, 13, 10, 38, tzinfo=UTC)


def test_a_failed_payment_is_noted() -> None:
    body = renamed(
        changed(PAYMENT, ("<status>success<", "<status>declined<")), "failed_payment_notification"
    )
    _, failure = translate(body).facts
    assert failure.type == "invoice.payment_failed"
    assert failure.data == {
        "invoice_id": "1974a09kj90s0789dsf099798326881c",
        "event_id": failure.id.removesuffix(":failed"),
        "attempt_id": "a5143c1d3a6f4a8287d0e2cc1d4c0427",
    }


def test_a_voided_payment_is_a_refund() -> None:
    (fact,) = translate(renamed(PAYMENT, "void_payment_notification")).facts
    assert fact.type == "invoice.refund_noted"


def test_a_payment_of_no_invoice_is_ignored() -> None:
    invoice = "<invoice_id>1974a09kj90s0789dsf099798326881c</invoice_id>"
    for root in ("successful_payment_notification", "successful_refund_notification"):
        body = renamed(changed(PAYMENT, (invoice, "")), root)
        assert translate(body) == Translation(ignored="names_no_invoice")


def test_real_payments_are_ignored_in_test_mode() -> None:
    real = changed(PAYMENT, ('<test type="boolean">true', '<test type="boolean">false'))
    assert translate(real, mode="test") == Translation(ignored="other_mode")
    assert len(translate(real, mode="live").facts) == 1


@pytest.mark.parametrize("root", ["new_credit_payment", "voided_credit_payment"])
def test_a_credit_payment_leads_to_the_invoices_it_names(root: str) -> None:
    body = (
        f"<{root}_notification><credit_payment><uuid>u</uuid>"
        '<applied_to_invoice_number type="integer">1001</applied_to_invoice_number>'
        '<original_invoice_number type="integer">1000</original_invoice_number>'
        f"</credit_payment></{root}_notification>"
    )
    hints = (Refresh("recurly", "invoice", "1001"), Refresh("recurly", "invoice", "1000"))
    assert translate(body) == Translation(refresh=hints)
    none = f"<{root}_notification><credit_payment/></{root}_notification>"
    assert translate(none).facts == ()


@pytest.mark.parametrize("root", ["new_account", "updated_account"])
def test_an_account_is_fetched_as_its_notification_has_no_time(root: str) -> None:
    account = "<account><account_code>7</account_code></account>"
    body = f"<{root}_notification>{account}</{root}_notification>"
    assert translate(body) == Translation(refresh=(Refresh("recurly", "account", "7"),))


@pytest.mark.parametrize(
    "root",
    [
        "new_subscription",
        "renewed_subscription",
        "canceled_account",
        "updated_balance_gift_card",
        "new_usage",
        "closed_credit_invoice",
        "billing_info_updated",
        "unheard_of_subscription",
    ],
)
def test_notifications_that_cannot_touch_money_are_ignored(root: str) -> None:
    assert translate(f"<{root}_notification/>") == Translation(ignored="irrelevant_event")


@pytest.mark.parametrize(
    "root",
    [
        "unheard_of_invoice",
        "unheard_of_payment",
        "refunded_subscription_payment",
        "unheard_of",
        "subscription_charge_failed",
    ],
)
def test_notifications_that_could_touch_money_are_alerted_on(root: str) -> None:
    (rejected,) = translate(f"<{root}_notification/>").rejected
    assert rejected.kind == "unknown_money_event"


def hint(**members: object) -> Translation:
    """The translation of a JSON notification."""
    return translate(json.dumps({"id": "n1", "event_type": "created"} | members))


@pytest.mark.parametrize("number", [1031, "1031", "EU-1031"])
def test_a_json_notification_names_what_to_fetch(number: object) -> None:
    expected = (Refresh("recurly", "invoice", str(number)),)
    assert hint(object_type="charge_invoice", invoice_number=number).refresh == expected
    assert hint(object_type="account", account_code="7").refresh == (
        Refresh("recurly", "account", "7"),
    )
    assert hint(object_type="credit_payment", uuid="u").refresh == (
        Refresh("recurly", "credit_payment", "u"),
    )


@pytest.mark.parametrize("number", [None, "", -1, 1.5, True, [1], "x" * 256, 10**20])
def test_a_json_notification_without_a_number_is_rejected(number: object) -> None:
    translation = hint(object_type="charge_invoice", invoice_number=number)
    assert (translation.refresh, len(translation.rejected)) == ((), 1)


def test_json_types_that_nobody_knows_are_alerted_on() -> None:
    assert hint(object_type="subscription") == Translation(ignored="irrelevant_event")
    (rejected,) = hint(object_type="unheard_of").rejected
    assert rejected.kind == "unknown_money_event"


FETCHED: dict[str, object] = {
    "id": "inv1",
    "uuid": "42feb03ce368c0e1ead35d4bfa89b82e",
    "type": "charge",
    "state": "past_due",
    "account": {"code": "1234", "email": "pat@example.com"},
    "currency": "USD",
    "total": 83.79,
    "balance": 3.0,
    "created_at": "2018-02-13T16:00:04Z",
    "updated_at": "2018-03-17T15:00:11Z",
    "due_at": "2018-03-16T15:00:04Z",
}


def fetched(kind: str = "invoice", /, **changes: object) -> Translation:
    """The translation of a fetched invoice, or of another object with these members."""
    members = FETCHED | changes if kind == "invoice" else changes
    return translate_fetched(kind, json.dumps(members).encode(), settings("recurly", prefix="p-"))


def test_a_fetched_invoice_is_a_snapshot_in_minor_units() -> None:
    (fact,) = fetched().facts
    assert fact.id == "fetched:inv1:2018-03-17T15:00:11Z"
    assert fact.data == {
        "invoice_id": "p-42feb03ce368c0e1ead35d4bfa89b82e",
        "customer_id": "p-1234",
        "email": "pat@example.com",
        "currency": "USD",
        "total": 8379,
        "amount_remaining": 300,
        "status": "open",
        "due_on": "2018-03-16",
        "issued_on": "2018-02-13",
        "observed_at": "2018-03-17T15:00:11Z",
        "precision": "second",
        "payment_in_flight": False,
    }


@pytest.mark.parametrize(
    ("currency", "amount", "minor"),
    [
        ("USD", 0.29, 29),
        ("USD", 1.1, 110),
        ("USD", 1e2, 10000),
        ("JPY", 500, 500),
        ("JPY", 500.0, 500),
        ("KWD", 5.124, 5124),
        ("USD", 70368744177.66, 7036874417766),
    ],
)
def test_floats_become_whole_minor_units(currency: str, amount: float, minor: int) -> None:
    (fact,) = fetched(currency=currency, total=amount, balance=amount).facts
    assert (fact.data["total"], fact.data["amount_remaining"]) == (minor, minor)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"total": 1.001}, "bad_amount"),
        ({"total": -1e300}, "bad_amount"),
        ({"total": "1.00"}, "bad_amount"),
        ({"total": True}, "bad_amount"),
        ({"total": 1e300}, "bad_amount"),
        ({"currency": "JPY", "total": 1.5}, "bad_amount"),
        ({"currency": "XYZ"}, "unknown_currency"),
        ({"state": "lost"}, "unknown_status"),
        ({"updated_at": None}, "missing_field"),
        ({"account": None}, "missing_field"),
    ],
)
def test_a_fetched_invoice_that_cannot_be_used_is_rejected(
    changes: dict[str, object], kind: str
) -> None:
    translation = fetched(**changes)
    assert [rejected.kind for rejected in translation.rejected] == [kind]


def test_other_fetched_objects_lead_on() -> None:
    number = {"number": "1031"}
    lead = Translation(refresh=(Refresh("recurly", "invoice", "1031"),))
    assert fetched("payment", invoice=number) == lead
    assert fetched("credit_payment", applied_to_invoice=number) == lead
    assert fetched("payment", invoice=None) == Translation(ignored="names_no_invoice")
    assert fetched(type="credit") == Translation(ignored="changes_no_balance")
    assert translate_fetched("payment", b"<html>", settings()).rejected[0].kind == "malformed_json"


def test_a_fetched_account_gives_its_address() -> None:
    account = {"id": "a1", "code": "1234", "email": "pat@example.com"}
    (fact,) = fetched("account", **account, updated_at="2018-03-17T15:00:11Z").facts
    assert (fact.type, fact.data) == (
        "customer.observed",
        {"customer_id": "p-1234", "emails": ["pat@example.com"]},
    )
    assert fact.time == datetime(2018, 3, 17, 15, 0, 11, tzinfo=UTC)


def test_every_kind_of_hint_has_a_path() -> None:
    assert API_PATHS["invoice"].format("EU-1031") == "/invoices/number-EU-1031"
    by_object = {"invoice", "credit_invoice", "payment", "credit_payment", "account"}
    assert set(API_PATHS) == by_object | {"subscription"}
