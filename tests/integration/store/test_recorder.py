"""Our recorder beyond the library's cases: the chain it writes, its errors, the library's tools."""

import threading
from collections.abc import Iterator
from uuid import UUID, uuid4

import psycopg
import pytest
from eventsourcing.application import AggregateNotFoundError, Application
from eventsourcing.persistence import (
    DataError,
    InfrastructureFactoryError,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    StoredEvent,
)

from ledger.domain.job import Job
from ledger.store.factory import LedgerFactory
from ledger.store.log.recorder import LedgerRecorder
from ledger.store.log.timeouts import Timeouts
from ledger.store.looking_back.audit import verify

SHORT = Timeouts(lock=50)


@pytest.fixture
def recorder(database: str) -> Iterator[LedgerRecorder]:
    recorder = LedgerRecorder(database, poll_seconds=0.01)
    yield recorder
    recorder.close()


def event(id_: UUID, version: int, topic: str = "topic", state: bytes = b"{}") -> StoredEvent:
    return StoredEvent(id_, version, topic, state)


def test_it_opens_nothing_before_its_first_use() -> None:
    recorder = LedgerRecorder("host=/nowhere dbname=none connect_timeout=1")
    assert recorder.insert_events([]) == []
    recorder.close()


def test_the_state_is_kept_byte_for_byte(recorder: LedgerRecorder) -> None:
    """Blanks, order and repeated keys too: the hash is over what is stored (design, traps)."""
    state = '{"b":1, "a" : [1.0,1e2,"ü\\u00fc\\u0000"], "a":null }'.encode()
    id_ = uuid4()
    recorder.insert_events([event(id_, 1, state=state)])
    (found,) = recorder.select_events(id_)
    assert found.state == state


def test_what_it_writes_is_in_the_chain_and_in_time(
    database: str, recorder: LedgerRecorder
) -> None:
    id_ = uuid4()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE clock SET test_now = '2030-01-01T00:00:00.000001Z'")
        recorder.insert_events([event(id_, 1), event(id_, 2)])
        connection.execute("UPDATE clock SET test_now = '2029-01-01T00:00:00Z'")
        recorder.insert_events([event(id_, 3)])
        connection.execute("UPDATE clock SET test_now = '2031-01-01T00:00:00Z'")
        recorder.insert_events([event(id_, 4)])
        rows = connection.execute(
            "SELECT position, to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD US')"
            " FROM events ORDER BY position"
        ).fetchall()
    assert rows == [
        (1, "2030-01-01 000001"),
        (2, "2030-01-01 000001"),
        (3, "2030-01-01 000001"),
        (4, "2031-01-01 000000"),
    ]
    assert verify(database).checked == 4


def test_a_version_that_is_taken_is_a_conflict_and_leaves_nothing(
    database: str, recorder: LedgerRecorder
) -> None:
    id_ = uuid4()
    recorder.insert_events([event(id_, 1)])
    with pytest.raises(IntegrityError):
        recorder.insert_events([event(uuid4(), 1), event(id_, 1)])
    assert recorder.max_notification_id() == 1
    assert recorder.insert_events([event(id_, 2)]) == [2]
    assert verify(database).ok


def test_a_state_that_is_no_json_is_refused(recorder: LedgerRecorder) -> None:
    with pytest.raises(DataError):
        recorder.insert_events([event(uuid4(), 1, state=b"state1")])
    assert recorder.max_notification_id() is None


def test_it_waits_for_the_writer_lock_and_says_so_when_it_is_not_free(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.store.log.recorder.Timeouts", lambda: SHORT)
    recorder = LedgerRecorder(database)
    with psycopg.connect(database) as holder:
        holder.execute("SELECT FROM partitions FOR UPDATE")
        with pytest.raises(OperationalError, match="lock timeout"):
            recorder.insert_events([event(uuid4(), 1)])
        assert recorder.max_notification_id() is None
    assert recorder.insert_events([event(uuid4(), 1)]) == [1]
    recorder.close()


def test_a_lost_connection_is_replaced(database: str, recorder: LedgerRecorder) -> None:
    recorder.insert_events([event(uuid4(), 1)])
    with psycopg.connect(database, autocommit=True) as other:
        killed = other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'send-ledger recorder'"
        ).fetchall()
    assert killed == [(True,)]
    with pytest.raises(OperationalError):
        recorder.insert_events([event(uuid4(), 1)])
    assert recorder.insert_events([event(uuid4(), 1)]) == [2]


def test_a_subscription_passes_over_other_topics_and_goes_on(recorder: LedgerRecorder) -> None:
    """More than a page of other topics lies between the two that are wanted."""
    id_ = uuid4()
    recorder.insert_events([event(id_, 1, "wanted")])
    recorder.insert_events([event(id_, version, "other") for version in range(2, 703)])
    with recorder.subscribe(topics=["wanted"]) as subscription:
        assert next(subscription).id == 1
        later = threading.Thread(target=recorder.insert_events, args=([event(id_, 703, "wanted")],))
        later.start()
        assert next(subscription).id == 703
        later.join()


def test_a_subscription_can_be_stopped_while_it_waits(recorder: LedgerRecorder) -> None:
    with recorder.subscribe() as subscription:
        seen: list[int] = []
        reader = threading.Thread(target=lambda: seen.extend(n.id for n in subscription))
        reader.start()
        subscription.stop()
        reader.join(timeout=10)
        assert not reader.is_alive()
        assert seen == []


def test_the_librarys_application_reads_and_writes_our_log(database: str) -> None:
    env = {"PERSISTENCE_MODULE": "ledger.store.factory", "LEDGER_DATABASE_URL": database}
    job = Job("nightly")
    with Application[UUID](env) as application:
        with pytest.raises(AggregateNotFoundError):
            application.repository.get(job.id)
        recordings = application.save(job)
        assert [recording.notification.id for recording in recordings] == [1]
        found: object = application.repository.get(job.id)
        assert isinstance(found, Job)
        assert (found.name, found.version) == ("nightly", 1)
        (notification,) = application.notification_log.select(1, 10)
        assert notification.topic == "ledger:Job.Created"
    assert verify(database).ok


def test_the_factory_says_what_it_does_not_do(database: str) -> None:
    with pytest.raises(InfrastructureFactoryError, match="LEDGER_DATABASE_URL"):
        LedgerFactory({}).application_recorder()
    factory = LedgerFactory({"LEDGER_DATABASE_URL": database})
    assert factory.aggregate_recorder() is factory.application_recorder()
    for refused in (
        lambda: factory.aggregate_recorder("snapshots"),
        factory.tracking_recorder,
        factory.process_recorder,
    ):
        with pytest.raises(NotSupportedError):
            refused()
    factory.close()
