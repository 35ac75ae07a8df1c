"""The log is verified from what is stored, and every kind of tampering is found where it is."""

from uuid import UUID, uuid5

import psycopg
import pytest
from eventsourcing.persistence import StoredEvent

from ledger.store.hashchain import GENESIS
from ledger.store.log.recorder import LedgerRecorder
from ledger.store.looking_back import audit
from ledger.store.looking_back.audit import Checkpoint, Problem, verify
from tests.support.tampering import rebuild_chain, tamper

EVENTS = 40
AGGREGATES = 5
SPACE = UUID("7f3b1f5e-0000-4000-8000-000000000000")


def event(number: int) -> StoredEvent:
    """The events go round the aggregates: each has versions 1, 2, 3 …"""
    id_ = uuid5(SPACE, str(number % AGGREGATES))
    version = 1 + number // AGGREGATES
    return StoredEvent(id_, version, f"topic-{number % 3}", b'{"n": "%d \xc3\xbc"}' % number)


@pytest.fixture
def log(database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A log of 40 events, that is read in pages of 10."""
    monkeypatch.setattr(audit, "PAGE", 10)
    recorder = LedgerRecorder(database)
    for first in range(0, EVENTS, 8):
        recorder.insert_events([event(number) for number in range(first, first + 8)])
    recorder.close()
    return database


def stored_hash(log: str, position: int) -> bytes:
    with psycopg.connect(log) as connection:
        row = connection.execute(
            "SELECT hash FROM events WHERE position = %s", [position]
        ).fetchone()
        assert row is not None
        return bytes(row[0])


def checkpoint(log: str, position: int) -> Checkpoint:
    return Checkpoint(position, stored_hash(log, position))


def test_a_log_that_nobody_touched_is_good_to_its_end(log: str) -> None:
    found = verify(log)
    assert (found.ok, found.first_bad_position, found.problem) == (True, None, None)
    assert (found.checked, found.head_position) == (EVENTS, EVENTS)
    assert found.head_hash == stored_hash(log, EVENTS)


def test_an_empty_log_is_good(database: str) -> None:
    found = verify(database)
    assert (found.ok, found.checked, found.head_position) == (True, 0, 0)
    assert found.head_hash == GENESIS


def test_the_chain_is_what_its_description_says(log: str) -> None:
    """Computed by the database from the description alone, for each event."""
    with psycopg.connect(log) as connection:
        rows = connection.execute(
            """
            SELECT position, hash, sha256(
                coalesce(lag(hash) OVER (ORDER BY position), decode(repeat('00', 32), 'hex'))
                || convert_to(octet_length(head) || ':', 'UTF8') || head
                || convert_to(octet_length(convert_to(topic, 'UTF8')) || ':' || topic, 'UTF8')
                || convert_to(octet_length(convert_to(state::text, 'UTF8')) || ':', 'UTF8')
                || convert_to(state::text, 'UTF8')
            )
            FROM events, LATERAL (
                SELECT convert_to('0;' || position || ';', 'UTF8')
                    || uuid_send(originator_id)
                    || convert_to(';' || originator_version || ';'
                        || (extract(epoch FROM recorded_at) * 1000000)::bigint || ';', 'UTF8')
                    AS head
            ) AS parts
            ORDER BY position
            """
        ).fetchall()
    assert [position for position, _, _ in rows] == list(range(1, EVENTS + 1))
    assert [(p, stored) for p, stored, _ in rows] == [(p, computed) for p, _, computed in rows]


CHANGES = {
    "a byte of the state": 'UPDATE events SET state = \'{"n": "16 u"}\' WHERE position = 17',
    "only a blank in the state": (
        "UPDATE events SET state = (state::text || ' ')::json WHERE position = 17"
    ),
    "the topic": "UPDATE events SET topic = 'topic-9' WHERE position = 17",
    "the time, by a microsecond": (
        "UPDATE events SET recorded_at = recorded_at + interval '1 microsecond' WHERE position = 17"
    ),
    "the version": "UPDATE events SET originator_version = 99 WHERE position = 17",
    "the aggregate": ("UPDATE events SET originator_id = gen_random_uuid() WHERE position = 17"),
    "a byte of the hash": "UPDATE events SET hash = set_byte(hash, 5, 0) WHERE position = 17",
    "the length of the hash": "UPDATE events SET hash = hash || '\\x00' WHERE position = 17",
    "an empty hash": "UPDATE events SET hash = '' WHERE position = 17",
}


def put_back(log: str) -> None:
    """The log as it was before the first tampering of this test."""
    tamper(
        log,
        "CREATE TABLE IF NOT EXISTS original AS SELECT * FROM events",
        "DELETE FROM events",
        "INSERT INTO events SELECT * FROM original",
    )


def test_a_change_is_found_where_it_is(log: str) -> None:
    before = stored_hash(log, 16)
    for what, change in CHANGES.items():
        put_back(log)
        tamper(log, change)
        found = verify(log)
        assert (found.first_bad_position, found.problem) == (17, Problem.CHANGED), what
        assert (found.ok, found.checked, found.head_position) == (False, 16, 16), what
        assert found.head_hash == before, what
    put_back(log)
    assert verify(log).ok


def test_a_column_emptied_after_its_rule_was_dropped_is_found(log: str) -> None:
    tamper(
        log,
        "ALTER TABLE events DROP CONSTRAINT events_partition_originator_id_originator_version_key",
    )
    for column in ("state", "hash", "topic", "recorded_at", "originator_id"):
        put_back(log)
        tamper(
            log,
            f"ALTER TABLE events ALTER {column} DROP NOT NULL",
            f"UPDATE events SET {column} = NULL WHERE position = 21",
        )
        found = verify(log)
        assert (found.first_bad_position, found.problem) == (21, Problem.CHANGED), column


def test_a_deleted_event_is_found(log: str) -> None:
    """The first, in the middle, and at either side of a page."""
    for position in (1, 10, 11, 25):
        put_back(log)
        tamper(log, f"DELETE FROM events WHERE position = {position}")
        found = verify(log)
        assert (found.first_bad_position, found.problem) == (position, Problem.MISSING)


def test_two_swapped_events_are_found(log: str) -> None:
    tamper(
        log,
        "UPDATE events SET position = 1000 WHERE position = 12",
        "UPDATE events SET position = 12 WHERE position = 33",
        "UPDATE events SET position = 33 WHERE position = 1000",
    )
    found = verify(log)
    assert (found.first_bad_position, found.problem) == (12, Problem.CHANGED)


def test_an_event_before_the_first_is_found(log: str) -> None:
    """It would be loaded with its aggregate, though it stands in no chain."""
    tamper(
        log,
        "INSERT INTO events SELECT 0, -5, originator_id, 99, topic, state, recorded_at, hash"
        " FROM events WHERE position = 1",
    )
    found = verify(log)
    assert (found.first_bad_position, found.problem) == (-5, Problem.OUT_OF_PLACE)


def test_an_event_far_beyond_the_end_is_found(log: str) -> None:
    tamper(log, f"UPDATE events SET position = 10000000000000 WHERE position = {EVENTS}")
    found = verify(log)
    assert (found.first_bad_position, found.problem) == (EVENTS, Problem.MISSING)


def test_a_position_used_twice_is_found(log: str) -> None:
    tamper(
        log,
        "ALTER TABLE events DROP CONSTRAINT events_pkey",
        "INSERT INTO events SELECT 0, 14, originator_id, 99, topic, state, recorded_at, hash"
        " FROM events WHERE position = 14",
    )
    found = verify(log)
    assert found.first_bad_position == 14
    assert found.problem in (Problem.OUT_OF_PLACE, Problem.CHANGED)


def test_a_cut_tail_shows_only_against_a_checkpoint(log: str) -> None:
    kept = checkpoint(log, 30)
    tamper(log, "DELETE FROM events WHERE position > 25")
    assert verify(log).ok
    found = verify(log, against=[kept])
    assert (found.ok, found.first_bad_position, found.problem) == (False, 26, Problem.CUT_OFF)


def test_a_rebuilt_chain_shows_only_against_a_checkpoint(log: str) -> None:
    kept = [checkpoint(log, position) for position in (10, 20, 30)]
    assert verify(log, against=kept).ok
    tamper(log, CHANGES["a byte of the state"])
    rebuild_chain(log, after=16)
    assert verify(log).ok
    found = verify(log, against=kept)
    assert (found.ok, found.first_bad_position, found.problem) == (False, 20, Problem.REWRITTEN)


@pytest.mark.parametrize(
    ("version", "position"), [(9, None), (10, EVENTS + 1), (1, EVENTS + 1), (0, EVENTS + 1)]
)
def test_a_version_out_of_sequence_is_found(log: str, version: int, position: int | None) -> None:
    """The chain is whole over it: it was appended by the same code as every other."""
    tamper(
        log,
        "ALTER TABLE events DROP CONSTRAINT events_partition_originator_id_originator_version_key",
    )
    recorder = LedgerRecorder(log)
    recorder.insert_events([StoredEvent(event(0).originator_id, version, "topic-0", b"{}")])
    recorder.close()
    for start in (None, checkpoint(log, 10), checkpoint(log, EVENTS)):
        found = verify(log, start=start)
        assert found.first_bad_position == position
        assert found.problem == (Problem.VERSION if position else None)


def test_a_new_aggregate_begins_with_version_1(log: str) -> None:
    recorder = LedgerRecorder(log)
    recorder.insert_events([StoredEvent(uuid5(SPACE, "new"), 2, "topic-0", b"{}")])
    recorder.close()
    found = verify(log, start=checkpoint(log, 20))
    assert (found.first_bad_position, found.problem) == (EVENTS + 1, Problem.VERSION)


def test_a_run_may_go_on_where_another_stopped(log: str) -> None:
    reached: list[tuple[Checkpoint, int]] = []
    verify(log, progress=lambda at, last: reached.append((at, last)))
    assert reached == [(checkpoint(log, p), EVENTS) for p in (10, 20, 30, 40)]
    rest = verify(log, start=reached[1][0])
    assert (rest.ok, rest.checked, rest.head_position) == (True, 20, EVENTS)
    assert rest.head_hash == stored_hash(log, EVENTS)
    tamper(log, CHANGES["the topic"])
    assert verify(log, start=reached[1][0]).ok
    assert verify(log, start=reached[0][0]).first_bad_position == 17


def test_a_start_that_is_not_in_the_log_is_no_start(log: str) -> None:
    found = verify(log, start=Checkpoint(20, bytes(32)))
    assert (found.ok, found.first_bad_position) == (False, 20)
    found = verify(log, start=Checkpoint(EVENTS + 5, bytes(32)))
    assert (found.first_bad_position, found.problem) == (EVENTS + 1, Problem.CUT_OFF)


def test_events_that_come_meanwhile_are_left_for_the_next_run(log: str) -> None:
    recorder = LedgerRecorder(log)

    def append(at: Checkpoint, last: int) -> None:
        recorder.insert_events([event(EVENTS + at.position // 10 - 1)])

    assert verify(log, progress=append).checked == EVENTS
    recorder.close()
    assert verify(log).checked == EVENTS + 4
