"""Eight processes race over four API workers: each send is granted once, and no cap is passed."""

import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.support.crashing_service import CrashingService

PROCESSES = 8
WORKERS = 4
INVOICES = 500
_ROOT = Path(__file__).resolve().parents[2]
_GRANT_TIMES = """
SELECT state #>> '{permit,customer_id}', (state #>> '{permit,granted_at}')::timestamptz
FROM events WHERE topic = 'ledger:Customer.MailPermitted'
"""


def _feed(service: CrashingService) -> None:
    """500 invoices, four days past due, each of its own customer."""
    due_on = (datetime.now(UTC) - timedelta(days=4)).date().isoformat()
    facts = [
        {
            "id": f"inv_{number}",
            "source": "test",
            "type": "invoice.observed",
            "data": {
                "invoice_id": f"inv_{number}",
                "customer_id": f"cus_{number}",
                "currency": "EUR",
                "total": 10_000,
                "amount_remaining": 10_000,
                "status": "open",
                "due_on": due_on,
            },
        }
        for number in range(INVOICES)
    ]
    answer = httpx.post(
        f"{service.url}/v1/facts",
        json={"facts": facts},
        headers={"Authorization": f"Bearer {service.key}"},
        timeout=60,
    )
    assert {result["result"] for result in answer.json()["results"]} == {"applied"}


def _race(service: CrashingService, requests: list[dict[str, Any]]) -> list[list[str]]:
    """What each process was granted, of the requests that were given to it by name."""
    running = []
    for seed in range(PROCESSES):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.racing_sender"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        told = {
            "url": service.url,
            "key": service.key,
            "seed": seed,
            "requests": requests[seed % len(requests)],
        }
        process.stdin.write(json.dumps(told).encode())
        process.stdin.close()
        running.append(process)
    granted = []
    for process in running:
        assert process.stdout is not None
        granted.append(json.loads(process.stdout.read()))
        process.stdout.close()
        assert process.wait(timeout=60) == 0
    return granted


def _reminder(number: int) -> dict[str, Any]:
    return {"kind": "reminder", "invoices": [f"inv_{number}"], "stage": "day-3"}


def _notice(event_id: str) -> dict[str, Any]:
    return {
        "kind": "notification",
        "customer_id": "cus_0",
        "event_type": "race",
        "event_id": event_id,
    }


def test_eight_processes_over_four_workers_get_each_send_once() -> None:
    """500 (invoice, stage) pairs, then the last place in one customer's window."""
    with CrashingService(workers=WORKERS) as service:
        _feed(service)
        pairs = {f"inv_{number}": _reminder(number) for number in range(INVOICES)}
        granted = _race(service, [pairs])
        last_place = [
            {f"{seed}:{turn}": _notice(f"{seed}:{turn}") for turn in range(10)}
            for seed in range(PROCESSES)
        ]
        last = _race(service, last_place)
        with psycopg.connect(service.conninfo()) as db:
            times: list[tuple[str, datetime]] = db.execute(_GRANT_TIMES).fetchall()
    once = Counter(name for names in granted for name in names)
    assert once == Counter({f"inv_{number}": 1 for number in range(INVOICES)})
    assert sum(len(names) > 0 for names in granted) > 1, "one process got everything: no race"
    assert len([name for names in last for name in names]) == 1
    by_customer: dict[str, list[datetime]] = {}
    for customer_id, at in sorted(times, key=lambda row: row[1]):
        by_customer.setdefault(customer_id, []).append(at)
    assert len(by_customer["cus_0"]) == 2
    for ats in by_customer.values():
        for earlier, later in zip(ats, ats[2:], strict=False):
            assert later - earlier >= timedelta(hours=24), "three mails in a rolling 24 hours"
