"""Mail that comes too late: `not_after`, and the policy's hours since it happened (ADR 11)."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ledger.application.commands import RequestPermit
from ledger.application.kinds.timeliness import Timeliness
from ledger.domain.policy import Policy
from tests.support.build import (
    OPERATOR,
    at,
    customer_hold,
    digest,
    follow_up,
    intent,
    message,
    minutes,
    notification,
    redeem,
    report,
)
from tests.support.given import given

NOW = at("2026-12-04T10:00:00+00:00")
DAY = Policy(too_late_hours=24)
ASKS = {
    "notification": notification,
    "digest": digest,
    "follow_up": follow_up,
    "message": intent,
}
SECOND = timedelta(seconds=1)


def timely(
    kind: str = "notification",
    happened_at: datetime | None = None,
    not_after: datetime | None = None,
    **how: Any,
) -> RequestPermit:
    """A request of that kind with these times."""
    command = ASKS[kind](**how)
    subject: Any = command.subject
    return replace(command, subject=replace(subject, timeliness=Timeliness(happened_at, not_after)))


@pytest.mark.parametrize("kind", ASKS)
def test_from_not_after_on_it_is_too_late(kind: str) -> None:
    scenario = given(NOW, message(customer="cus_1"))
    scenario.when(timely(kind, not_after=NOW))
    scenario.then(status=409, code="too_late", body={"retryable": False}, events=[])
    assert "was to go before 2026-12-04T10:00:00Z" in scenario.body["detail"]
    scenario.when(timely(kind, not_after=NOW + SECOND)).granted_now()


@pytest.mark.parametrize("kind", ASKS)
def test_the_policy_counts_from_when_it_happened(kind: str) -> None:
    scenario = given(NOW, message(customer="cus_1"), policy=DAY)
    yesterday = NOW - timedelta(hours=24)
    scenario.when(timely(kind, yesterday)).then(status=409, code="too_late")
    scenario.when(timely(kind, yesterday + SECOND)).granted_now()


def test_without_the_policy_what_happened_long_ago_is_told() -> None:
    given(NOW).when(timely(happened_at=at("2020-01-01"))).granted_now()


def test_the_earlier_of_both_ends_counts() -> None:
    hour = timedelta(hours=1)
    assert Timeliness(NOW, NOW + hour).ends_at(DAY) == NOW + hour
    assert Timeliness(NOW, NOW + 30 * hour).ends_at(DAY) == NOW + 24 * hour
    assert Timeliness(NOW, NOW + 30 * hour).ends_at(Policy()) == NOW + 30 * hour
    assert Timeliness(NOW).ends_at(Policy()) is None
    assert Timeliness().ends_at(DAY) is None


def test_the_permit_lapses_when_the_mail_is_too_late() -> None:
    ends = NOW + timedelta(minutes=4)
    scenario = given(NOW, timely(not_after=ends))
    assert scenario.permit().send_by == ends
    scenario.when(ends, redeem()).then(status=409, code="expired")
    scenario = given(NOW, timely(not_after=NOW + timedelta(hours=1)))
    assert scenario.permit().send_by == NOW + timedelta(minutes=10)


def test_a_duplicate_and_a_live_permit_are_named_before_it() -> None:
    scenario = given(NOW, notification())
    scenario.when(timely(not_after=NOW)).then(code="permit_held")
    scenario.when(report(), timely(not_after=NOW)).then(code="already_sent")


def test_it_is_named_before_holds_and_an_override_does_not_pass_it() -> None:
    scenario = given(NOW, notification("1"), report(), customer_hold(), minutes(1))
    scenario.when(timely(not_after=NOW)).then(code="too_late")
    again = timely(not_after=NOW, by=OPERATOR, override="act_1")
    scenario.when(again).then(status=409, code="too_late")
