"""A pause binds every decision after it on every worker, also under load (design D13)."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import psycopg
import pytest

from tests.support.service import Client, Service, fresh_service

Post: TypeAlias = Callable[[str, Client, dict[str, Any]], Awaitable[tuple[int, dict[str, Any]]]]
CONNECTIONS = 64
BEFORE, AFTER = 800, 640
"""Answers that are waited for before and after the pause."""


@pytest.fixture(scope="module")
def service(postgres: str) -> Iterator[Service]:
    """A service of two workers."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00", workers=2) as service:
        yield service


@dataclass
class Load:
    """Senders who ask for one mail after the other, each on a connection of its own."""

    service: Service
    heard: list[tuple[str, int, dict[str, Any]]] = field(default_factory=list)
    stopping: bool = False
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def run(self, key: Client) -> None:
        """Ask until told to stop; each mail is to another customer."""
        async with connected(self.service) as post:
            while not self.stopping:
                number = next(self.numbers)
                body = {
                    "kind": "notification",
                    "customer_id": f"load_{key.name}_{number}",
                    "event_type": "load",
                    "event_id": str(number),
                }
                status, answer = await post("/v1/permits", key, body)
                self.heard.append((key.name, status, answer))

    async def until(self, count: int) -> None:
        """Wait for that many more answers."""
        wanted = len(self.heard) + count
        async with asyncio.timeout(60):
            while len(self.heard) < wanted:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def connected(service: Service) -> AsyncIterator[Post]:
    """One connection, which asks and hears; a client library's pool would be what is measured."""
    base = service.http.base_url
    reader, writer = await asyncio.open_connection(base.host, base.port)

    async def post(path: str, key: Client, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nhost: {base.host}\r\nauthorization: Bearer {key.key}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answer.split("content-length: ")[1].split("\r\n")[0])
        return int(answer.split()[1]), json.loads(await reader.readexactly(length))

    try:
        yield post
    finally:
        writer.close()
        await writer.wait_closed()


def paused_under_load(service: Service, keys: list[Client], scope: str) -> Load:
    """Ask on 64 connections, pause in the midst of it, and go on asking."""
    load = Load(service)

    async def work() -> None:
        places = range(CONNECTIONS)
        senders = [asyncio.create_task(load.run(keys[p % len(keys)])) for p in places]
        async with connected(service) as post:
            await load.until(BEFORE)
            status, _ = await post(
                "/v1/control/pause", service, {"scope": scope, "reason": "a flood"}
            )
            assert status == 200
            await load.until(AFTER)
        load.stopping = True
        await asyncio.gather(*senders)

    asyncio.run(work())
    return load


def positions(service: Service, scope: str) -> tuple[int, dict[str, list[int]]]:
    """Where the log tells of the pause, and where of each sender's grants."""
    with psycopg.connect(service.database) as connection:
        row = connection.execute(
            "SELECT max(position) FROM events"
            " WHERE topic = 'ledger:Control.Paused' AND state ->> 'scope' = %s",
            [scope],
        ).fetchone()
        rows = connection.execute(
            "SELECT state -> 'permit' ->> 'sender', array_agg(position) FROM events"
            " WHERE topic = 'ledger:Customer.MailPermitted' GROUP BY 1"
        ).fetchall()
    assert row is not None
    return row[0], dict(rows)


def outcomes(load: Load, sender: str) -> set[str]:
    """The answers that a sender heard."""
    return {
        "granted" if status == 201 else body["code"]
        for name, status, body in load.heard
        if name == sender
    }


def test_a_pause_of_one_sender_binds_that_sender_alone(service: Service) -> None:
    bad, good = service.client("send", name="bad"), service.client("send", name="good")
    load = paused_under_load(service, [bad, good], "sender:bad")
    pause, grants = positions(service, "sender:bad")
    assert [p for p in grants["bad"] if p > pause] == []
    assert len([p for p in grants["bad"] if p < pause]) > 200
    assert len([p for p in grants["good"] if p > pause]) > 200
    assert outcomes(load, "bad") == {"granted", "paused"}
    assert outcomes(load, "good") == {"granted"}
    live = [b["permit_id"] for _, status, b in load.heard if status == 201 and "_bad_" in str(b)]
    for permit_id in live[:20]:
        bad.redeem(permit_id).no(409, "revoked")


def test_a_pause_of_everything_is_the_last_grants_successor(service: Service) -> None:
    sender = service.client("send", name="poller")
    load = paused_under_load(service, [sender], "all")
    pause, grants = positions(service, "all")
    everyone = [position for of_sender in grants.values() for position in of_sender]
    assert [p for p in everyone if p > pause] == []
    assert len([p for p in grants["poller"] if p < pause]) > 500
    assert outcomes(load, "poller") == {"granted", "paused"}
    granted = [body for _, status, body in load.heard if status == 201]
    assert max(int(body["position"]) for body in granted) < pause
    denied = [status for _, status, _ in load.heard if status != 201]
    assert len(denied) > 500
    assert set(denied) == {409}
    for body in granted[-20:]:
        sender.redeem(body["permit_id"]).no(409, "revoked")
