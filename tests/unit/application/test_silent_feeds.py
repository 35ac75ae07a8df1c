"""Sources of facts: what a process notes of them, and how silence goes on record (ADR 11)."""

from typing import Any

import pytest

from ledger.application.answers import Answer
from ledger.application.commands import ApplyFact, Lapse, NoteFeedSilence
from ledger.application.facts.registry import FACT_TYPES
from ledger.application.heard_feeds import HeardFeeds
from ledger.domain.policy import Policy
from tests.support.build import (
    POLLER,
    at,
    credit,
    customer,
    days,
    fact,
    hold,
    invoice,
    minutes,
    paid,
    reminder,
)
from tests.support.given import given

NOW = at("2026-12-04T10:00:00+00:00")
LATER = at("2026-12-04T10:00:05+00:00")
SILENCE = NoteFeedSilence("erp", NOW)


def heard(*told: tuple[Any, str], source: str = "erp", when: Any = NOW) -> HeardFeeds:
    """What is noted of facts with these results."""
    feeds = HeardFeeds()
    commands = [ApplyFact(fact(data, source=source), POLLER) for data, _ in told]
    feeds.note(when, commands, [Answer(200, b"{}", result=result) for _, result in told])
    return feeds


def note_hold(feeds: HeardFeeds, result: str) -> None:
    """A hold that the same source tells later."""
    command = ApplyFact(fact(hold(), source="erp"), POLLER)
    feeds.note(LATER, [command], [Answer(200, b"{}", result=result)])


def test_nobody_is_silent_before_the_time_even_if_a_wrong_clock_said_so() -> None:
    scenario = given(NOW, fact(invoice(), source="erp"), days(7) - minutes(1))
    scenario.when(SILENCE).then(result="stale", events=[], alerts=[])
    scenario.when(minutes(1), SILENCE).then(result="applied")
    off = given(NOW, days(99), policy=Policy(feed_silent_hours=0))
    off.when(SILENCE).then(result="stale", events=[], alerts=[])


def test_silence_is_an_event_and_one_page_however_often_it_is_noted() -> None:
    scenario = given(NOW, fact(invoice(), source="erp"), days(7))
    scenario.when(SILENCE).then(
        result="applied", events=["Control.FeedFellSilent"], alerts=["feed_silent"]
    )
    scenario.when(SILENCE).then(result="ignored", events=[], alerts=[])
    assert [a.dedupe_key for a in scenario.store.alerts.values()] == [
        "feed_silent:erp:2026-12-04T10:00:00+00:00"
    ]


@pytest.mark.parametrize("data", [customer("cus_9"), hold(), invoice(seen="2026-01-01")])
def test_any_fact_ends_the_silence_also_one_that_changes_nothing(data: Any) -> None:
    scenario = given(NOW, fact(invoice(), source="erp", id="1"), days(7), SILENCE)
    scenario.when(fact(data, source="erp"))
    assert "Control.FeedHeardAgain" in scenario.events
    again = NoteFeedSilence("erp", scenario.store.now)
    scenario.when(days(7), again).then(events=["Control.FeedFellSilent"])


def test_a_duplicate_ends_the_silence_too() -> None:
    told = fact(invoice(), source="erp", id="1")
    scenario = given(NOW, told, days(7), SILENCE).when(told)
    scenario.then(result="duplicate", events=["Control.FeedHeardAgain"])


def test_another_source_and_what_rides_along_do_not_end_it() -> None:
    scenario = given(NOW, fact(invoice(), source="erp"), days(7), SILENCE, minutes(1))
    scenario.when(fact(invoice(owes=29_000), source="shop"))
    assert "Control.FeedHeardAgain" not in scenario.events
    scenario.when(reminder(facts=(invoice(owes=28_000),)))
    assert "Control.FeedHeardAgain" not in scenario.events


def test_results_are_counted_and_the_latest_time_is_kept() -> None:
    feeds = heard((invoice(), "applied"), (invoice(), "stale"), (customer(), "applied"))
    feeds.note(
        LATER,
        [ApplyFact(fact(hold(), source="erp"), POLLER)],
        [Answer(200, b"{}", result="ignored")],
    )
    taken = feeds.take()["erp"]
    assert (taken.at, taken.tells_of_money) == (LATER, True)
    assert taken.results == {
        "applied": 2,
        "duplicate": 0,
        "stale": 1,
        "ignored": 1,
        "rejected": 0,
    }
    assert feeds.take() == {}


@pytest.mark.parametrize(
    ("data", "money"),
    [(invoice(), True), (paid(1), True), (credit(1), True), (hold(), False), (customer(), False)],
)
def test_whether_a_source_tells_of_money_is_said_by_the_type_of_its_facts(
    data: Any, money: bool
) -> None:
    assert heard((data, "applied")).take()["erp"].tells_of_money is money
    assert FACT_TYPES[type(data)].tells_of_money is money


def test_what_is_no_source_and_what_is_no_fact_is_not_noted() -> None:
    assert heard((invoice(), "applied"), source="").take() == {}
    assert heard((invoice(), "applied"), source="riding").take() == {}
    feeds = HeardFeeds()
    feeds.note(NOW, [Lapse("p")], [Answer(200, b"{}", result="applied")])
    assert feeds.take() == {}


def test_what_could_not_be_written_is_added_to_what_came_since() -> None:
    feeds = heard((invoice(), "applied"))
    taken = feeds.take()
    feeds.note(
        LATER,
        [ApplyFact(fact(hold(), source="erp"), POLLER)],
        [Answer(200, b"{}", result="applied")],
    )
    feeds.give_back(taken)
    again = feeds.take()["erp"]
    assert (again.at, again.tells_of_money, again.results["applied"]) == (LATER, True, 2)


def test_a_thousand_sources_are_noted_at_once_and_no_more() -> None:
    feeds = HeardFeeds()
    commands = [ApplyFact(fact(hold(), source=f"s{n}"), POLLER) for n in range(1_001)]
    feeds.note(NOW, commands, [Answer(200, b"{}", result="applied")] * len(commands))
    taken = feeds.take()
    assert len(taken) == 1_000
    assert "s1000" not in taken
