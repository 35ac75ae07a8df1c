"""Which denials have a row: by a minute of the ledger's time, and only what was committed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from ledger.application.ports import DecisionRow
from ledger.application.repeated_denials import MOST_ROWS, RepeatedDenials

_NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
_ROW = DecisionRow(
    decision_id="00000000-0000-4000-8000-000000000001",
    decided_at=_NOON,
    position=7,
    operation="permit",
    key_id="key_a",
    sender="a",
    kind="message",
    customer_id=None,
    invoice_id=None,
    thread_id="t",
    status=409,
    code="permit_held",
    replayed=False,
    policy="p",
    request=b'{"kind":"message"}',
    answer=b'{"status":409}',
)


def _deny(
    repeats: RepeatedDenials, count: int, now: datetime = _NOON, row: DecisionRow = _ROW
) -> int:
    """Deny so often in one transaction; returns how many had rows."""
    tally, _ = repeats.begin(now)
    had_rows = [tally.row_for(row) for _ in range(count)].count(None)
    repeats.commit(tally)
    return had_rows


def test_the_count_is_a_row_once_the_minute_is_over() -> None:
    repeats = RepeatedDenials()
    assert _deny(repeats, MOST_ROWS + 3) == MOST_ROWS
    later = _NOON + timedelta(seconds=30)
    assert _deny(repeats, 2, later, replace(_ROW, position=9)) == 0
    assert repeats.begin(_NOON + timedelta(seconds=59))[1] == []
    tally, (row,) = repeats.begin(_NOON + timedelta(seconds=60))
    assert (row.decided_at, row.position) == (later, 9)
    assert row.answer == b'{"status":409,"repeats":5}'
    assert row.decision_id != _ROW.decision_id
    assert tally.row_for(_ROW) is None
    repeats.commit(tally)
    assert not repeats.owes_rows


def test_a_transaction_that_was_not_committed_counts_for_nothing() -> None:
    repeats = RepeatedDenials()
    assert _deny(repeats, MOST_ROWS) == MOST_ROWS
    lost, _ = repeats.begin(_NOON)
    assert lost.row_for(_ROW) == _ROW.decision_id
    assert not repeats.owes_rows
    assert _deny(repeats, 1) == 0
    after = _NOON + timedelta(minutes=1)
    for _ in range(2):
        _, (row,) = repeats.begin(after)
        assert row.answer.endswith(b',"repeats":1}')


def test_a_clock_that_is_set_back_ends_the_minute() -> None:
    repeats = RepeatedDenials()
    assert _deny(repeats, MOST_ROWS + 1) == MOST_ROWS
    assert len(repeats.begin(_NOON - timedelta(days=30))[1]) == 1


def test_a_process_that_ends_owes_nothing() -> None:
    repeats = RepeatedDenials()
    _deny(repeats, MOST_ROWS + 1)
    tally, rows = repeats.begin(_NOON, closing=True)
    repeats.commit(tally)
    assert len(rows) == 1
    assert not repeats.owes_rows


def test_what_is_followed_has_a_bound_and_the_rest_has_rows() -> None:
    repeats = RepeatedDenials()
    for number in range(3_000):
        assert _deny(repeats, 1, row=replace(_ROW, request=b"%d" % number)) == 1
    assert _deny(repeats, 500, row=replace(_ROW, key_id="key_b")) == 500
    assert _deny(repeats, MOST_ROWS + 9, row=replace(_ROW, request=b"0")) == MOST_ROWS - 1
    assert len(repeats._seen) <= 2_000
    assert _deny(repeats, 1, _NOON + timedelta(minutes=2)) == 1
    assert len(repeats._seen) < 10
