"""Bodies about money from the field, in any order and repeated, and what is owed after them."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.api.webhooks.posting import environment, signed, signed_json
from tests.support.service import Service, fresh_service
from tests.unit.webhooks.bodies import provider_of, sample

NEW_YEAR = "2027-01-01T00:00:00+00:00"


@pytest.fixture(scope="module")
def shared_desk(postgres: str) -> Iterator[Service]:
    """A service that takes the providers' posts in test mode, at New Year."""
    with fresh_service(postgres, NEW_YEAR, env=environment()) as service:
        yield service


@pytest.fixture
def desk(shared_desk: Service) -> Service:
    """The shared service, its clock a second on."""
    shared_desk.advance(seconds=1)
    return shared_desk


def post(desk: Service, path: str, mark: str = "") -> dict[str, Any]:
    """What the service says to the body at `path`, its own ids marked."""
    body = sample(f"field/{path}").replace(b"_example_1", f"_example_{mark}1".encode())
    answer = signed(provider_of(f"field/{path}"), body, desk.clock).to(desk).ok()
    told: dict[str, Any] = answer.body
    return told


def owed(desk: Service, invoice: str) -> tuple[str, int]:
    """Status and balance."""
    found = desk.get(f"/v1/invoices/{invoice}").ok()
    return found["status"], found["amount_remaining"]


SAME_SECOND = [
    "stripe/same_second.1.invoice.finalized.constructed.json",
    "stripe/same_second.2.credit_note.created.constructed.json",
    "stripe/same_second.3.invoice.updated.constructed.json",
]
ONE_SECOND_DRAFT = [
    "stripe/one_second_draft.1.invoice.created.json",
    "stripe/one_second_draft.2.invoice.updated.json",
    "stripe/one_second_draft.3.invoice.finalized.json",
]
SEQUENCES = {
    "same_second": (SAME_SECOND, "1001", ("open", 5_000)),
    "one_second_draft": (ONE_SECOND_DRAFT, "1003", ("open", 984_000)),
}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("name", SEQUENCES)
def test_a_snapshot_holds_what_happened_in_its_second(
    desk: Service, name: str, order: tuple[int, ...]
) -> None:
    paths, number, expected = SEQUENCES[name]
    mark = "".join(map(str, order))
    for place in (*order, *order):
        post(desk, paths[place], mark)
    assert owed(desk, f"in_example_{mark}{number}") == expected


SINGLE = {
    "stripe/invoice.payment_succeeded.negative_total.constructed.json": (
        "in_example_1005",
        ("paid", 0),
    ),
    "chargebee/payment_failed.credits_applied.json": ("6", ("open", 224)),
    "recurly/failed_charge_invoice_notification.balance_0.constructed.xml": (
        "00000000000000000000000000001011",
        ("uncollectible", 100_000),
    ),
}


@pytest.mark.parametrize("path", SINGLE)
def test_a_body_says_what_is_owed(desk: Service, path: str) -> None:
    invoice, expected = SINGLE[path]
    assert post(desk, path)["results"][0]["result"] == "applied"
    assert owed(desk, invoice) == expected


def test_a_deleted_invoice_is_void(desk: Service) -> None:
    path = "stripe/invoice.deleted.status_deleted.v2020.json"
    invoice = json.loads(sample(f"field/{path}"))["data"]["object"]["id"]
    assert post(desk, path)["results"][0]["result"] == "applied"
    assert owed(desk, invoice)[0] == "void"


def test_a_payment_on_its_way_that_names_no_invoice_is_looked_up(desk: Service) -> None:
    post(desk, "stripe/payment_intent.processing.clover.constructed.json")
    rows = desk.get("/v1/webhooks/refresh").ok()["items"]
    assert "pi_example_1007" in {row["object_id"] for row in rows}


def test_an_account_that_came_back_says_nothing_of_money(desk: Service) -> None:
    told = post(desk, "recurly/reactivated_account_notification.xml")
    assert [result["result"] for result in told["results"]] == ["applied"]
    assert (told["ignored"], told["rejected"]) == ("irrelevant_event", 0)


def test_a_payment_on_its_way_ends_when_the_invoice_shows_it(desk: Service) -> None:
    invoice = "00000000000000000000000000001010"
    post(desk, "recurly/ach_returned.1.processing_charge_invoice_notification.constructed.xml")
    desk.remind(invoice).no(409, "payment_in_flight")
    post(desk, "recurly/ach_returned.2.failed_payment_notification.constructed.xml")
    post(desk, "recurly/ach_returned.3.past_due_charge_invoice_notification.constructed.xml")
    assert desk.get(f"/v1/invoices/{invoice}").ok()["payment_in_flight_until"] is None
    desk.remind(invoice).ok(201)


def _stripe(desk: Service, kind: str, number: int, created: datetime, what: dict[str, Any]) -> None:
    seconds = int(created.timestamp())
    event = {"id": f"evt_{what['id']}_{number}", "type": kind, "created": seconds}
    body = event | {"livemode": False, "data": {"object": what}}
    signed_json("stripe", body, desk.clock).to(desk).ok()


@pytest.mark.parametrize("payment_first", [False, True])
def test_one_payment_told_two_ways_in_a_second(desk: Service, payment_first: bool) -> None:
    """Case `one-payment-two-ways`: never day-3 twice, and half is owed throughout."""
    day = 24 * 3600
    start = desk.clock
    due = int(start.timestamp()) - 3 * day
    name = f"in_two_ways_{payment_first}"
    invoice = json.loads(sample(f"field/{SAME_SECOND[0]}"))["data"]["object"]
    invoice |= {"id": name, "customer": f"cus_{name}", "due_date": due}
    _stripe(desk, "invoice.finalized", 1, datetime(2026, 12, 1, tzinfo=UTC), invoice)
    desk.send("reminder", invoices=[name], stage="day-3")
    paid_at = desk.advance(hours=5)
    half = invoice | {"amount_remaining": 5_000, "amount_paid": 5_000}
    payment = {
        "id": f"inpay_{name}",
        "invoice": name,
        "amount_paid": 5_000,
        "currency": "usd",
        "payment": {"type": "payment_intent", "payment_intent": f"pi_{name}"},
        "status_transitions": {"paid_at": int(paid_at.timestamp())},
    }
    news = [("invoice.updated", half), ("invoice_payment.paid", payment)]
    for number, (kind, what) in enumerate(reversed(news) if payment_first else news, 2):
        _stripe(desk, kind, number, paid_at, what)
        assert owed(desk, name) == ("open", 5_000)
    _stripe(desk, "invoice.updated", 4, desk.advance(days=1), half)
    assert owed(desk, name) == ("open", 5_000)
    desk.advance(days=3)
    desk.remind(name, "day-3").no(409, "already_sent")
    (item,) = desk.remind(name).ok(201)["items"]
    assert (item["stage"], item["cycle"], item["amount_remaining"]) == ("day-7", 1, 5_000)


def test_a_second_of_a_credit_taken_back_ends_with_the_larger_debt(desk: Service) -> None:
    """The taking back explains why the larger of two balances is the later one."""
    invoice = json.loads(sample(f"field/{SAME_SECOND[0]}"))["data"]["object"]
    invoice |= {"id": "in_back", "customer": "cus_back"}
    at = datetime(2026, 12, 2, tzinfo=UTC)
    note = {
        "id": "cn_back",
        "invoice": "in_back",
        "currency": "usd",
        "pre_payment_amount": 4_000,
        "status": "void",
        "voided_at": int(at.timestamp()),
    }
    _stripe(desk, "invoice.updated", 1, at, invoice | {"amount_remaining": 6_000})
    _stripe(desk, "invoice.updated", 2, at, invoice | {"amount_remaining": 10_000})
    assert owed(desk, "in_back") == ("open", 6_000)
    _stripe(desk, "credit_note.voided", 3, at, note)
    assert owed(desk, "in_back") == ("open", 10_000)


def test_an_invoice_of_an_account_is_owed_by_it(desk: Service) -> None:
    invoice = json.loads(sample(f"field/{SAME_SECOND[0]}"))["data"]["object"]
    invoice |= {"id": "in_account", "customer": None, "customer_account": "acct_9"}
    _stripe(desk, "invoice.finalized", 1, datetime(2026, 12, 2, tzinfo=UTC), invoice)
    assert desk.get("/v1/invoices/in_account").ok()["customer_id"] == "acct_9"
