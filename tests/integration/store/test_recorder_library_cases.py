"""The library's own recorder test cases, run unchanged against our recorder.

Two things of ours do not fit their words, so a thin layer stands between. Their states are bytes
such as b"state1" while ours are JSON: the layer stores them as JSON strings. And they want the
recorder of aggregates to answer None where that of an application answers positions; ours is
both, so for those cases the layer holds the positions back.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast
from unittest import TestCase
from uuid import UUID

import pytest
from eventsourcing.persistence import Notification, StoredEvent

from ledger.store.log.recorder import LedgerRecorder
from tests.support.eventsourcing_cases import (
    AggregateRecorderTestCase,
    ApplicationRecorderTestCase,
    NonInterleavingNotificationIDsBaseCase,
)


class AnyStates(LedgerRecorder):
    """Our recorder for states that are any text."""

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        return super().insert_events([as_json(e) for e in stored_events], **kwargs)

    def select_events(self, originator_id: UUID | str, **kwargs: Any) -> list[StoredEvent]:
        return [as_text(event) for event in super().select_events(originator_id, **kwargs)]

    def select_notifications(self, *args: Any, **kwargs: Any) -> list[Notification]:
        found = super().select_notifications(*args, **kwargs)
        return [cast(Notification, as_text(notification)) for notification in found]


class WithoutPositions(AnyStates):
    """Answers as the library's recorders of aggregates do."""

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Any:
        super().insert_events(stored_events, **kwargs)


def as_json(event: StoredEvent) -> StoredEvent:
    return replace(event, state=json.dumps(event.state.decode()).encode())


def as_text(event: StoredEvent) -> StoredEvent:
    return replace(event, state=json.loads(event.state).encode())


class AggregateCases(AggregateRecorderTestCase):
    """One aggregate's events."""

    __test__ = False

    def create_recorder(self) -> Any:
        """Set for each run."""


class ApplicationCases(ApplicationRecorderTestCase[LedgerRecorder]):
    """Positions, conflicts, writers at the same time, subscriptions."""

    __test__ = False

    def create_recorder(self) -> Any:
        """Set for each run."""


class NonInterleavingCases(NonInterleavingNotificationIDsBaseCase):
    """The positions of two writers do not mix."""

    __test__ = False

    def create_recorder(self) -> Any:
        """Set for each run."""


CASES: list[tuple[type[TestCase], type[LedgerRecorder], str]] = [
    (AggregateCases, WithoutPositions, "test_insert_and_select"),
    (AggregateCases, WithoutPositions, "test_performance"),
    (ApplicationCases, AnyStates, "test_insert_select"),
    (ApplicationCases, AnyStates, "test_performance"),
    (ApplicationCases, AnyStates, "test_concurrent_no_conflicts"),
    (ApplicationCases, AnyStates, "test_concurrent_throughput"),
    (ApplicationCases, AnyStates, "optional_test_insert_subscribe"),
    (NonInterleavingCases, AnyStates, "test"),
]


@pytest.mark.parametrize(
    ("cases", "recorder_class", "name"),
    [pytest.param(*case, id=f"{case[0].__name__}.{case[2]}") for case in CASES],
)
def test_library_case(
    database: str, cases: type[TestCase], recorder_class: type[LedgerRecorder], name: str
) -> None:
    recorder = recorder_class(database)
    case: Any = cases(name)
    case.create_recorder = lambda: recorder
    try:
        getattr(case, name)()
    finally:
        recorder.close()


def test_no_case_of_the_library_is_left_out() -> None:
    """A new version of the library may bring more."""
    for cases in (AggregateCases, ApplicationCases, NonInterleavingCases):
        known = {name for name in dir(cases) if name.startswith(("test", "optional_test"))}
        assert known == {name for owner, _, name in CASES if owner is cases}
