"""Cases about cycles and balances: what a payment closes, what it keeps, what holds for a while."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cases.timeline import Story
from tests.support.service import Answer, Client, Service

_DAY = timedelta(days=1)


def _pay(
    teller: Client, invoice: str, amount: int, state: str, at: str, payment: str = "p"
) -> Answer:
    data = {"invoice_id": invoice, "payment_id": payment, "amount": amount, "state": state}
    return teller.fact("invoice.payment", data, time=at)


@pytest.mark.starts("2026-03-01T00:00:00Z")
def test_paid_then_reopened(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(how: str, currency: str) -> Story:
        id_ = f"{name}-{how}-{currency}"
        sender = service.client("send", "facts")
        fields: dict[str, Any] = {"customer_id": id_, "total": 60_000, "currency": currency}
        service.put_invoice(id_, due_on="2026-03-01", **fields).ok()
        for day, stage in (("04", "day-3"), ("08", "day-7"), ("15", "day-14")):
            yield f"2026-03-{day}T08:00:00Z"
            sender.send("reminder", invoices=[id_], stage=stage)
        yield "2026-03-16T12:00:00Z"
        if how == "facts":
            _pay(sender, id_, 60_000, "succeeded", "2026-03-16T12:00:00Z")
        else:
            service.put_invoice(id_, **fields, amount_remaining=0, status="paid").ok()
        sender.remind(id_).no(409, "nothing_owed")
        yield "2026-04-10T09:00:00Z"
        if how == "facts":
            _pay(sender, id_, 60_000, "reversed", "2026-04-10T09:00:00Z")
        else:
            service.put_invoice(id_, **fields).ok()
        invoice = service.get(f"/v1/invoices/{id_}").ok()
        assert (invoice["cycle"], invoice["amount_remaining"]) == (2, 60_000)
        yield "2026-04-11T08:00:00Z"
        sender.remind(id_, "day-3").no(409, "not_reached")
        yield "2026-04-13T08:00:00Z"
        assert service.get(f"/v1/invoices/{id_}").ok()["days_past_due"] == 3
        permit = sender.remind(id_, "day-3").ok(201)
        assert permit["items"][0]["cycle"] == 2
        sender.redeem(permit["permit_id"]).ok()
        sender.report(permit["permit_id"], "sent").ok()
        sender.remind(id_, "day-14").no(409, "not_reached")
        sender.remind(id_, "day-3").no(409, "already_sent")
        sent = [(s["cycle"], s["stage"]) for s in service.get(f"/v1/invoices/{id_}")["stages"]]
        assert {(1, "day-3"), (1, "day-7"), (1, "day-14"), (2, "day-3")} <= set(sent)

    tell(*[story(how, currency) for how in ("facts", "snapshots") for currency in ("EUR", "JPY")])


PARTS: dict[str, Callable[[Client, str, int], Any]] = {
    "a payment": lambda teller, id_, part: _pay(
        teller, id_, part, "succeeded", "2026-09-06T10:00:00Z"
    ),
    "two payments": lambda teller, id_, part: [
        _pay(teller, id_, part // 2, "succeeded", "2026-09-06T10:00:00Z", payment)
        for payment in ("p1", "p2")
    ],
    "a credit": lambda teller, id_, part: teller.fact(
        "invoice.credit", {"invoice_id": id_, "credit_id": "c", "amount": part}
    ),
    "a snapshot": lambda teller, id_, part: teller.put_invoice(
        id_, customer_id=id_, currency="EUR", total=100_000, amount_remaining=100_000 - part
    ).ok(),
}


@pytest.mark.starts("2026-09-01T00:00:00Z")
def test_partial_payment_keeps_cycle(
    service: Service, tell: Callable[..., None], name: str
) -> None:
    def story(how: str, part: int) -> Story:
        id_ = f"{name}-{how}-{part}".replace(" ", "-")
        sender = service.client("send", "facts")
        service.put_invoice(
            id_, customer_id=id_, currency="EUR", total=100_000, due_on="2026-09-01"
        ).ok()
        yield "2026-09-04T08:00:00Z"
        sender.send("reminder", invoices=[id_], stage="day-3")
        yield "2026-09-06T10:00:00Z"
        PARTS[how](sender, id_, part)
        yield "2026-09-08T08:00:00Z"
        sender.remind(id_, "day-3").no(409, "already_sent")
        permit = sender.remind(id_, "day-7").ok(201)
        (item,) = permit["items"]
        assert (item["cycle"], item["amount_remaining"]) == (1, 100_000 - part)
        sender.redeem(permit["permit_id"]).ok()
        sender.report(permit["permit_id"], "sent").ok()
        yield "2026-09-15T08:00:00Z"
        last = sender.remind(id_, "day-14")
        if part == 20_000:
            last.ok(201)
        else:
            # The kind of it: who paid 90 % gets no final notice.
            last.no(409, "balance_below_stage")

    tell(*[story(how, part) for how in PARTS for part in (20_000, 90_000)])


@pytest.mark.starts("2026-04-01T00:00:00Z")
def test_payment_in_flight(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(end: str, currency: str) -> Story:
        id_ = f"{name}-{end}-{currency}"
        sender = service.client("send", "facts")
        service.put_invoice(
            id_, customer_id=id_, currency=currency, total=40_000, due_on="2026-04-01"
        ).ok()
        yield "2026-04-03T10:00:00Z"
        if end == "failed, told first":
            _pay(sender, id_, 40_000, "failed", "2026-04-07T07:00:00Z")
        _pay(sender, id_, 40_000, "pending", "2026-04-03T10:00:00Z")
        yield "2026-04-04T08:00:00Z"
        if end == "failed, told first":
            sender.remind(id_, "day-3").ok(201)
            return
        problem = sender.remind(id_, "day-3").no(409, "payment_in_flight")
        assert problem["available_at"] == "2026-04-10T10:00:00Z"
        assert problem["retryable"] is True
        assert service.stages(id_)["day-3"] == "due"
        yield "2026-04-07T07:00:00Z"
        if end != "stuck":
            _pay(sender, id_, 40_000, end, "2026-04-07T07:00:00Z")
        yield "2026-04-07T08:00:00Z"
        answer = sender.remind(id_, "day-3")
        if end == "failed":
            answer.ok(201)
        elif end == "succeeded":
            answer.no(409, "nothing_owed")
        else:
            answer.no(409, "payment_in_flight")
            yield datetime(2026, 4, 10, 10, tzinfo=UTC) - timedelta(seconds=1)
            sender.remind(id_).no(409, "payment_in_flight")
            yield "2026-04-10T10:00:00Z"
            assert sender.remind(id_).ok(201)["items"][0]["stage"] == "day-7"

    ends = ("failed", "succeeded", "stuck", "failed, told first")
    tell(
        *[
            story(end.replace(",", ""), "EUR") if "," not in end else story(end, "EUR")
            for end in ends
        ]
    )


@pytest.mark.starts("2026-04-30T00:00:00Z")
def test_fraction_of_a_cent(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(how: str) -> Story:
        id_ = f"{name}-{how}"
        sender = service.client("send", "facts")
        for computed in (8379.176, 83.79176, "8379.176", 8379.0):
            body = {"customer_id": id_, "currency": "USD", "status": "open", "total": computed}
            body |= {"amount_remaining": computed}
            sender.call("PUT", f"/v1/invoices/{id_}", body).no(422, "invalid_request")
        service.put_invoice(id_, customer_id=id_, total=8_379, due_on="2026-05-01").ok()
        yield "2026-04-30T10:00:00Z"
        for finer in (83.79, 8378.99, "8379"):
            data = {"invoice_id": id_, "payment_id": "p", "amount": finer, "state": "succeeded"}
            event = {"id": f"{id_}-{finer}", "source": "bank", "type": "invoice.payment"}
            answer = sender.post("/v1/facts", {"facts": [event | {"data": data}]}).ok()
            assert answer["results"][0]["result"] == "rejected"
        if how == "payment":
            _pay(sender, id_, 8_379, "succeeded", "2026-04-30T10:00:00Z")
        elif how == "credit":
            data = {"invoice_id": id_, "credit_id": "c", "amount": 8_379}
            sender.fact("invoice.credit", data)
        else:
            service.put_invoice(id_, customer_id=id_, total=8_379, amount_remaining=0).ok()
        assert service.get(f"/v1/invoices/{id_}").ok()["amount_remaining"] == 0
        yield "2026-05-04T08:00:00Z"
        sender.remind(id_, "day-3").no(409, "nothing_owed")
        sender.remind(id_).no(409, "nothing_owed")

    tell(*[story(how) for how in ("payment", "credit", "snapshot")])


DUNNED = {
    ("JPY", 300): True,
    ("JPY", 100): True,
    ("JPY", 99): False,
    ("USD", 500): True,
    ("USD", 499): False,
    ("USD", 300): False,
    ("KWD", 1_500): True,
    ("KWD", 1_499): False,
    ("EUR", 1): True,
}
"""Limits of this policy: USD 5.00, JPY 100, KWD 1.500; amounts are in minor units."""


@pytest.mark.starts("2026-06-01T00:00:00Z")
def test_zero_decimal_yen(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(currency: str, amount: int, dunned: bool) -> Story:
        id_ = f"{name}-{currency}-{amount}"
        sender = service.client("send")
        service.put_invoice(
            id_, customer_id=id_, currency=currency, total=amount, due_on="2026-06-01"
        ).ok()
        yield "2026-06-04T08:00:00Z"
        answer = sender.remind(id_, "day-3")
        if dunned:
            (item,) = answer.ok(201)["items"]
            assert (item["amount_remaining"], item["currency"]) == (amount, currency)
        else:
            answer.no(409, "nothing_owed")
        customer = service.get(f"/v1/customers/{id_}").ok()
        assert customer["owed"] == [{"currency": currency, "amount": amount}]

    tell(*[story(*what, dunned) for what, dunned in DUNNED.items()])
