"""What the log is told of pauses, breakers, the database and denials: one line for each change."""

import logging
from collections import Counter

import pytest

from api.process.logs import JsonFormatter
from api.upkeep.status_watch import DENIALS_EVERY, LedgerStatus, Watched, changes
from ledger.application.counters import OTHERS, Counters
from tests.support.decision_rows import decision


def _told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    told = [(getattr(r, "event", ""), r.getMessage()) for r in caplog.records]
    caplog.clear()
    return told


def test_a_change_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    caplog.set_level(logging.INFO, "ledger.watch")
    paused = LedgerStatus(frozenset({"kind:reminder"}), open_breakers={"outreach": 2, "all": 1})
    watched.saw(paused)
    assert _told(caplog) == [
        ("paused", "kind:reminder is paused"),
        ("breakers", "3 breakers are open, 0 were"),
    ]
    watched.saw(paused)
    assert _told(caplog) == []
    watched.saw(LedgerStatus())
    assert [event for event, _ in _told(caplog)] == ["resumed", "breakers"]


def test_recovery_mode_is_told_at_both_ends() -> None:
    before, after = LedgerStatus(), LedgerStatus(recovery=True)
    assert [event for event, _ in changes(before, after)] == ["recovery_mode"]
    assert [event for event, _ in changes(after, before)] == ["recovered"]


def test_the_database_lost_and_back_is_told_once_each(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    caplog.set_level(logging.INFO, "ledger.watch")
    paused = LedgerStatus(frozenset({"all"}))
    watched.saw(paused)
    caplog.clear()
    watched.saw_nothing("PoolTimeout")
    watched.saw_nothing("PoolTimeout")
    assert (watched.database_up, watched.status) == (False, None)
    assert _told(caplog) == [("database_lost", "the database does not answer: PoolTimeout")]
    watched.saw(paused)
    assert _told(caplog) == [("database_back", "the database answers again")]
    assert watched.database_up


def test_denials_are_told_by_rate_a_line_for_each_code(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    caplog.set_level(logging.INFO, "ledger.watch")
    start = watched._denials_at
    answers = Counter({"granted": 900, "paused": 4, "cap_reached": 50_000})
    watched.count_denials(answers, start + DENIALS_EVERY / 2)
    assert _told(caplog) == []
    watched.count_denials(answers, start + DENIALS_EVERY)
    line = JsonFormatter().format(caplog.records[0])
    assert '"event": "denied"' in line
    assert '"code": "cap_reached", "count": 50000' in line
    assert _told(caplog) == [
        ("denied", "denied in 60 seconds: 50000 by cap_reached"),
        ("denied", "denied in 60 seconds: 4 by paused"),
    ]
    watched.count_denials(answers + Counter({"paused": 1}), start + 2 * DENIALS_EVERY)
    assert _told(caplog) == [("denied", "denied in 60 seconds: 1 by paused")]


def test_decisions_are_counted_by_sender_kind_and_answer() -> None:
    counters = Counters()
    counters.count(decision("poller", "reminder", 201, None))
    counters.count(decision("poller", "reminder", 409, "paused"))
    counters.count(decision("poller", "reminder", 409, "paused"))
    counters.count(decision("pat@example.com", "reply", 201, None))
    assert counters.decisions == {
        ("poller", "reminder", "granted"): 1,
        ("poller", "reminder", "paused"): 2,
        ("[address]", "reply", "granted"): 1,
    }
    assert counters.answers == {"granted": 2, "paused": 2}


def test_of_more_senders_than_two_hundred_the_rest_share_a_label() -> None:
    counters = Counters()
    for number in range(300):
        counters.count(decision(f"sender {number}", "reminder", 201, None))
    assert len(counters.decisions) == 201
    assert counters.decisions[(OTHERS, "reminder", "granted")] == 100
