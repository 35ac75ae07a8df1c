"""Greedy callers: one key's flood is not another's 503, and operators always get through."""

import concurrent.futures
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from ledger.store.keys import key_hash
from tests.support.service import Answer, Client, Service, fresh_service

_LIMITS = {
    "LEDGER_CONNECTIONS": "24",
    "LEDGER_CONNECTIONS_PER_PEER": "24",
    "LEDGER_KEY_REQUESTS_AT_ONCE": "20",
}


@pytest.fixture(scope="module")
def service(postgres: str) -> Iterator[Service]:
    """A service with few places, so that a test can take them all."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00", env=_LIMITS) as running:
        yield running


def _own(client: Client, service: Service) -> Client:
    """The same key on a connection of its own."""
    return Client(httpx.Client(base_url=service.http.base_url, timeout=30), client.key)


@contextmanager
def _requests(
    service: Service, key: Client, request: str, count: int
) -> Iterator[list[socket.socket]]:
    """So many connections on which this was sent, for as long as the block lasts."""
    port = service.http.base_url.port
    assert port is not None
    all_opened: list[socket.socket] = []
    with ExitStack() as stack:
        for _ in range(count):
            opened = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            head = f"{request} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key.key}\r\n"
            opened.sendall(head.encode() + b"Content-Length: 9\r\n\r\n{")
            all_opened.append(opened)
        yield all_opened


def _notify(client: Client, customer: str) -> Answer:
    return client.ask("notification", customer_id=customer, event_type="t", event_id="1")


def _batch(name: str, count: int = 1_000) -> dict[str, Any]:
    return {
        "requests": [
            {
                "kind": "notification",
                "customer_id": f"{name}-{number}",
                "event_type": "t",
                "event_id": "1",
            }
            for number in range(count)
        ]
    }


def test_a_key_that_floods_the_queue_takes_no_place_of_another(service: Service, name: str) -> None:
    """One key posts batches of a thousand on six connections; sixty requests of another pass."""
    greedy, single = service.client("send"), service.client("send")
    ended = threading.Event()
    batches: list[Answer] = []

    def flood(number: int) -> None:
        client = _own(greedy, service)
        with client.http:
            while not ended.is_set():
                word = f"{name}-{number}-{len(batches)}"
                batches.append(client.post("/v1/permits/batch", _batch(word)))

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for number in range(6):
            pool.submit(flood, number)
        try:
            answers = [_notify(single, f"{name}-single-{number}") for number in range(60)]
        finally:
            ended.set()
    assert [answer.status for answer in answers] == [201] * 60
    assert batches
    for batch in batches:
        assert {item["status"] for item in batch.ok()["results"]} <= {201, 503}


def test_a_key_has_a_bound_of_requests_at_once(service: Service, name: str) -> None:
    key, other = service.client("send"), service.client("send")
    _notify(key, name).ok(201)
    with _requests(service, key, "POST /v1/permits", 22) as opened:
        give_up = time.monotonic() + 20
        while len(select.select(opened, [], [], 0.02)[0]) < 2:
            assert time.monotonic() < give_up, "not all of them have come in"
        problem = _notify(key, f"{name}-more").no(429, "rate_limited")
        assert problem["retryable"] is True
        assert problem.headers["retry-after"] == "1"
        assert problem.headers["ratelimit-policy"] == '"concurrent";q=20'
        assert problem.headers["ratelimit"] == '"concurrent";r=0;t=1'
        key.get("/v1/due").no(429, "rate_limited")
        other.get("/v1/due").ok()
    _again_until(201, lambda: _notify(key, f"{name}-again"))


def test_where_every_place_is_taken_operators_are_still_answered(service: Service) -> None:
    """Two keys have all connections, and wait for a table; others hear when to come back."""
    first, second = service.client("audit"), service.client("audit")
    operator, admin = service.client("operate"), service.client("admin")
    ask = "GET /v1/webhooks/rejected"
    with (
        psycopg.connect(service.database) as holder,
        httpx.Client(base_url=service.http.base_url, timeout=30) as fresh,
    ):
        holder.execute("LOCK TABLE rejected_bodies IN ACCESS EXCLUSIVE MODE")
        with _requests(service, first, ask, 13), _requests(service, second, ask, 13):
            service.backend_that_waits()
            refused = Client(fresh, second.key).get("/v1/policy").no(503, "unavailable")
            assert refused.headers["retry-after"] == "1"
            assert refused.headers["connection"] == "close"
            for _ in range(3):
                Client(fresh, operator.key).get("/v1/alerts").ok()
                Client(fresh, operator.key).get("/v1/control").ok()
                Client(fresh, admin.key).get("/v1/keys").ok()
                Client(fresh, "").get("/healthz").ok()
        holder.rollback()


def _again_until(status: int, ask: Callable[[], Answer]) -> Answer:
    """The first answer with this status."""
    give_up = time.monotonic() + 20
    while (answer := ask()).status != status:
        assert time.monotonic() < give_up, answer
        time.sleep(0.02)
    return answer


def test_silent_connections_beyond_the_bound_keep_nobody_out(service: Service, name: str) -> None:
    port = service.http.base_url.port
    assert port is not None
    key = service.client("send")
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
    try:
        for number in range(20):
            client = _own(key, service)
            with client.http:
                _notify(client, f"{name}-{number}").ok(201)
    finally:
        for each in silent:
            each.close()


def test_an_unknown_key_costs_no_connection_to_the_database(service: Service, name: str) -> None:
    """All connections for reads wait for a lock; who needs one would wait for five seconds."""
    auditor = service.client("audit")
    client = service.client("send")
    _notify(client, name).ok(201)
    with psycopg.connect(service.database) as holder:
        holder.execute("LOCK TABLE rejected_bodies IN ACCESS EXCLUSIVE MODE")
        with _requests(service, auditor, "GET /v1/webhooks/rejected", 6):
            service.backend_that_waits()
            began = time.monotonic()
            stranger = Client(service.http, "slk_nobody_has_ever_made_this_key")
            for path in ("/v1/due", "/v1/control", "/v1/alerts"):
                stranger.get(path).no(401, "unauthorized")
            _notify(stranger, name).no(401, "unauthorized")
            _notify(client, f"{name}-2").ok(201)
            assert time.monotonic() - began < 4
        holder.rollback()


def test_a_flood_of_unknown_keys_leaves_operators_their_calls(service: Service) -> None:
    operator = _own(service.client("operate"), service)
    ended = threading.Event()

    def flood(number: int) -> None:
        with httpx.Client(base_url=service.http.base_url, timeout=30) as http:
            while not ended.is_set():
                Client(http, f"slk_unknown_{number}_{time.monotonic_ns()}").get("/v1/due")

    with operator.http, concurrent.futures.ThreadPoolExecutor(12) as pool:
        for number in range(12):
            pool.submit(flood, number)
        try:
            answers = [operator.get("/v1/control") for _ in range(12)]
        finally:
            ended.set()
    assert [answer.status for answer in answers] == [200] * 12


def test_a_key_that_another_process_makes_is_known_at_its_first_request(
    service: Service, name: str
) -> None:
    for number in range(3):
        secret = f"slk_of_another_process_{name}_{number}"
        with psycopg.connect(service.database) as db:
            db.execute(
                "INSERT INTO keys (partition, key_id, name, hash, scopes, redeem_required,"
                " transactional, created_at) VALUES (0, %s, %s, %s, '{send}', true, false, now())",
                (f"key_{name}_{number}", name, key_hash(secret)),
            )
            db.execute(
                "UPDATE settings SET value = (value::bigint + 1)::text WHERE name = 'keys_version'"
            )
        client = Client(service.http, secret)
        _notify(client, f"{name}-{number}").ok(201)
        client.get("/v1/due").ok()


def test_a_key_that_another_process_revokes_is_refused_at_once(service: Service, name: str) -> None:
    client = service.client("send")
    client.get("/v1/due").ok()
    _notify(client, name).ok(201)
    with psycopg.connect(service.database) as db:
        db.execute("UPDATE keys SET revoked_at = now() WHERE key_id = %s", (client.key_id,))
        db.execute(
            "UPDATE settings SET value = (value::bigint + 1)::text WHERE name = 'keys_version'"
        )
    client.get("/v1/due").no(401, "unauthorized")
    _notify(client, f"{name}-2").no(401, "unauthorized")


def test_identical_denials_beyond_sixty_a_minute_are_one_row_with_a_count(
    service: Service, name: str
) -> None:
    service.advance(minutes=2)
    client = service.client("send")
    _notify(client, name).ok(201)
    answers = [_notify(client, name).no(409, "permit_held") for _ in range(65)]
    last = service.get(f"/v1/decisions/{answers[-1]['decision_id']}").ok()
    assert (last["code"], last["repeats"]) == ("permit_held", 0)
    service.advance(seconds=61)

    def listed() -> Answer:
        return service.get("/v1/decisions", code="permit_held", customer_id=name, limit=100).ok()

    give_up = time.monotonic() + 20
    while len(items := listed()["items"]) < 61:
        assert time.monotonic() < give_up, len(items)
        time.sleep(0.1)
    assert sorted(item["repeats"] for item in items) == [0] * 60 + [5]
    (counted,) = [item for item in items if item["repeats"]]
    detail = service.get(f"/v1/decisions/{counted['decision_id']}").ok()
    assert detail["answer"]["decision_id"] == answers[-1]["decision_id"]
    assert detail["repeats"] == detail["answer"]["repeats"] == 5
