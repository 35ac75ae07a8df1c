"""When the database's clock is trusted: jumps, drift, idle time, a log that is ahead, a human."""

from datetime import UTC, datetime, timedelta

import pytest

from ledger.domain.clock_trust import Reading, Suspicion, judge

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
BOUND = timedelta(minutes=5)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


def judged(
    jump: timedelta,
    *,
    passed: timedelta = MINUTE,
    log: timedelta | None = None,
    accepted: timedelta | None = None,
) -> Suspicion | None:
    """A reading `passed` after noon that is off by `jump`; `log`, `accepted`: times after noon."""
    read = Reading(NOON + passed + jump, 1_000 + passed.total_seconds())
    at = [NOON + span if span is not None else None for span in (log, accepted)]
    return judge(Reading(NOON, 1_000.0), read, at[0], at[1], BOUND)


@pytest.mark.parametrize("jump", [timedelta(0), BOUND, -BOUND])
def test_up_to_the_bound_it_is_trusted(jump: timedelta) -> None:
    assert judged(jump) is None


@pytest.mark.parametrize("jump", [6 * MINUTE, 30 * DAY])
def test_a_jump_forward_is_suspect_and_events_get_the_time_that_passed(jump: timedelta) -> None:
    found = judged(jump)
    assert found is not None
    assert found.now == NOON + MINUTE
    assert f"+{jump.total_seconds():.0f} s off" in found.cause


def test_a_jump_back_is_suspect_and_events_get_the_earlier_time() -> None:
    found = judged(-DAY)
    assert found is not None
    assert found.now == NOON + MINUTE - DAY


def test_but_never_a_time_before_the_log_ends() -> None:
    found = judged(-DAY, log=-MINUTE)
    assert found is not None
    assert found.now == NOON - MINUTE
    assert "; the last event of the log" in found.cause


@pytest.mark.parametrize("idle", [DAY, 30 * DAY, 400 * DAY])
def test_a_long_idle_time_is_no_jump(idle: timedelta) -> None:
    assert judged(timedelta(0), passed=idle) is None
    drift = idle * 0.00005
    assert judged(drift, passed=idle) is None
    assert judged(-drift, passed=idle) is None


def test_an_idle_time_that_the_process_did_not_count_is_a_jump() -> None:
    """A machine that was suspended for an hour: its monotonic clock stood still."""
    assert judged(timedelta(hours=1), passed=timedelta(seconds=1)) is not None


def test_a_log_ahead_of_the_clock_is_suspect() -> None:
    assert judged(timedelta(0), log=MINUTE + BOUND) is None
    found = judged(timedelta(0), log=30 * DAY)
    assert found is not None
    assert found.now == NOON + 30 * DAY
    assert "ahead of the database's clock" in found.cause


def test_a_human_who_accepted_it_since_is_believed() -> None:
    assert judged(30 * DAY, accepted=30 * DAY + MINUTE) is None
    assert judged(30 * DAY, passed=DAY, accepted=30 * DAY) is None


def test_what_was_accepted_is_not_another_jump() -> None:
    assert judged(30 * DAY, accepted=-DAY) is not None
    assert judged(60 * DAY, accepted=30 * DAY) is not None
    assert judged(30 * DAY, accepted=60 * DAY) is not None


def test_a_human_does_not_make_a_log_ahead_right() -> None:
    """Its own event does: it is the last one, and has the time of the clock."""
    assert judged(timedelta(0), log=30 * DAY, accepted=MINUTE) is not None
