"""kill -9 of the service and of PostgreSQL under load: what was granted is in the log, once."""

import asyncio
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg

from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.looking_back.audit import verify
from projections.comparison import differences
from projections.projector import Projector
from tests.support.crashing_service import CrashingService

REQUESTS = int(os.environ.get("LEDGER_TEST_FAULT_REQUESTS", "20000"))
KILLS = 10
BATCH = 100
SENDERS = 4
_GRANTS = """
SELECT state #>> '{permit,permit_id}', state #>> '{permit,customer_id}'
FROM events WHERE topic = 'ledger:Customer.MailPermitted'
"""


@dataclass
class Load:
    """Senders that ask for notifications, each asked for twice, and remember every yes.

    `asked` counts requests that were answered; those that a crash swallowed come on top.
    """

    service: CrashingService
    asked: int = 0
    acknowledged: dict[str, tuple[str, str]] = field(default_factory=dict)
    yeses: Counter[tuple[str, str]] = field(default_factory=Counter)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def sender(self, number: int) -> None:
        """Ask in batches until enough was asked; after a crash go on with the next batch."""
        turn = 0
        while self.asked < REQUESTS:
            turn += 1
            sends = [(f"cus_{number}_{turn}_{i}", "evt") for i in range(BATCH // 2)]
            requests = [_request(send) for send in (*sends, *sends)]
            await self._ask(requests, (*sends, *sends))
        self.done.set()

    async def _ask(
        self, requests: list[dict[str, Any]], sends: tuple[tuple[str, str], ...]
    ) -> None:
        headers = {"Authorization": f"Bearer {self.service.key}"}
        try:
            async with httpx.AsyncClient(timeout=60) as client:
                answer = await client.post(
                    f"{self.service.url}/v1/permits/batch",
                    json={"requests": requests},
                    headers=headers,
                )
        except httpx.TransportError:
            await asyncio.sleep(0.05)
            return
        if answer.status_code != 200:
            await asyncio.sleep(0.05)
            return
        self.asked += len(requests)
        for send, result in zip(sends, answer.json()["results"], strict=True):
            if result["status"] == 201:
                self.yeses[send] += 1
                self.acknowledged[result["permit"]["permit_id"]] = send


def _request(send: tuple[str, str]) -> dict[str, Any]:
    customer_id, event_id = send
    return {
        "kind": "notification",
        "customer_id": customer_id,
        "event_type": "load",
        "event_id": event_id,
    }


async def _kill_ten_times(service: CrashingService, load: Load) -> None:
    """Kill one or the other each time another part of the load has been asked for."""
    for kill in range(KILLS):
        while load.asked < (kill + 1) * REQUESTS // (KILLS + 1) and not load.done.is_set():
            await asyncio.sleep(0.01)
        if kill % 2:
            service.kill_postgres()
        else:
            service.kill_service()
            await asyncio.to_thread(service.start)


async def _under_load(service: CrashingService) -> Load:
    load = Load(service)
    await asyncio.gather(
        *(load.sender(number) for number in range(SENDERS)), _kill_ten_times(service, load)
    )
    return load


async def _caught_up(conninfo: str) -> list[str]:
    projector = Projector(conninfo)
    await projector.start()
    try:
        with psycopg.connect(conninfo) as db:
            row = db.execute("SELECT max(position) FROM events").fetchone()
        assert row is not None
        assert await projector.wait_for(row[0], 60) == 0
    finally:
        await projector.stop()
    return await differences(conninfo, Policy())


def test_ten_kills_under_load_lose_no_grant_and_repeat_none() -> None:
    """20,000 requests, every one asked for twice, and ten kills in between."""
    with CrashingService() as service:
        load = asyncio.run(_under_load(service))
        service.kill_service()
        service.start()
        conninfo = service.conninfo()
        with psycopg.connect(conninfo) as db:
            granted: list[tuple[str, str]] = db.execute(_GRANTS).fetchall()
        service.stop()
        with EmbeddedPostgres(service.folder) as database:
            alone = database.start()
            checked = verify(alone)
            different = asyncio.run(_caught_up(alone))
    permits = Counter(permit_id for permit_id, _ in granted)
    customers = Counter(customer_id for _, customer_id in granted)
    assert load.asked >= REQUESTS
    assert len(load.acknowledged) > REQUESTS // 10
    assert max(load.yeses.values()) == 1
    assert set(load.acknowledged) <= set(permits), "an acknowledged grant is not in the log"
    assert {p: customers[s[0]] for p, s in load.acknowledged.items() if customers[s[0]] != 1} == {}
    assert max(permits.values()) == max(customers.values()) == 1
    assert checked.ok, checked.problem
    assert different == []
