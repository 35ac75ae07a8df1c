"""Rolling windows: half-open edges, which lanes count where, and when a place frees (D8)."""

from datetime import timedelta

import pytest

from ledger.domain import windows
from ledger.domain.permit import Lane, State
from ledger.domain.policy import Policy
from tests.support.aggregates import NOON, a_permit
from tests.support.build import days, hours, minutes

TICK = timedelta(microseconds=1)
POLICY = Policy()


def test_a_mail_exactly_24_hours_old_no_longer_counts() -> None:
    mail = a_permit(NOON, State.SENT, settled_at=NOON)
    assert windows.outreach([mail], POLICY, NOON + days(1) - TICK).used == 1
    assert windows.outreach([mail], POLICY, NOON + days(1)).used == 0


def test_a_reply_exactly_an_hour_old_no_longer_counts_in_the_hour() -> None:
    mail = a_permit(NOON, State.SENT, Lane.REPLY, settled_at=NOON)
    assert windows.replies_hour([mail], POLICY, NOON + hours(1) - TICK).used == 1
    assert windows.replies_hour([mail], POLICY, NOON + hours(1)).used == 0
    assert windows.replies_day([mail], POLICY, NOON + hours(1)).used == 1


def test_each_lane_has_its_window_and_apologies_count_as_outreach() -> None:
    mails = [
        a_permit(NOON, State.SENT, Lane.OUTREACH, name="a"),
        a_permit(NOON, State.SENT, Lane.APOLOGY, name="b"),
        a_permit(NOON, State.SENT, Lane.REPLY, name="c"),
        a_permit(NOON, State.SENT, Lane.TRANSACTIONAL, name="d"),
        a_permit(NOON, State.SENT, Lane.TRANSACTIONAL, name="e"),
    ]
    assert windows.outreach(mails, POLICY, NOON).used == 2
    assert windows.replies_hour(mails, POLICY, NOON).used == 1
    assert windows.thread_replies(mails, POLICY, NOON).used == 1
    assert windows.transactional(mails, POLICY, NOON).used == 2


@pytest.mark.parametrize(
    ("counted", "name", "limit"),
    [
        (windows.outreach, "outreach_24h", 2),
        (windows.replies_hour, "replies_1h", 5),
        (windows.replies_day, "replies_24h", 30),
        (windows.thread_replies, "thread_replies_1h", 5),
        (windows.transactional, "transactional_24h", 20),
    ],
)
def test_names_and_limits_of_the_policy(counted: object, name: str, limit: int) -> None:
    assert callable(counted)
    empty = counted([], POLICY, NOON)
    assert (empty.name, empty.used, empty.limit, empty.frees_at) == (name, 0, limit, None)
    assert not empty.full


def test_a_place_frees_when_the_oldest_mail_leaves() -> None:
    mails = [a_permit(NOON, name="a"), a_permit(NOON + minutes(5), name="b")]
    window = windows.outreach(mails, POLICY, NOON + hours(1))
    assert window.full
    assert window.frees_at == NOON + hours(24)


def test_with_more_mails_than_places_it_takes_as_many_to_leave() -> None:
    mails = [a_permit(NOON + minutes(n), name=str(n)) for n in range(5)]
    window = windows.outreach(mails, POLICY, NOON + hours(1))
    frees_at = NOON + minutes(3) + hours(24)
    assert (window.used, window.frees_at) == (5, frees_at)
    assert windows.outreach(mails, POLICY, frees_at).used == 1
    assert windows.outreach(mails, POLICY, frees_at - TICK).used == 2


@pytest.mark.parametrize(
    ("state", "required", "redeemed", "settled", "counts_from"),
    [
        (State.GRANTED, True, None, None, 0),
        (State.GRANTED, False, None, None, 0),
        (State.REDEEMED, True, 4, None, 4),
        (State.SENT, True, 4, 6, 6),
        (State.SENT, False, None, 6, 6),
        (State.SENT, True, 4, 300, 10),
        (State.UNKNOWN, True, 4, 300, 10),
        (State.UNKNOWN, False, None, 300, 10),
        (State.UNKNOWN, True, 4, 5, 10),
        (State.REJECTED, True, 4, 6, None),
        (State.EXPIRED, True, None, 10, None),
        (State.REVOKED, True, None, 6, None),
        (State.REVOKED, True, 4, 6, 4),
        (State.REVOKED, False, None, 6, 0),
    ],
)
def test_from_when_a_permit_counts(
    state: State, required: bool, redeemed: int | None, settled: int | None, counts_from: int | None
) -> None:
    permit = a_permit(
        NOON,
        state,
        required=required,
        redeemed_at=None if redeemed is None else NOON + minutes(redeemed),
        settled_at=None if settled is None else NOON + minutes(settled),
    )
    expected = None if counts_from is None else NOON + minutes(counts_from)
    assert permit.counts_at == expected
    assert permit.counts_within(NOON + minutes(20), hours(1)) is (expected is not None)


@pytest.mark.parametrize(
    ("state", "required", "becomes"),
    [
        (State.GRANTED, True, State.EXPIRED),
        (State.GRANTED, False, State.UNKNOWN),
        (State.REDEEMED, True, State.UNKNOWN),
        (State.REDEEMED, False, State.UNKNOWN),
        (State.SENT, True, None),
        (State.REJECTED, True, None),
        (State.REVOKED, True, None),
        (State.UNKNOWN, True, None),
    ],
)
def test_what_becomes_of_a_permit_at_its_send_by(
    state: State, required: bool, becomes: State | None
) -> None:
    permit = a_permit(NOON, state, required=required)
    assert permit.lapsed_state(permit.send_by - TICK) is None
    assert permit.lapsed_state(permit.send_by) is becomes
