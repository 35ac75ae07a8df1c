"""A request waits for a concurrent one with the same key, then replays its answer (contract)."""

import threading

import psycopg
import pytest

from api.http.idempotency import scope_of
from ledger.application.caller import Caller
from tests.support.service import Answer, Service

_ASKED = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name = 'send-ledger twins' AND query LIKE '%try_advisory%'"
)
_WRITES = [
    ("/v1/keys", {"name": "twin", "scopes": ["send"]}, 201),
    ("/v1/due/claim", {"limit": 1, "stage": "day-14"}, 200),
]


@pytest.mark.parametrize(("path", "body", "status"), _WRITES, ids=[path for path, *_ in _WRITES])
def test_what_another_process_is_still_answering_is_waited_for(
    service: Service, name: str, path: str, body: dict[str, object], status: int
) -> None:
    caller = Caller(service.key_id, service.name, frozenset())
    number = int.from_bytes(scope_of(caller, "POST", path, name)[:8], "big", signed=True)
    answers: list[Answer] = []
    twin = threading.Thread(target=lambda: answers.append(service.post(path, body, key=name)))
    with psycopg.connect(service.database, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [number])
        twin.start()
        while other.execute(_ASKED).fetchone() is None:
            assert twin.is_alive(), answers
        # The writer is free and the ledger answers others: only the twin waits.
        service.post(path, body, key=f"{name}-other").ok(status)
        assert answers == []
        other.execute("SELECT pg_advisory_unlock(%s)", [number])
        twin.join(timeout=30)
    assert [answer.status for answer in answers] == [status]
    again = service.post(path, body, key=name).ok(status)
    assert again.headers["idempotent-replayed"] == "true"
