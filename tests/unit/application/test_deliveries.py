"""Providers' words on a mail: in any order, under any of its names, early or late."""

from itertools import permutations

import pytest

from ledger.application.commands import ReleaseAddress, ReportOutcome
from ledger.application.facts.delivery import Delivery
from tests.support.build import (
    LAST,
    POLLER,
    address,
    at,
    customer,
    days,
    fact,
    invoice,
    notification,
    reminder,
    report,
)
from tests.support.given import Scenario, given

OURS = "<0100@ses.example>"
EVENTS = ("delivered", "bounced", "complained")
REPORT = ReportOutcome(LAST, "sent", POLLER, "ses", "pm_1", OURS)


def granted() -> Scenario:
    """A reminder to somebody with an address, handed over, its outcome not reported yet."""
    return given(at("2026-12-04"), invoice(email="pat@x.example"), reminder())


def said(event: str, id: str | None = "pm_1", message_id: str | None = None) -> Delivery:
    """A provider's word on the mail."""
    return Delivery("ses", event, id, message_id)


def state_of(scenario: Scenario) -> tuple[str, str, list[str]]:
    """What the permit, its stage and the addresses on hold are after all."""
    stage = scenario.aggregate("invoice", "inv_1").stages[(1, "day-3")]
    mailbox = scenario.aggregate("address", address("pat@x.example").fingerprint)
    held = (
        [hold.reason for _, hold in mailbox.holds.in_force(scenario.store.now)] if mailbox else []
    )
    return str(scenario.permit().state), stage.state, sorted(held)


@pytest.mark.parametrize("order", [*permutations((*EVENTS, "report"))])
def test_every_order_of_news_leads_to_the_same_state(order: tuple[str, ...]) -> None:
    scenario = granted()
    alerts: list[str] = []
    for word in order:
        scenario.when(REPORT if word == "report" else fact(said(word)))
        alerts += scenario.alerts
    state, stage, held = state_of(scenario)
    assert (state, stage, held) == ("sent", "bounced", ["bounced", "complained"])
    assert alerts == ["address_on_hold"]


@pytest.mark.parametrize("event", ["bounced", "complained"])
def test_a_second_word_changes_nothing(event: str) -> None:
    scenario = granted().when(REPORT, fact(said(event)))
    scenario.when(fact(said(event))).then(result="applied", events=[], alerts=[])


@pytest.mark.parametrize(
    "name", [said("bounced", "pm_1"), said("bounced", None, OURS), said("bounced", "pm_1", OURS)]
)
def test_an_early_word_is_kept_under_each_name_of_the_mail(name: Delivery) -> None:
    scenario = granted().when(fact(name)).then(result="applied", events=[])
    scenario.when(REPORT).then(status=200, alerts=["address_on_hold"])
    assert state_of(scenario)[:2] == ("sent", "bounced")


def test_an_early_word_is_told_once_so_that_a_release_stands() -> None:
    scenario = granted().when(fact(said("bounced")), REPORT)
    scenario.when(ReleaseAddress("cus_1", "ann", "typo fixed", POLLER)).then(result="applied")
    scenario.when(report(id="pm_1")).then(status=200, events=[])
    assert state_of(scenario)[2] == []


def test_a_mail_is_known_by_the_providers_id_from_its_first_event() -> None:
    scenario = granted()
    by_our_id = Delivery("ses", "delivered", "pm_7", None, scenario.granted[0])
    scenario.when(fact(said("bounced", "pm_7")), fact(by_our_id)).then(alerts=["address_on_hold"])
    assert state_of(scenario)[:2] == ("sent", "bounced")
    later = granted()
    later.when(fact(Delivery("ses", "delivered", "pm_7", None, later.granted[0])), report())
    later.when(fact(said("complained", "pm_7"))).then(alerts=["address_on_hold"])


def test_each_time_that_an_address_is_held_pages() -> None:
    scenario = given(customer("cus_1", "pat@x.example"), notification(), report(id="pm_1"))
    scenario.when(fact(said("bounced", "pm_1"))).then(alerts=["address_on_hold"])
    before = len(scenario.store.alerts)
    scenario.when(notification("ord_10")).then(status=409, code="address_on_hold")
    scenario.when(ReleaseAddress("cus_1", "ann", "fixed", POLLER), days(2))
    scenario.when(notification("ord_10"), report(id="pm_2"), fact(said("bounced", "pm_2")))
    scenario.then(alerts=["address_on_hold"])
    assert len(scenario.store.alerts) == before + 1


def test_a_new_address_ends_the_hold() -> None:
    scenario = given(customer("cus_1", "pat@x.example"), notification(), report(id="pm_1"))
    scenario.when(fact(said("bounced", "pm_1")), days(2))
    scenario.when(notification("ord_10")).then(status=409, code="address_on_hold")
    scenario.when(customer("cus_1", "pat@new.example"), notification("ord_10")).then(status=201)
