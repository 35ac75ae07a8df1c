"""Facts as CloudEvents: every type of the contract, their forms, results and effects."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Client, Service

_DAY = timedelta(days=1)


def _event(type_: str, data: dict[str, Any], **envelope: Any) -> dict[str, Any]:
    id_ = uuid.uuid4().hex
    return {"id": id_, "source": "tests", "type": type_, "data": data} | envelope


def _results(client: Client, *events: Any) -> list[str]:
    answer = client.post("/v1/facts", {"facts": list(events)}).ok()
    assert int(answer["position"]) >= 0
    return [result["result"] for result in answer["results"]]


def _snapshot(name: str, **fields: Any) -> dict[str, Any]:
    body = {"invoice_id": name, "customer_id": f"cus-{name}", "currency": "USD", "total": 30_000}
    return body | {"amount_remaining": 30_000, "status": "open"} | fields


def _balance(service: Service, name: str) -> tuple[int, str]:
    invoice = service.get(f"/v1/invoices/{name}").ok()
    return invoice["amount_remaining"], invoice["status"]


def test_results_come_in_order_and_one_bad_fact_stops_no_other(service: Service, name: str) -> None:
    at = service.clock.isoformat()
    good = _event("invoice.observed", _snapshot(name, observed_at=at))
    earlier = (service.clock - _DAY).isoformat()
    old = _event("invoice.observed", _snapshot(name, observed_at=earlier, total=1))
    into_itself = _event("customer.merged", {"from": name, "into": name})
    facts = [good, {"id": "x"}, good, 7, old, None, "fact", [], into_itself]
    answer = service.post("/v1/facts", {"facts": facts}).ok()
    assert [r["result"] for r in answer["results"]] == [
        "applied",
        "rejected",
        "duplicate",
        "rejected",
        "stale",
        "rejected",
        "rejected",
        "rejected",
        "ignored",
    ]
    assert [r["id"] for r in answer["results"][:4]] == [good["id"], "x", good["id"], None]
    assert all(r["detail"] for r in answer["results"] if r["result"] == "rejected")
    assert _balance(service, name) == (30_000, "open")


def test_dedupe_is_by_source_and_id(service: Service, name: str) -> None:
    service.put_invoice(name).ok()
    data = {"invoice_id": name, "payment_id": "p1", "amount": 100, "state": "succeeded"}
    one = _event("invoice.payment", data, id=name, source="bank a")
    assert _results(service, one, one) == ["applied", "duplicate"]
    assert _results(service, one | {"data": data | {"payment_id": "p9"}}) == ["duplicate"]
    other_source = one | {"source": "bank b", "data": data | {"payment_id": "p2"}}
    assert _results(service, other_source) == ["applied"]
    glued = [
        _event("invoice.payment", data | {"payment_id": "p3"}, id=f"1{name}", source="s"),
        _event("invoice.payment", data | {"payment_id": "p4"}, id=name, source="s1"),
    ]
    assert _results(service, *glued) == ["applied", "applied"]
    assert _balance(service, name) == (29_600, "open")


def test_a_rejected_fact_may_come_again_mended(service: Service, name: str) -> None:
    service.put_invoice(name).ok()
    data = {"invoice_id": name, "payment_id": "p1", "amount": "100", "state": "succeeded"}
    event = _event("invoice.payment", data)
    assert _results(service, event) == ["rejected"]
    assert _results(service, event | {"data": data | {"amount": 100}}) == ["applied"]


@pytest.mark.parametrize(
    "type_", ["invoice.refunded", "invoice.paid", "charge", "Invoice.Observed", "x"]
)
def test_an_unknown_type_is_rejected_by_name(type_: str, service: Service, name: str) -> None:
    answer = service.post("/v1/facts", {"facts": [_event(type_, {"invoice_id": name})]}).ok()
    (result,) = answer["results"]
    assert result["result"] == "rejected"
    assert type_ in result["detail"]


def test_an_unknown_type_that_could_touch_money_is_paged_once(service: Service, name: str) -> None:
    refund, weather = f"invoice.refunded-{name}", f"weather.{name}"
    facts = [_event(type_, {"invoice_id": name}) for type_ in (refund, weather, refund)]
    for _ in range(2):
        assert _results(service, *facts) == ["rejected"] * 3
    told = [a["summary"] for a in service.alerts("ingest_rejected") if name in a["summary"]]
    assert len(told) == 1
    assert refund in told[0]
    assert _results(service, _event("payment\x00\ud7ff", {})) == ["rejected"]


BAD_ENVELOPES: dict[str, dict[str, Any]] = {
    "no id": {"id": None},
    "empty id": {"id": ""},
    "long id": {"id": "x" * 256},
    "control character": {"id": "a\x07b"},
    "id as number": {"id": 7},
    "no source": {"source": None},
    "long source": {"source": "x" * 256},
    "naive time": {"time": "2026-12-01T00:00:00"},
    "time as number": {"time": 1},
    "no data": {"data": None},
    "data as list": {"data": []},
    "data as text": {"data": "{}"},
}


@pytest.mark.parametrize("bad", BAD_ENVELOPES.values(), ids=BAD_ENVELOPES)
def test_a_bad_envelope_is_rejected(bad: dict[str, Any], service: Service, name: str) -> None:
    assert _results(service, _event("invoice.observed", _snapshot(name)) | bad) == ["rejected"]
    service.get(f"/v1/invoices/{name}").no(404, "unknown_invoice")


BAD_DATA: dict[str, tuple[str, dict[str, Any]]] = {
    "payment without amount": ("invoice.payment", {"payment_id": "p", "state": "succeeded"}),
    "negative payment": (
        "invoice.payment",
        {"payment_id": "p", "state": "succeeded", "amount": -1},
    ),
    "fraction": ("invoice.payment", {"payment_id": "p", "state": "succeeded", "amount": 1.5}),
    "state": ("invoice.payment", {"payment_id": "p", "state": "refunded", "amount": 1}),
    "credit as text": ("invoice.credit", {"credit_id": "c", "amount": "1"}),
    "hold without reason": ("invoice.hold", {}),
    "naive until": ("invoice.hold", {"reason": "dispute", "until": "2026-12-05T00:00:00"}),
    "unknown field": ("invoice.hold", {"reason": "dispute", "by": "me"}),
    "long reason": ("invoice.hold", {"reason": "x" * 256}),
}


@pytest.mark.parametrize(("type_", "data"), BAD_DATA.values(), ids=BAD_DATA)
def test_bad_data_of_a_known_type_is_rejected(
    type_: str, data: dict[str, Any], service: Service, name: str
) -> None:
    service.put_invoice(name).ok()
    assert _results(service, _event(type_, {"invoice_id": name} | data)) == ["rejected"]
    assert _balance(service, name) == (30_000, "open")


def test_up_to_1000_facts_at_once(service: Service, name: str) -> None:
    facts = [_event("invoice.observed", _snapshot(f"{name}-{n}")) for n in range(1_000)]
    assert set(_results(service, *facts)) == {"applied"}
    service.post("/v1/facts", {"facts": [*facts, facts[0]]}).no(422, "invalid_request")
    assert _results(service) == []


def test_cloud_events_structured_and_in_batch(service: Service, name: str) -> None:
    attributes = {
        "specversion": "1.0",
        "datacontenttype": "application/json",
        "subject": name,
        "time": service.clock.isoformat(),
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    }

    def event(number: int) -> dict[str, Any]:
        return _event("invoice.observed", _snapshot(f"{name}-{number}"), **attributes)

    def post(content_type: str, body: Any) -> list[str]:
        headers = {"content-type": content_type}
        answer = service.post("/v1/facts", body, headers=headers).ok()
        return [result["result"] for result in answer["results"]]

    assert post("application/cloudevents+json", event(1)) == ["applied"]
    assert post("application/cloudevents+json; charset=UTF-8", event(2)) == ["applied"]
    assert post("application/cloudevents-batch+json", [event(3), event(4)]) == ["applied"] * 2
    assert post("application/cloudevents-batch+json", []) == []
    for number in range(1, 5):
        service.get(f"/v1/invoices/{name}-{number}").ok()
    for content_type, content in (
        ("application/cloudevents+json", json.dumps([event(5)])),
        ("application/cloudevents-batch+json", json.dumps(event(5))),
        ("application/cloudevents+json", f"{json.dumps(event(5))},{json.dumps(event(6))}"),
        ("application/json", json.dumps(event(5))),
        ("application/json", json.dumps([event(5)])),
    ):
        headers = {"content-type": content_type}
        answer = service.call("POST", "/v1/facts", content=content, headers=headers)
        if answer.status == 200:
            assert [r["result"] for r in answer["results"]] == ["rejected"]
        else:
            answer.no(422, "invalid_request")
    service.get(f"/v1/invoices/{name}-5").no(404, "unknown_invoice")


PAYMENTS: dict[str, tuple[list[tuple[str, int]], tuple[int, str]]] = {
    "part": ([("succeeded", 10_000)], (20_000, "open")),
    "whole": ([("succeeded", 30_000)], (0, "paid")),
    "pending changes nothing": ([("pending", 30_000)], (30_000, "open")),
    "pending, then succeeded": ([("pending", 9_000), ("succeeded", 9_000)], (21_000, "open")),
    "pending, then failed": ([("pending", 9_000), ("failed", 9_000)], (30_000, "open")),
    "told twice": ([("succeeded", 9_000), ("succeeded", 9_000)], (21_000, "open")),
    "reversed": ([("succeeded", 30_000), ("reversed", 30_000)], (30_000, "open")),
}


@pytest.mark.parametrize(("moves", "expected"), PAYMENTS.values(), ids=PAYMENTS)
def test_payments_move_the_balance(
    moves: list[tuple[str, int]], expected: tuple[int, str], service: Service, name: str
) -> None:
    service.put_invoice(name).ok()
    for state, amount in moves:
        service.advance(seconds=1)
        data = {"invoice_id": name, "payment_id": "p", "amount": amount, "state": state}
        service.fact("invoice.payment", data, time=service.clock.isoformat())
    assert _balance(service, name) == expected


@pytest.mark.parametrize("type_", ["invoice.payment", "invoice.credit"])
def test_money_before_the_snapshot_is_already_in_it(
    type_: str, service: Service, name: str
) -> None:
    at = service.clock
    service.put_invoice(name, observed_at=at.isoformat()).ok()
    for number, seconds in enumerate((-1, 0, 1)):
        data = {"invoice_id": name, "amount": 100 * 10**number}
        data |= {"payment_id": f"p{number}", "state": "succeeded"}
        if type_ == "invoice.credit":
            data = {"invoice_id": name, "amount": 100 * 10**number, "credit_id": f"c{number}"}
        time = (at + timedelta(seconds=seconds)).isoformat()
        service.fact(type_, data, time=time)
    assert _balance(service, name) == (30_000 - 1_000 - 10_000, "open")


def test_a_negative_credit_takes_one_back(service: Service, name: str) -> None:
    service.put_invoice(name).ok()
    service.fact("invoice.credit", {"invoice_id": name, "credit_id": "a", "amount": 5_000})
    assert _balance(service, name) == (25_000, "open")
    service.fact("invoice.credit", {"invoice_id": name, "credit_id": "b", "amount": -2_000})
    assert _balance(service, name) == (27_000, "open")


def test_a_pending_payment_holds_reminders_for_at_most_a_week(service: Service, name: str) -> None:
    due_on = (service.clock - 4 * _DAY).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    data = {"invoice_id": name, "payment_id": "p", "amount": 30_000, "state": "pending"}
    service.fact("invoice.payment", data)
    problem = service.remind(name).no(409, "payment_in_flight")
    until = service.clock + 7 * _DAY
    assert problem["available_at"] == until.isoformat().replace("+00:00", "Z")
    service.move_clock(until - timedelta(seconds=1))
    service.remind(name).no(409, "payment_in_flight")
    service.move_clock(until)
    service.remind(name).ok(201)


def test_holds_of_an_invoice_bind_until_they_end(service: Service, name: str) -> None:
    due_on = (service.clock - 4 * _DAY).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    until = (service.clock + _DAY).isoformat()
    service.fact("invoice.hold", {"invoice_id": name, "reason": "promise", "until": until})
    service.fact("invoice.hold", {"invoice_id": name, "reason": "dispute"})
    problem = service.remind(name).no(409, "on_hold")
    assert "available_at" not in problem.body
    service.advance(seconds=1)
    service.fact("invoice.unhold", {"invoice_id": name, "reason": "dispute"})
    problem = service.remind(name).no(409, "on_hold")
    assert problem["available_at"] == until.replace("+00:00", "Z")
    service.move_clock(until)
    service.remind(name).ok(201)


def test_holds_of_a_customer_bind_kinds(service: Service, name: str) -> None:
    hold = {"customer_id": name, "reason": "unsubscribed", "kinds": ["digest"]}
    service.fact("customer.hold", hold)
    digest = {"customer_id": name, "inbox_id": "i", "date": "2026-12-04"}
    service.ask("digest", **digest).no(409, "on_hold")
    service.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)
    service.advance(seconds=1)
    service.fact("customer.hold", {"customer_id": name, "reason": "bankrupt"})
    service.ask("message", thread_id=name, intent="y", customer_id=name).no(409, "on_hold")
    service.advance(seconds=1)
    service.fact("customer.unhold", {"customer_id": name, "reason": "bankrupt"})
    service.fact("customer.unhold", {"customer_id": name, "reason": "unsubscribed"})
    service.ask("digest", **digest).ok(201)


def test_addresses_of_a_customer(service: Service, name: str) -> None:
    emails = [f"B.{name}@example.com", f"a.{name}@example.com"]
    service.fact("customer.observed", {"customer_id": name, "emails": emails})
    assert service.get(f"/v1/customers/{name}").ok()["addresses"] == emails
    permit = service.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)
    assert permit["to"] == emails[0]


def test_a_merge_carries_windows_and_breaker_over(service: Service, name: str) -> None:
    gone, into = f"{name}-gone", f"{name}-into"
    for number in range(2):
        service.ask("notification", customer_id=gone, event_type="t", event_id=str(number)).ok(201)
    service.ask("notification", customer_id=gone, event_type="t", event_id="2").no(
        429, "cap_reached"
    )
    service.fact("customer.observed", {"customer_id": into, "emails": []})
    service.fact("customer.merged", {"from": gone, "into": into})
    merged = service.get(f"/v1/customers/{into}").ok()
    assert merged["breaker"]["state"] == "open"
    assert merged["windows"]["outreach_24h"]["used"] == 2
    assert service.get(f"/v1/customers/{gone}").ok()["customer_id"] == into
    again = service.ask("notification", customer_id=into, event_type="t", event_id="3")
    again.no(409, "breaker_open")


def test_a_mail_past_the_ledger_uses_up_its_stage_and_the_window(
    service: Service, name: str
) -> None:
    due_on = (service.clock - 8 * _DAY).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    sent = {"customer_id": f"cus-{name}", "at": service.clock.isoformat()}
    service.fact("send.observed", sent | {"invoice_id": name, "stage": "day-7"})
    problem = service.remind(name, "day-7").no(409, "already_sent")
    assert problem["original"]["permit_id"] is None
    assert service.stages(name) == {"day-3": "superseded", "day-7": "sent", "day-14": "pending"}
    customer = service.get(f"/v1/customers/cus-{name}").ok()
    assert customer["windows"]["outreach_24h"]["used"] == 1
    service.fact("send.observed", sent | {"thread_id": name, "intent": "refund_notice"})
    asked = service.ask("message", thread_id=name, intent="refund_notice")
    asked.no(409, "duplicate_intent")
    assert service.get(f"/v1/customers/cus-{name}").ok()["windows"]["outreach_24h"]["used"] == 2


@pytest.mark.parametrize("by", ["provider_message_id", "message_id"])
def test_a_delivery_settles_the_permit_it_names(by: str, service: Service, name: str) -> None:
    permit = service.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)
    fields = {"provider": "resend", "provider_message_id": f"re_{name}"}
    service.report(permit["permit_id"], "unknown", **fields).ok()
    named = {"provider_message_id": f"re_{name}", "message_id": permit["message_id"]}[by]
    service.fact("delivery", {"provider": "resend", "event": "delivered", by: named})
    assert service.get(f"/v1/permits/{permit['permit_id']}").ok()["state"] == "sent"
    asked = service.ask("message", thread_id=name, intent="x")
    assert asked.no(409, "duplicate_intent")["original"]["permit_id"] == permit["permit_id"]


@pytest.mark.parametrize("event", ["bounced", "complained"])
def test_a_bounce_holds_the_address_until_a_human_or_a_new_one(
    event: str, service: Service, name: str
) -> None:
    service.fact("customer.observed", {"customer_id": name, "emails": [f"{name}@example.com"]})
    permit = service.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)
    delivery = {"provider": "resend", "message_id": permit["message_id"], "event": event}
    service.fact("delivery", delivery)
    service.fact("delivery", delivery)
    service.ask("message", thread_id=name, intent="y").no(409, "address_on_hold")
    assert service.get(f"/v1/customers/{name}").ok()["addresses_on_hold"] == 1
    assert len(service.alerts("address_on_hold", name)) == 1
    service.post(f"/v1/customers/{name}/addresses/release", {"reason": "mailbox mended"}).ok()
    second = service.ask("message", thread_id=name, intent="y").ok(201)
    service.fact("delivery", delivery | {"message_id": second["message_id"]})
    service.advance(hours=25)
    service.ask("message", thread_id=name, intent="z").no(409, "address_on_hold")
    service.fact("customer.observed", {"customer_id": name, "emails": [f"new.{name}@example.com"]})
    service.ask("message", thread_id=name, intent="z").ok(201)


@pytest.mark.parametrize("precision", ["instant", "second"])
def test_a_source_that_counts_whole_seconds_holds_its_second(
    precision: str, service: Service, name: str
) -> None:
    seen = service.clock.replace(microsecond=0)
    snapshot = _snapshot(name, observed_at=seen.isoformat(), precision=precision)
    service.fact("invoice.observed", snapshot)
    for number, after in enumerate((0, 0.5, 1)):
        data = {"invoice_id": name, "payment_id": f"p{number}", "amount": 100 * 10**number}
        time = (seen + timedelta(seconds=after)).isoformat()
        service.fact("invoice.payment", data | {"state": "succeeded"}, time=time)
    later = 10_000 if precision == "second" else 11_100
    assert _balance(service, name) == (30_000 - later, "open")


@pytest.mark.parametrize("end", ["succeeded", "failed", "canceled", "expired", "a snapshot"])
def test_a_pending_payment_ends_as_the_provider_says(end: str, service: Service, name: str) -> None:
    due_on = (service.clock - 4 * _DAY).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    data = {"invoice_id": name, "payment_id": "p", "amount": 10_000}
    service.fact("invoice.payment", data | {"state": "pending"})
    service.remind(name).no(409, "payment_in_flight")
    service.advance(seconds=2)
    if end == "a snapshot":
        service.put_invoice(name, payment_in_flight=False).ok()
    else:
        service.fact("invoice.payment", data | {"state": end})
    service.remind(name).ok(201)
