"""Cases from public reports of duplicate mail, at the decide level, each named by its case."""

from datetime import timedelta
from typing import Any

import pytest

from ledger.application.commands import ApplyFact, CallPause, DeclareIncident, EnterRecovery
from ledger.application.facts.payment_failed_reported import PaymentFailed
from ledger.application.kinds.reminder import Expected
from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    IDENTITY,
    OPERATOR,
    POLLER,
    apology,
    at,
    customer,
    delivery,
    fact,
    hours,
    intent,
    invoice,
    message,
    minutes,
    notification,
    observed_send,
    paid,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import given


def test_poller_every_minute() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-04T00:00:10Z"))
    scenario.when(reminder(stage="day-3"), timedelta(seconds=2), report())
    for hour in range(24):
        scenario.when(at(f"2026-12-04T{hour:02d}:01Z"))
        asks = [reminder(stage="day-3", key=f"random-{hour}-{minute}") for minute in range(60)]
        codes = {(answer.status, answer.permit_id) for answer in scenario.submit(*asks)}
        assert codes == {(409, None)}
        scenario.then(status=409, code="already_sent", alerts=[])
    assert scenario.events == []
    assert len(scenario.store.decisions) == 1 + 24 * 60
    customer_ = scenario.aggregate("customer", "cus_1")
    assert (len(customer_.permits), customer_.breaker) == (1, None)


def test_due_date_moved() -> None:
    scenario = given(at("2026-05-20"), invoice(due="2026-05-24", owes=40000, currency="EUR"))
    scenario.when(at("2026-05-27T08:00Z"), reminder(stage="day-3"), report())
    scenario.when(at("2026-05-28T10:00Z"), invoice(due="2026-06-15", owes=40000, currency="EUR"))
    scenario.when(at("2026-05-31T08:00Z"), reminder(stage="day-7")).then(
        status=409, code="not_past_due"
    )
    scenario.when(at("2026-06-18T08:00Z"), reminder(stage="day-3")).granted_now()
    assert scenario.body["items"][0]["cycle"] == 2


def test_paid_then_reopened() -> None:
    scenario = given(at("2026-02-20"), invoice(due="2026-03-01", owes=60000, currency="EUR"))
    for day, stage in (("04", "day-3"), ("08", "day-7"), ("15", "day-14")):
        scenario.when(at(f"2026-03-{day}T08:00Z"), reminder(stage=stage)).granted_now()
        scenario.when(report())
    scenario.when(at("2026-03-16T12:00Z"), paid(60000))
    scenario.when(reminder()).then(status=409, code="nothing_owed")
    scenario.when(at("2026-04-10T09:00Z"), paid(60000, state="reversed"))
    scenario.when(at("2026-04-13T08:00Z"), reminder(stage="day-3")).granted_now()
    item = scenario.body["items"][0]
    assert (item["cycle"], item["stage"], item["amount_remaining"]) == (2, "day-3", 60000)
    scenario.when(reminder(stage="day-14")).then(status=409, code="not_reached")
    scenario.when(report(), reminder(stage="day-3")).then(status=409, code="already_sent")


def test_partial_payment_keeps_cycle() -> None:
    scenario = given(at("2026-08-20"), invoice(due="2026-09-01", owes=100000, currency="EUR"))
    scenario.when(at("2026-09-04T08:00Z"), reminder(stage="day-3"), report())
    scenario.when(at("2026-09-06T10:00Z"), paid(20000))
    scenario.when(at("2026-09-08T08:00Z"), reminder(stage="day-3")).then(
        status=409, code="already_sent"
    )
    scenario.when(reminder(stage="day-7")).granted_now()
    assert scenario.body["items"][0]["amount_remaining"] == 80000


def test_payment_in_flight() -> None:
    scenario = given(at("2026-03-20"), invoice(due="2026-04-01", owes=40000, currency="EUR"))
    scenario.when(at("2026-04-03T10:00Z"), paid(40000, state="pending"))
    scenario.when(at("2026-04-04T08:00Z"), reminder(stage="day-3")).then(
        status=409,
        code="payment_in_flight",
        events=[],
        body={"available_at": "2026-04-10T10:00:00Z"},
    )
    scenario.when(at("2026-04-07T07:00Z"), paid(40000, state="failed"))
    scenario.when(at("2026-04-07T08:00Z"), reminder(stage="day-3")).granted_now()


def test_payment_in_flight_for_ever_holds_seven_days() -> None:
    scenario = given(at("2026-03-20"), invoice(due="2026-04-01"), at("2026-04-03T10:00Z"))
    scenario.when(paid(30000, state="pending"), at("2026-04-10T09:59:59Z"), reminder())
    scenario.then(status=409, code="payment_in_flight")
    scenario.when(at("2026-04-10T10:00Z"), reminder()).granted_now()


def test_fraction_of_a_cent() -> None:
    scenario = given(at("2026-04-20"), invoice(due="2026-05-01", owes=8379, total=8379))
    scenario.when(at("2026-04-30T10:00Z"), paid(8379))
    scenario.when(at("2026-05-04T08:00Z"), reminder(stage="day-3")).then(
        status=409, code="nothing_owed"
    )


def test_zero_decimal_yen() -> None:
    policy = Policy(smallest_amount_to_dun={"USD": 500, "JPY": 100})
    scenario = given(
        at("2026-05-20"),
        invoice(due="2026-06-01", owes=300, total=300, currency="JPY"),
        at("2026-06-04T08:00Z"),
        policy=policy,
    )
    scenario.when(reminder(stage="day-3")).granted_now()
    item = scenario.body["items"][0]
    assert (item["amount_remaining"], item["currency"]) == (300, "JPY")


@pytest.mark.parametrize(
    ("when", "code"),
    [
        ("2026-08-11T00:05:00Z", "cap_reached"),
        ("2026-08-11T23:49:59Z", "cap_reached"),
        ("2026-08-11T23:50:00Z", None),
    ],
)
def test_rolling_window_midnight(when: str, code: str | None) -> None:
    scenario = given(at("2026-08-10T23:50Z"), invoice(due="2026-08-05"), reminder(), report())
    scenario.when(at("2026-08-10T23:55Z"), notification(by=AGENT), report(by=AGENT))
    scenario.when(at(when)).when(notification("third", by=OPERATOR))
    assert scenario.body.get("code") == code
    assert scenario.alerts == (["breaker_opened"] if code else [])


def test_many_invoices_one_morning() -> None:
    names = ("16a", "16b", "16c", "16d")
    scenario = given(at("2026-11-01"), *(invoice(n, due="2026-11-02") for n in names))
    scenario.when(at("2026-11-05T08:00Z"), reminder("16a")).granted_now()
    scenario.when(reminder("16b")).granted_now()
    scenario.when(reminder("16c")).then(status=429, code="cap_reached", alerts=["breaker_opened"])
    scenario.when(reminder("16d")).then(status=409, code="breaker_open", alerts=[])
    for name in ("16c", "16d"):
        assert scenario.aggregate("invoice", name).stages == {}
    once = given(at("2026-11-01"), *(invoice(n, due="2026-11-02") for n in names))
    once.when(at("2026-11-05T08:00Z"), reminder(*names)).granted_now()
    assert [item["stage"] for item in once.body["items"]] == ["day-3"] * 4
    assert once.body["windows"]["outreach_24h"] == {"used": 1, "limit": 2}


def test_replies_versus_notices() -> None:
    scenario = given(at("2026-05-17T10:00Z"), message("<a@x>"))
    scenario.when(minutes(5), reply("<a@x>")).granted_now()
    scenario.when(report(), at("2026-05-17T10:20Z"), message("<b@x>"), minutes(5), reply("<b@x>"))
    scenario.when(report(), at("2026-05-17T10:40Z"), message("<c@x>"))
    scenario.when(at("2026-05-17T10:45Z"), reply("<c@x>")).granted_now()
    assert scenario.body["windows"]["replies_1h"] == {"used": 3, "limit": 5}


def test_bounce_is_not_a_reply() -> None:
    scenario = given(at("2026-05-27T08:00Z"), message("<start@x>"), at("2026-05-27T09:00Z"))
    scenario.when(intent("notice"), report())
    ours = IDENTITY.message_id(scenario.granted[0])
    bounce = message("<dsn@x>", automatic="it is a delivery report", references=(ours,))
    scenario.when(timedelta(seconds=40), bounce)
    scenario.when(timedelta(seconds=5), reply("<dsn@x>")).then(
        status=409, code="auto_generated", events=[]
    )
    assert len(scenario.aggregate("customer", "cus_1").permits) == 1


def test_same_event_in_parallel() -> None:
    failed = fact(PaymentFailed("inv_1", "evt_22", "pi_1"), id="evt_22", source="stripe")
    scenario = given(at("2026-07-31T10:00Z"), invoice())
    event = ApplyFact(failed, POLLER)
    first, second = scenario.submit(event, event)
    assert (first.result, second.result) == ("applied", "duplicate")
    assert (first.status, second.status) == (200, 200)
    answers = scenario.submit(payment_failed("evt_22"), payment_failed("evt_22", by=AGENT))
    assert [answer.status for answer in answers] == [201, 409]


def test_seen_but_not_handled() -> None:
    event = fact(paid(7500), "2026-09-08T09:00Z", id="evt_23", source="stripe")
    scenario = given(at("2026-08-20"), invoice(due="2026-09-01", owes=7500, total=7500))
    scenario.when(at("2026-09-04"), reminder(), report(), at("2026-09-08T09:05Z"))
    scenario.when(event).then(result="applied")
    scenario.when(event).then(result="duplicate", events=[])
    scenario.when(at("2026-09-08T09:10Z"), reminder(stage="day-7")).then(
        status=409, code="nothing_owed"
    )


def test_dst_short_day() -> None:
    scenario = given(at("2026-03-20"), invoice(due="2026-03-27", zone="Europe/Berlin"))
    scenario.when(at("2026-03-29T21:59:59Z"), reminder()).then(status=409, code="not_reached")
    scenario.when(at("2026-03-29T22:30Z"), reminder(stage="day-3")).granted_now()


def test_dst_long_day() -> None:
    scenario = given(at("2026-10-20"), invoice(due="2026-10-23", zone="Europe/Berlin"))
    scenario.when(at("2026-10-25T22:59:59Z"), reminder()).then(status=409, code="not_reached")
    scenario.when(at("2026-10-25T23:00Z"), reminder()).granted_now()
    scenario.when(report(), hours(1), reminder()).then(status=409, code="already_sent")


def test_case_and_unicode_twins() -> None:
    def mail(number: int, to: str) -> Any:
        return notification(str(number), customer=None, to=to)

    scenario = given(at("2026-08-12T09:00Z"), mail(1, "billing@m\u00fcller.example"), report())
    scenario.when(minutes(10), mail(2, "billing@m\u00fcller.example"), report())
    scenario.when(minutes(10)).when(mail(3, "Billing@M\u00dcLLER.example")).then(
        status=429, code="cap_reached", alerts=["breaker_opened"]
    )
    for number, to in ((4, "billing@mu\u0308ller.example"), (5, "billing@xn--mller-kva.example")):
        scenario.when(minutes(1), mail(number, to)).then(status=409, code="breaker_open")


def test_plus_tag_and_dots() -> None:
    scenario = given(at("2026-04-01"), customer("29a", "ops@mail.example"))
    scenario.when(
        invoice("b", customer="29b", due="2026-03-30", email="ops+invoices@mail.example"),
        invoice("b2", customer="29b2", due="2026-03-30", email="o.ps@mail.example"),
    )
    scenario.when(at("2026-04-02T08:00Z"), notification("1", customer="29a"), report())
    scenario.when(minutes(30), notification("2", customer="29a"), report())
    scenario.when(minutes(30), reminder("b")).granted_now()
    scenario.when(minutes(1), reminder("b2")).granted_now()


def test_restored_snapshot() -> None:
    names = [f"inv_{number}" for number in range(40)]
    facts = [invoice(n, customer=f"cus_{n}", due="2026-03-27") for n in names]
    scenario = given(at("2026-03-30T07:30Z"), *facts, at("2026-03-30T13:00Z"))
    scenario.when(EnterRecovery("an older copy", at("2026-03-30T07:30Z")), minutes(1))
    for name in names:
        scenario.when(reminder(name, stage="day-3")).then(status=409, code="recovery_mode")
    for name in names:
        sent = observed_send("2026-03-30T09:00Z", f"cus_{name}", name, "day-3")
        scenario.when(sent).then(result="applied", alerts=[])
        scenario.when(reminder(name, stage="day-3")).then(status=409, code="already_sent")


def test_flood_one_apology() -> None:
    scenario = given(at("2026-07-13"), invoice("31a", due="2026-07-01", owes=12000, total=12000))
    scenario.when(invoice("31b", due="2026-07-01", owes=30000), paid(25000, "31b"))
    scenario.when(at("2026-07-15T08:05Z"))
    for number in range(14):
        sent = observed_send(f"2026-07-14T{9 + number:02d}:00Z", "cus_1", "31a", "day-7")
        scenario.when(sent)
    assert [alert.kind for alert in scenario.store.alerts.values()] == ["breaker_opened"]
    begin, end = at("2026-07-14T08:00Z"), at("2026-07-15T08:00Z")
    scenario.when(at("2026-07-15T08:10Z"), CallPause("kind:reminder", "flood", "ann", OPERATOR))
    scenario.when(DeclareIncident("F1", "flood", "bad data", begin, end, "ann", OPERATOR))
    scenario.when(at("2026-07-15T08:30Z"))
    first, second = scenario.submit(apology(key="a"), apology(key="b", by=AGENT))
    assert (first.status, second.status) == (201, 409)
    assert scenario.event("Incident.ApologyPermitted").statement.owed == {"USD": 17000}
    scenario.when(redeem(), report())
    scenario.when(at("2026-07-15T08:31Z"), reminder("31b")).then(status=409, code="paused")
    scenario.when(reminder("31a", stage="day-7")).then(status=409, code="already_sent")
    scenario.when(at("2026-07-16T09:00Z"), apology()).then(status=409, code="apology_already_sent")


def test_in_flight_twin() -> None:
    scenario = given(at("2026-09-07T10:00Z"), invoice(due="2026-09-01"))
    twin = reminder(stage="day-3", key="K")
    scenario.when(reminder(key="K", expected={"inv_1": Expected(9)})).then(
        status=409, code="stale_cycle"
    )
    scenario.when(reminder(key="K")).granted_now()
    other = given(at("2026-09-05T10:00Z"), invoice(due="2026-09-01"))
    first, second = other.submit(twin, twin)
    assert (first.status, second.status, first.body) == (201, 200, second.body)
    assert len(other.store.permits) == 1


def test_timeout_but_delivered() -> None:
    scenario = given(at("2026-06-01"), invoice(due="2026-06-03", owes=50000, currency="EUR"))
    scenario.when(at("2026-06-06"), reminder(), report(), at("2026-06-10T14:09Z"))
    scenario.when(reminder(stage="day-7"), redeem(), timedelta(seconds=48), report("unknown"))
    for step in range(22):
        scenario.when(at("2026-06-10T14:15Z") + step * minutes(10))
        scenario.when(reminder(stage="day-7", key=f"new-{step}")).then(
            status=409, code="outcome_unknown"
        )
    scenario.when(at("2026-06-10T18:00Z"), fact(delivery(permit=scenario.granted[1])))
    assert scenario.permit().state == "sent"
    scenario.when(reminder(stage="day-7")).then(status=409, code="already_sent")
    scenario.when(report()).then(status=200, events=[])


def test_same_key_other_content() -> None:
    scenario = given(at("2026-07-03T09:00Z"), intent("invoice_copy", "T39", "C39", key="K"))
    first = scenario.body["permit_id"]
    scenario.when(intent("invoice_copy", "T39", "C39", key="K")).then(
        status=200, headers={"Idempotent-Replayed": "true"}, body={"permit_id": first}
    )
    scenario.when(intent("invoice_copy", "T39", "C40", key="K")).then(
        status=422, code="key_conflict", events=[]
    )
    scenario.when(intent("c", "a:b", "C39b", key="L")).granted_now()
    scenario.when(intent("b:c", "a", "C39c", key="M")).granted_now()


def test_deliberate_later_send() -> None:
    scenario = given(at("2026-09-01T10:00Z"), message(), intent("invoice_copy"), report())
    scenario.when(at("2026-09-05T14:00Z"), message("<m41@x>"), minutes(5))
    again = intent("invoice_copy", by=OPERATOR, override="op-7")
    scenario.when(again).granted_now()
    assert scenario.body["windows"]["outreach_24h"]["used"] == 1
    scenario.when(timedelta(seconds=2), again).then(status=409, code="already_sent")
    scenario.when(minutes(1), intent("invoice_copy", by=AGENT)).then(
        status=409, code="duplicate_intent"
    )
