"""Every sample body, posted: the result of each of its facts, and what the ledger makes of it."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.api.webhooks.posting import signed
from tests.api.webhooks.renaming import Renamed
from tests.support.service import Service
from tests.unit.webhooks.bodies import every_sample

_LADDER = ("day-3", "day-7", "day-14")


@dataclass(frozen=True)
class Owed:
    """An invoice after one body: amounts in minor units; `stages` are those that are not pending.

    `address` is the customer's as the sample has it; None where the body tells none.
    """

    invoice_id: str
    customer_id: str | None
    status: str
    remaining: int
    total: int | None
    due_on: str | None
    stages: tuple[tuple[str, str], ...] = ()
    address: str | None = None
    facts: tuple[str, ...] = ("invoice.observed",)


FAILED = ("invoice.observed", "invoice.payment", "invoice.payment_failed")
DAY_7, DAY_14 = (("day-7", "due"),), (("day-14", "due"),)
PAT = "customer@example.com"
_19 = ("19", "16CHTpRzjKx2O7mo")
_IN = ("in_example_0001", "cus_example_0001")
_OLD = ("in_000000000000000000000000", "cus_00000000000000")
_REAL = ("in_1EjKuzHuGUuNWDDZmFUP3FxU", "cus_FDmT2sIGjFskP2")
_SAMPLE = ("in_00000000000000", "cus_00000000000000")
_XML = ("42feb03ce368c0e1ead35d4bfa89b82e", "1234")
INVOICES = {
    "chargebee/invoice_generated.posted.json": Owed(
        *_19, "open", 500000, 500000, "2020-10-18", DAY_14
    ),
    "chargebee/invoice_updated.partially_paid.constructed.json": Owed(
        *_19, "open", 50000, 500000, "2020-10-18", DAY_7
    ),
    "chargebee/invoice_updated.payment_due.json": Owed(
        *_19, "open", 500000, 500000, "2020-10-18", DAY_14
    ),
    "chargebee/invoice_updated.voided.constructed.json": Owed(
        *_19, "void", 0, 500000, "2020-10-18"
    ),
    "chargebee/payment_failed.json": Owed(
        "6", "3Nl7oGgQqGFprj9", "open", 224, 1095, "2013-04-01", DAY_7, PAT, FAILED
    ),
    "chargebee/payment_failed.with_dunning_attempts.json": Owed(
        "3065", "1mbDWfyRLtX1eX1WGs", "open", 100, 100, "2023-04-27", DAY_14, None, FAILED
    ),
    "chargebee/payment_refunded.json": Owed(
        "1",
        "3Nl7oGgQqGFprj9",
        "paid",
        0,
        995,
        "2012-08-07",
        (),
        PAT,
        ("invoice.observed", "invoice.refund_noted"),
    ),
    "chargebee/payment_succeeded.offline.json": Owed(
        "22",
        "16BjsrSIh4AdLqkD",
        "paid",
        0,
        450000,
        "2020-12-11",
        (),
        PAT,
        ("invoice.observed", "invoice.payment"),
    ),
    "chargebee/transaction_updated.settled.json": Owed(
        "4", None, "draft", 0, None, None, facts=("invoice.payment",)
    ),
    "recurly/new_charge_invoice_notification.xml": Owed(
        *_XML, "open", 100000, 100000, "2018-03-16", DAY_14
    ),
    "recurly/past_due_charge_invoice_notification.constructed.xml": Owed(
        *_XML, "open", 40000, 100000, "2018-03-16", DAY_14
    ),
    "recurly/new_dunning_event_notification.xml": Owed(
        "424a9d4a2174b4f39bc776426aa19c32",
        "1",
        "open",
        4000,
        4500,
        "2018-02-09",
        (("day-3", "sent"), ("day-14", "due")),
        PAT,
        ("invoice.observed", "send.observed"),
    ),
    "recurly/failed_charge_invoice_notification.balance_0.constructed.xml": Owed(
        "00000000000000000000000000001011",
        "example-1011",
        "uncollectible",
        100000,
        100000,
        "2026-12-01",
    ),
    "recurly/successful_payment_notification.xml": Owed(
        "1974a09kj90s0789dsf099798326881c",
        None,
        "draft",
        0,
        None,
        None,
        facts=("invoice.payment",),
    ),
    "recurly/successful_refund_notification.xml": Owed(
        "ffc64d71d4b5404e93f13aac9c63b007",
        None,
        "draft",
        0,
        None,
        None,
        facts=("invoice.refund_noted",),
    ),
    "stripe/credit_note.created.pre_payment.constructed.json": Owed(
        _IN[0], None, "draft", 0, None, None, facts=("invoice.credit",)
    ),
    "stripe/invoice.created.draft.v2020.json": Owed(*_OLD, "draft", 1500, 1500, None),
    "stripe/invoice.deleted.status_deleted.v2020.json": Owed(
        "in_example_1006", "cus_example_1006", "void", 0, 1000, "2023-08-16", (), PAT
    ),
    "stripe/invoice.finalized.already_paid.v2020.json": Owed(*_OLD, "paid", 0, 2000, None),
    "stripe/invoice.paid.v2020.json": Owed(*_OLD, "paid", 0, 2000, None),
    "stripe/invoice.payment_failed.v2020.json": Owed(
        *_OLD,
        "open",
        2000,
        2000,
        None,
        facts=("invoice.observed", "invoice.payment_failed"),
    ),
    "stripe/invoice.marked_uncollectible.constructed.json": Owed(
        *_IN, "uncollectible", 4900, 24900, "2026-11-05", (), PAT
    ),
    "stripe/invoice.marked_uncollectible.dashboard_test_event.v2018.json": Owed(
        *_SAMPLE, "open", 1000, 1000, "2019-02-06", DAY_14
    ),
    "stripe/invoice.overdue.constructed.json": Owed(
        *_IN, "open", 24900, 24900, "2026-10-21", DAY_14, PAT
    ),
    "stripe/invoice.updated.due_date_changed.constructed.json": Owed(
        *_IN, "open", 24900, 24900, "2026-11-05", DAY_14, PAT
    ),
    "stripe/invoice.updated.opened.v2019.json": Owed(
        *_REAL, "open", 3000, 3000, "2019-07-09", DAY_14, PAT
    ),
    "stripe/invoice.updated.partially_paid.constructed.json": Owed(
        *_IN, "open", 4900, 24900, "2026-11-05", DAY_7, PAT
    ),
    "stripe/invoice.voided.constructed.json": Owed(
        *_IN, "void", 24900, 24900, "2026-10-21", (), PAT
    ),
    "stripe/invoice_payment.paid.basil.json": Owed(
        "in_1T4AIkGWAy8DppqhJAdbjaWb", None, "draft", 0, None, None, facts=("invoice.payment",)
    ),
}
TO_FETCH = {
    "commune/mail_resend.email.received.json": "received_email",
    "recurly/charge_invoice.created.json": "invoice",
    "recurly/charge_invoice.failed.constructed.json": "invoice",
    "recurly/charge_invoice.paid.constructed.json": "invoice",
    "recurly/charge_invoice.past_due.constructed.json": "invoice",
    "recurly/charge_invoice.updated.constructed.json": "invoice",
    "recurly/credit_invoice.created.json": "credit_invoice",
    "recurly/dunning_event.created.json": "invoice",
    "recurly/payment.failed.json": "payment",
    "recurly/payment.refunded.json": "payment",
    "recurly/payment.succeeded.json": "payment",
    "recurly/payment.voided.json": "payment",
    "stripe/payment_intent.processing.clover.constructed.json": "payment_intent",
    "stripe/v1.invoice.payment_failed.thin.constructed.json": "invoice",
}
IGNORED = {
    "chargebee/credit_note_created.json": "changes_no_balance",
    "commune/mail_resend.email.sent.json": "irrelevant_event",
    "commune/send.accepted_202.response.json": "answer_to_a_send",
    "commune/webhook_deliveries.list_response.json": "list_of_webhook_deliveries",
    "stripe/charge.refunded.v2020.json": "names_no_invoice",
}
MESSAGES = {
    "commune/inbound.message.json": ("thread_abc123", "msg_8f3a2b1c"),
    "commune/inbound.synthetic_test.json": (
        "test_thread_0123456789abcdef",
        "test_msg_0123456789abcdef0123",
    ),
    "commune/mail_postmark.inbound.json": ("00000000-0000-0000-0000-000000000000",) * 2,
}
ELSEWHERE = {
    "commune/delivery_events.poll_response.json",
    "commune/mail_mailgun.failed_permanent.json",
    "commune/mail_postmark.bounce.json",
    "commune/mail_resend.email.bounced.json",
    "commune/mail_resend.email.delivered.json",
    "commune/mail_ses_sns.bounce.json",
    "mail/mailgun.failed_permanent.without_id.json",
    "mail/postmark.bounce.unsubscribe_without_bounced_at.json",
    "mail/ses.bounce.of_the_copy_only.json",
}
"""Deliveries need a permit to speak of; see test_deliveries.py and test_sns.py."""
GONE = {
    "chargebee/customer_changed.json": "16CHTnSAxXWqMAg8",
    "stripe/customer.updated.email_removed.v2020.json": "cus_example_1008",
}
"""The customer has no address, or none any more."""
LIVES_ON = {"recurly/reactivated_account_notification.xml": "subscription.resumed"}
"""That a subscription lives on is kept, for an older end may come later."""
REFUSED = {"commune/stream.email_sent.constructed.json"}


def post(hooks: Service, path: str, mark: str) -> dict[str, Any]:
    """Post the sample under names of its own, twice; gives the first answer."""
    renamed = Renamed(path, mark)
    sent = signed(renamed.provider, renamed.body, hooks.clock)
    first = sent.to(hooks).ok()
    again = sent.to(hooks).ok()
    assert {result["result"] for result in again["results"]} <= {"duplicate", "rejected"}
    body: dict[str, Any] = first.body
    return body


def test_no_sample_is_left_out() -> None:
    tables = (INVOICES, TO_FETCH, IGNORED, MESSAGES, ELSEWHERE, GONE, LIVES_ON, REFUSED)
    assert sorted(path for table in tables for path in table) == every_sample()


@pytest.mark.parametrize("path", INVOICES)
def test_what_a_billing_system_says_of_an_invoice(hooks: Service, path: str, mark: str) -> None:
    owed, names = INVOICES[path], Renamed(path, mark)
    answer = post(hooks, path, mark)
    assert [(r["type"], r["result"]) for r in answer["results"]] == [
        (kind, "applied") for kind in owed.facts
    ]
    assert (answer["ignored"], answer["refresh"], answer["rejected"]) == (None, 0, 0)
    invoice = hooks.get(f"/v1/invoices/{names.id(owed.invoice_id)}").ok()
    customer_id = owed.customer_id and names.id(owed.customer_id)
    assert invoice.body.get("customer_id") == customer_id
    told = ("status", "amount_remaining", "total", "due_on", "cycle")
    assert tuple(invoice.body.get(name) for name in told) == (
        owed.status,
        owed.remaining,
        owed.total,
        owed.due_on,
        1,
    )
    stages = [(s["stage"], s["state"]) for s in invoice["stages"]]
    assert stages == [(name, dict(owed.stages).get(name, "pending")) for name in _LADDER]
    assert (invoice["on_hold"], invoice["payment_in_flight_until"]) == (None, None)
    if customer_id is not None:
        customer = hooks.get(f"/v1/customers/{customer_id}").ok()
        assert customer["addresses"] == ([names.address(owed.address)] if owed.address else [])
        open_debt = owed.remaining if owed.status == "open" else 0
        debts = [{"currency": "USD", "amount": open_debt}] if open_debt else []
        assert customer["owed"] == debts


@pytest.mark.parametrize("path", TO_FETCH)
def test_a_hint_is_listed_once_until_it_was_fetched(hooks: Service, path: str, mark: str) -> None:
    before = {item["refresh_id"] for item in to_fetch(hooks)}
    answer = post(hooks, path, mark)
    assert (answer["results"], answer["refresh"], answer["rejected"]) == ([], 1, 0)
    post(hooks, path, mark)
    new = [item for item in to_fetch(hooks) if item["refresh_id"] not in before]
    assert [(item["object_kind"], item["fetched_by"]) for item in new] == [(TO_FETCH[path], "you")]
    assert (new[0]["hints"], new[0]["attempts"], new[0]["last_error"]) == (4, 0, None)


def to_fetch(hooks: Service) -> list[dict[str, Any]]:
    """What waits to be fetched."""
    items: list[dict[str, Any]] = hooks.get("/v1/webhooks/refresh", limit=1000).ok()["items"]
    return items


@pytest.mark.parametrize("path", IGNORED)
def test_what_means_nothing_leaves_nothing(hooks: Service, path: str, mark: str) -> None:
    answer = post(hooks, path, mark)
    assert answer == {
        "received": True,
        "ignored": IGNORED[path],
        "results": [],
        "refresh": 0,
        "rejected": 0,
    }


@pytest.mark.parametrize("path", GONE)
def test_a_customer_without_an_address(hooks: Service, path: str, mark: str) -> None:
    answer = post(hooks, path, mark)
    assert [(r["type"], r["result"]) for r in answer["results"]] == [
        ("customer.observed", "applied")
    ]
    customer_id = Renamed(path, mark).id(GONE[path])
    assert hooks.get(f"/v1/customers/{customer_id}").ok()["addresses"] == []


@pytest.mark.parametrize("path", LIVES_ON)
def test_that_a_subscription_lives_on_is_kept(hooks: Service, path: str, mark: str) -> None:
    renamed = Renamed(path, mark)
    answer = signed(renamed.provider, renamed.body, hooks.clock).to(hooks).ok()
    assert [(r["type"], r["result"]) for r in answer["results"]] == [(LIVES_ON[path], "applied")]
    assert (answer["refresh"], answer["rejected"]) == (0, 0)


@pytest.mark.parametrize("path", MESSAGES)
def test_an_inbound_message_may_be_replied_to_once(hooks: Service, path: str, mark: str) -> None:
    names = Renamed(path, mark)
    thread_id, message_id = (names.id(name) for name in MESSAGES[path])
    ask = {"thread_id": thread_id, "in_reply_to": message_id}
    hooks.ask("reply", **ask).no(404, "unknown_message")
    answer = post(hooks, path, mark)
    assert [(r["type"], r["result"]) for r in answer["results"]] == [("thread.message", "applied")]
    granted = hooks.ask("reply", **ask).ok(201)
    assert mark in granted["to"]
    hooks.report(granted["permit_id"], "sent").ok()
    hooks.ask("reply", **ask).no(409, "already_replied")


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("again", [0, 1])
def test_a_reply_may_give_communes_id_or_the_message_id(
    hooks: Service, mark: str, first: int, again: int
) -> None:
    path = "commune/inbound.message.json"
    names = Renamed(path, mark)
    post(hooks, path, mark)
    known_by = (names.id("msg_8f3a2b1c"), names.id("<unique-smtp-id@mail.example.com>"))
    thread = names.id("thread_abc123")
    granted = hooks.ask("reply", thread_id=thread, in_reply_to=known_by[first]).ok(201)
    hooks.report(granted["permit_id"], "sent").ok()
    told = hooks.ask("reply", thread_id=thread, in_reply_to=known_by[again])
    assert told.no(409, "already_replied")["original"]["permit_id"] == granted["permit_id"]
    riding = {
        "thread_id": f"another-{mark}",
        "message_id": known_by[1],
        "direction": "inbound",
        "from": names.address("customer@example.com"),
    }
    hooks.ask("reply", thread_id=f"another-{mark}", in_reply_to=known_by[1], message=riding).no(
        409, "already_replied"
    )


@pytest.mark.parametrize("path", REFUSED)
def test_an_outbound_message_of_an_unknown_thread_is_kept(
    hooks: Service, path: str, mark: str
) -> None:
    """It names nobody: whose thread it is comes with the inbound message, and then it is taken."""
    answer = post(hooks, path, mark)
    assert [result["result"] for result in answer["results"]] == ["rejected"]
    kept = hooks.get("/v1/webhooks/rejected", kind="rejected_fact", limit=1000).ok()["items"]
    assert (kept[-1]["provider"], kept[-1]["copies"]) == ("commune", 2)
    names = Renamed(path, mark)
    thread = {"thread_id": names.id("thread_2f1c7b0e-example"), "message_id": f"<{mark}@x.example>"}
    hooks.fact("thread.message", thread | {"direction": "inbound", "customer_id": f"cus-{mark}"})
    replayed = hooks.post(f"/v1/webhooks/rejected/{kept[-1]['rejected_id']}/replay").ok()
    assert (replayed["used"], replayed["results"][0]["result"]) == (True, "applied")
