"""The metrics of a process that has not looked at the database yet, or cannot."""

from types import SimpleNamespace
from typing import Any

from prometheus_client.core import Metric

from api.http.metrics import LedgerCollector
from api.running.latency import Latencies
from api.upkeep.status_watch import LedgerStatus, Watched
from api.webhooks.counts import WebhookCounts
from ledger.application.counters import Counters

OF_THE_DATABASE = {
    "send_ledger_paused",
    "send_ledger_recovery_mode",
    "send_ledger_open_breakers",
    "send_ledger_unknown_permits",
    "send_ledger_unseen_alerts",
    "send_ledger_feed_age_seconds",
}


def _collected(watched: Watched) -> dict[str, Metric]:
    context: Any = SimpleNamespace(
        engine=SimpleNamespace(counters=Counters(), waiting=0, position=7, clock_suspect=None),
        latencies=Latencies(),
        intake=SimpleNamespace(counts=WebhookCounts()),
        watched=watched,
        projector=SimpleNamespace(progress={}),
        pager=SimpleNamespace(counters=SimpleNamespace(sent=0, failed=0, pending=0)),
    )
    return {family.name: family for family in LedgerCollector(context).collect()}


def _values(families: dict[str, Metric]) -> dict[str, dict[tuple[str, ...], float]]:
    return {
        name: {tuple(s.labels.values()): s.value for s in families[name].samples}
        for name in OF_THE_DATABASE
    }


def test_all_metrics_are_there_before_the_first_look_without_values() -> None:
    before = _collected(Watched())
    assert _values(before) == {name: {} for name in OF_THE_DATABASE}
    seen = Watched(status=LedgerStatus())
    assert _collected(seen).keys() == before.keys()


def test_what_was_seen_is_shown_without_addresses() -> None:
    status = LedgerStatus(
        paused=frozenset({"all", "sender:pat@example.com"}),
        recovery=True,
        open_breakers={"outreach": 2},
        unknown_permits={"over_1d": 3},
        unseen_alerts={"breaker_open": 4},
        feed_ages={"stripe": 5.5},
    )
    assert _values(_collected(Watched(status=status))) == {
        "send_ledger_paused": {("all",): 1, ("[address]",): 1},
        "send_ledger_recovery_mode": {(): 1},
        "send_ledger_open_breakers": {("outreach",): 2, ("all",): 0},
        "send_ledger_unknown_permits": {("under_1h",): 0, ("1h_to_1d",): 0, ("over_1d",): 3},
        "send_ledger_unseen_alerts": {("breaker_open",): 4},
        "send_ledger_feed_age_seconds": {("stripe",): 5.5},
    }


def test_a_lost_database_takes_the_values_away_and_says_so() -> None:
    watched = Watched(status=LedgerStatus(recovery=True))
    watched.saw_nothing("OperationalError")
    found = _collected(watched)
    assert _values(found) == {name: {} for name in OF_THE_DATABASE}
    assert [s.value for s in found["send_ledger_database_up"].samples] == [0]
