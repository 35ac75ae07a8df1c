"""News dated ahead of the ledger's clock: taken as of its arrival, for every type of fact (D10)."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any, get_type_hints

import pytest

from ledger.application.commands import ApplyFact
from ledger.application.facts.registry import FACT_TYPES
from ledger.domain.balance import MoneyFact, Snapshot, Status
from ledger.domain.identity import aggregate_id
from ledger.domain.invoice import Invoice, Standing
from ledger.domain.news import AHEAD
from tests.support.build import (
    POLLER,
    at,
    credit,
    customer,
    customer_hold,
    customer_unhold,
    days,
    fact,
    hold,
    invoice,
    message,
    minutes,
    observed_send,
    paid,
    payment_failed,
    reminder,
    reply,
    subscription_told,
    unhold,
)
from tests.support.given import given

NOW = "2026-12-04T10:00:00+00:00"
AHEADS = ("2026-12-04T10:05:01+00:00", "2026-12-04T15:00:00+00:00", "2062-01-01")
_TO_COME = {"until"}
"""Times in facts that mean a moment to come, and none at which the news was."""


def test_each_type_names_every_time_that_its_news_may_be_of() -> None:
    for data in FACT_TYPES:
        hints = get_type_hints(data)
        shape: Any = data
        fields = [field.name for field in dataclasses.fields(shape)]
        moments = {name for name in fields if "datetime.datetime" in str(hints[name])}
        assert set(data.TIMES) == moments - _TO_COME, data


@pytest.mark.parametrize("ahead", AHEADS)
def test_a_snapshot_of_the_future_gives_way_to_news_of_today(ahead: str) -> None:
    scenario = given(at(NOW), invoice(seen=ahead)).then(result="applied", alerts=["clock_ahead"])
    assert scenario.aggregate("invoice", "inv_1").snapshot.observed_at == at(NOW)
    scenario.when(minutes(1), fact(paid(30000), "2026-12-04T10:00:30+00:00"))
    scenario.when(reminder()).then(status=409, code="nothing_owed")
    scenario = given(at(NOW), invoice(seen=ahead), minutes(1))
    scenario.when(invoice(owes=0, status=Status.PAID, seen="2026-12-04T10:00:30+00:00"))
    scenario.when(reminder()).then(status=409, code="nothing_owed")


@pytest.mark.parametrize("ahead", AHEADS)
def test_money_of_the_future_is_in_the_snapshot_of_the_next_day(ahead: str) -> None:
    for told in (paid(10000), credit(10000)):
        scenario = given(at("2026-12-04"), invoice(), at(NOW), fact(told, ahead))
        scenario.then(alerts=["clock_ahead"])
        assert scenario.aggregate("invoice", "inv_1").standing.balance == 20000
        scenario.when(days(1), invoice(owes=20000))
        assert scenario.aggregate("invoice", "inv_1").standing.balance == 20000


@pytest.mark.parametrize("ahead", AHEADS)
def test_a_hold_of_the_future_can_be_lifted_today(ahead: str) -> None:
    scenario = given(at(NOW), invoice(), fact(hold(), ahead), fact(customer_hold(), ahead))
    scenario.then(alerts=["clock_ahead"])
    scenario.when(minutes(1), unhold(), customer_unhold(), reminder()).granted_now()


@pytest.mark.parametrize("ahead", AHEADS)
def test_addresses_of_the_future_give_way_to_those_of_tomorrow(ahead: str) -> None:
    scenario = given(at(NOW), fact(customer("cus_1", "old@x.example"), ahead), days(1), invoice())
    scenario.when(customer("cus_1", "new@x.example"), reminder()).granted_now()
    assert scenario.body["to"] == "new@x.example"


@pytest.mark.parametrize("ahead", AHEADS)
def test_a_message_of_the_future_was_seen_when_it_came(ahead: str) -> None:
    data = dataclasses.replace(message(), at=at(ahead))
    scenario = given(at(NOW), fact(data, ahead)).then(alerts=["clock_ahead"])
    assert scenario.event("Thread.MessageSeen").seen_at == at(NOW)
    scenario.when(reply()).granted_now()


@pytest.mark.parametrize("ahead", AHEADS)
def test_a_mail_of_the_future_counts_from_its_arrival(ahead: str) -> None:
    scenario = given(at(NOW), observed_send(ahead)).then(alerts=["clock_ahead"])
    assert scenario.event("Customer.MailObserved").permit.granted_at == at(NOW)


def test_clocks_may_differ_by_minutes() -> None:
    seen = (at(NOW) + AHEAD).isoformat()
    scenario = given(at(NOW), invoice(seen=seen), fact(paid(1), seen), fact(hold(), seen))
    scenario.then(alerts=[])
    assert scenario.aggregate("invoice", "inv_1").snapshot.observed_at == at(seen)


def test_one_page_per_source_and_day_however_much_it_tells() -> None:
    scenario = given(at(NOW))
    for number in range(5):
        scenario.when(fact(paid(1, id=f"p{number}"), "2062-01-01", str(number), "billing"))
    scenario.when(fact(paid(1, id="other"), "2062-01-01", "1", "shop"))
    scenario.when(fact(paid(1, id="p0"), "2062-01-01", "0", "billing")).then(result="duplicate")
    scenario.when(days(1), fact(paid(1, id="late"), "2062-01-01", "9", "billing"))
    assert list(scenario.store.alerts) == [
        "clock_ahead:billing:2026-12-04",
        "clock_ahead:shop:2026-12-04",
        "clock_ahead:billing:2026-12-05",
    ]


def test_what_rides_along_is_of_whoever_asked() -> None:
    scenario = given(at(NOW), reminder(facts=(invoice(seen="2062-01-01"),))).granted_now()
    assert list(scenario.store.alerts) == ["clock_ahead:riding:poller:2026-12-04"]


def test_a_rejected_fact_pages_nobody() -> None:
    scenario = given(at(NOW))
    scenario.submit(ApplyFact(fact(observed_send("2062-01-01", stage="day-99")), POLLER))
    scenario.then(result="rejected", alerts=[])


def _event(cls: Any, version: int, arrival: datetime, **fields: Any) -> Any:
    id_ = aggregate_id("invoice", "inv_1")
    return cls(originator_id=id_, originator_version=version, timestamp=arrival, **fields)


def test_what_was_taken_in_with_such_dates_before_is_of_its_arrival_too() -> None:
    arrival = datetime(2026, 12, 1, 10, tzinfo=UTC)
    far = datetime(2062, 1, 1, tzinfo=UTC)
    standing = Standing(Status.OPEN, 100, 1, None, None, run_ended=False)
    seen = Snapshot("cus_1", "USD", 100, 100, Status.OPEN, far)
    invoice_: Any = _event(
        Invoice.Created, 1, arrival, originator_topic=Invoice.TOPIC, invoice_id="inv_1"
    ).mutate(None)
    told = {"snapshot": seen, "standing": standing, "beside": (), "in_flight_until": None}
    _event(Invoice.Observed, 2, arrival, **told).mutate(invoice_)
    money = MoneyFact("pay_1", "succeeded", 40, far)
    moved = _event(
        Invoice.MoneyMoved,
        3,
        arrival + timedelta(days=1),
        fact=money,
        standing=None,
        in_flight_until=None,
    )
    moved.mutate(invoice_)
    assert invoice_.snapshot.observed_at == arrival
    assert [fact.at for fact in invoice_.money.values()] == [arrival + timedelta(days=1)]


@pytest.mark.parametrize("ahead", AHEADS)
@pytest.mark.parametrize("where", ["in the fact", "in its envelope"])
def test_an_end_of_the_future_is_of_today_and_a_later_word_undoes_it(
    ahead: str, where: str
) -> None:
    end = subscription_told(invoices=("inv_1",), when=ahead if where == "in the fact" else None)
    told = end if where == "in the fact" else fact(end, ahead)
    scenario = given(at(NOW), invoice(), told).then(result="applied", alerts=["clock_ahead"])
    scenario.when(payment_failed("evt_1")).then(status=409, code="subscription_ended")
    scenario.when(minutes(40), subscription_told(ended=False, when="2026-12-04T10:30:00Z"))
    scenario.then(result="applied")
    scenario.when(payment_failed("evt_1")).granted_now()
