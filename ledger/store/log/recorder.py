"""The eventsourcing recorder for our log: uses the same lock, positions, times and hashes.

For tools and tests. It writes only events, not the look-ups that belong to them (names, permits,
decisions); the ledger itself writes through the engine (design D3, D4).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import Any
from uuid import UUID

import psycopg
from eventsourcing import persistence
from eventsourcing.persistence import ApplicationRecorder, Notification, StoredEvent, Subscription
from psycopg_pool import ConnectionPool

from ledger.application.clock import decision_time
from ledger.store.hashchain import GENESIS
from ledger.store.log.encoding import event_row
from ledger.store.log.timeouts import Timeouts
from ledger.store.log.transcoding import write_json
from ledger.store.statements import statement

_ERRORS: tuple[tuple[type[psycopg.Error], type[Exception]], ...] = (
    (psycopg.InterfaceError, persistence.InterfaceError),
    (psycopg.DataError, persistence.DataError),
    (psycopg.OperationalError, persistence.OperationalError),
    (psycopg.IntegrityError, persistence.IntegrityError),
    (psycopg.InternalError, persistence.InternalError),
    (psycopg.ProgrammingError, persistence.ProgrammingError),
    (psycopg.NotSupportedError, persistence.NotSupportedError),
    (psycopg.DatabaseError, persistence.DatabaseError),
    (psycopg.Error, persistence.PersistenceError),
)
_CONNECTIONS = 8
_PAGE = 500


class LedgerRecorder(ApplicationRecorder):
    """Implements ApplicationRecorder; may be used from several threads at once.

    Opens no connection before its first use. Errors are the library's: IntegrityError for a
    version that exists already, DataError for a state that is not JSON, OperationalError where the
    database does not answer or the writer lock does not become free in time.
    """

    def __init__(self, conninfo: str, *, poll_seconds: float = 0.1) -> None:
        timeouts = replace(Timeouts(), idle_in_transaction=5_000)
        self._pool = ConnectionPool(
            conninfo,
            min_size=0,
            max_size=_CONNECTIONS,
            open=False,
            timeout=timeouts.answer / 1000,
            kwargs={
                "autocommit": True,
                "options": timeouts.options,
                "connect_timeout": timeouts.connect // 1000,
                "tcp_user_timeout": timeouts.answer,
                "application_name": "send-ledger recorder",
            },
        )
        self._poll_seconds = poll_seconds

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        """Append events in one transaction under the writer lock; returns their positions.

        `kwargs` exist for other recorders of the library and are ignored.
        """
        if not stored_events:
            return []
        with self._connection() as connection, connection.transaction():
            head = connection.execute(statement("recorder", "begin")).fetchone()
            assert head is not None
            position, last, recorded_at, read_at = head
            first = (position or 0) + 1
            last = last or GENESIS
            now = decision_time(read_at, recorded_at)
            rows = []
            for position, event in enumerate(stored_events, first):
                id_ = UUID(str(event.originator_id))
                row, last = event_row(
                    last, position, id_, event.originator_version, event.topic, event.state, now
                )
                rows.append(row)
            events = write_json(rows).decode()
            connection.execute(statement("recorder", "append"), {"events": events})
        return list(range(first, first + len(stored_events)))

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """The events of one aggregate with versions above `gt` and up to `lte`."""
        query = statement("recorder", "events_descending" if desc else "events")
        found = {"originator_id": UUID(str(originator_id)), "gt": gt, "lte": lte, "limit": limit}
        with self._connection() as connection:
            rows = connection.execute(query, found).fetchall()
        return [
            StoredEvent(id_, version, topic, state.encode()) for id_, version, topic, state in rows
        ]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Events ordered by position, from `start` (included by default) to `stop`."""
        after = 0 if start is None else start - int(inclusive_of_start)
        wanted = {"after": after, "stop": stop, "topics": list(topics) or None, "limit": limit}
        with self._connection() as connection:
            rows = connection.execute(statement("recorder", "notifications"), wanted).fetchall()
        return [
            Notification(id_, version, topic, state.encode(), position)
            for id_, version, topic, state, position in rows
        ]

    def max_notification_id(self) -> int | None:
        """The position of the last event, None while the log is empty."""
        with self._connection() as connection:
            row = connection.execute(statement("recorder", "last_position")).fetchone()
        last: int | None = row[0] if row else None
        return last

    def subscribe(
        self, gt: int | None = None, topics: Sequence[str] = ()
    ) -> Subscription[ApplicationRecorder]:
        """Events after position `gt`, also future ones: an endless iterator for use in a `with`."""
        return PollingSubscription(self, gt, topics, self._poll_seconds)

    def close(self) -> None:
        """Close the connections; the recorder cannot be used afterwards."""
        self._pool.close()

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            self._pool.open()
            with self._pool.connection() as connection:
                yield connection
        except psycopg.Error as error:
            ours = next(to for kind, to in _ERRORS if isinstance(error, kind))
            raise ours(str(error)) from error


class PollingSubscription(Subscription[ApplicationRecorder]):
    """Polls for new events every `seconds`; NOTIFY would slow the writer down (D3)."""

    def __init__(
        self, recorder: LedgerRecorder, gt: int | None, topics: Sequence[str], seconds: float
    ) -> None:
        super().__init__(recorder, gt, topics)
        self._seconds = seconds
        self._stopped = Event()
        self._page: Iterator[Notification] = iter(())

    def stop(self) -> None:
        """End the iteration, from any thread."""
        super().stop()
        self._stopped.set()

    def __next__(self) -> Notification:
        while not self._stopped.is_set():
            notification = next(self._page, None)
            if notification is not None:
                return notification
            if not self._turn():
                self._stopped.wait(self._seconds)
        raise StopIteration

    def _turn(self) -> bool:
        """Read the next page; False where there are no new events.

        The page ends at the head of the log, read before it, so that the next turn does not scan
        again for topics that did not occur.
        """
        head = self._recorder.max_notification_id()
        last = self._last_notification_id or 0
        if head is None or head <= last:
            return False
        page = self._recorder.select_notifications(
            last, _PAGE, head, self._topics, inclusive_of_start=False
        )
        self._last_notification_id = page[-1].id if len(page) == _PAGE else head
        self._page = iter(page)
        return True
