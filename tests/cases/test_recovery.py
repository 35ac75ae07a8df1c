"""Cases about a flood that has happened: one apology, at the right balance; all else rests."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from tests.cases.at_once import at_once
from tests.support.service import Service, fresh_service

_HOUR = timedelta(hours=1)


@pytest.fixture
def service(postgres: str) -> Iterator[Service]:
    """A service of this case's own, because it is paused."""
    with fresh_service(postgres, "2026-07-14T08:00:00+00:00", connections=4) as started:
        yield started


def _past_the_ledger(customer: str, invoice: str, number: int) -> dict[str, Any]:
    at = datetime.fromisoformat("2026-07-14T08:00:00+00:00") + number * 24 / 13 * _HOUR
    data = {"customer_id": customer, "at": at.isoformat(), "invoice_id": invoice, "stage": "day-3"}
    return {"id": f"f1-{number}", "source": "sent-log", "type": "send.observed", "data": data}


def test_flood_one_apology(service: Service, name: str) -> None:
    owed = {"customer_id": name, "currency": "EUR", "due_on": "2026-07-11"}
    service.put_invoice(f"{name}-a", **owed, total=12_000).ok()
    service.put_invoice(f"{name}-b", **owed, total=30_000).ok()
    service.put_invoice(f"{name}-b", **owed, total=30_000, amount_remaining=5_000).ok()
    service.move_clock("2026-07-15T08:05:00+00:00")
    facts = [_past_the_ledger(name, f"{name}-{'ab'[n % 2]}", n) for n in range(14)]
    assert {r["result"] for r in service.post("/v1/facts", {"facts": facts}).ok()["results"]} == {
        "applied"
    }
    assert service.breaker(name) == "open"
    assert len(service.alerts("breaker_opened", name)) == 1

    service.move_clock("2026-07-15T08:10:00+00:00")
    declared = {
        "title": "F1",
        "from": "2026-07-14T08:00:00Z",
        "to": "2026-07-15T08:10:00Z",
        "cause": "one invoice with bad data raised an exception in the dunning run",
    }
    incident = service.post("/v1/incidents", declared).ok(201)["incident_id"]
    asked = {"incident_id": incident, "customer_id": name}
    service.ask("apology", **asked).no(409, "not_paused")
    service.post("/v1/control/pause", {"scope": "outreach", "reason": "F1", "by": "ann"}).ok()
    affected = service.get(f"/v1/incidents/{incident}/affected").ok()["items"]
    assert [(a["customer_id"], a["mails"]) for a in affected] == [(name, 14)]

    service.move_clock("2026-07-15T08:30:00+00:00")
    workers = [service.client("send") for _ in range(2)]
    answers = at_once(
        *[partial(w.ask, "apology", idem=f"k{n}", **asked) for n, w in enumerate(workers)]
    )
    assert sorted(a.code or "granted" for a in answers) == ["granted", "permit_held"]
    granted = next(n for n, answer in enumerate(answers) if answer.status == 201)
    statement = answers[granted]["statement"]
    assert [(o["currency"], o["amount"]) for o in statement["owed"]] == [("EUR", 17_000)]
    amounts = {i["invoice_id"]: i["amount_remaining"] for i in statement["open_invoices"]}
    assert amounts == {f"{name}-a": 12_000, f"{name}-b": 5_000}
    permit = answers[granted]["permit_id"]
    owner = next(w for w in workers if w.redeem(permit).status == 200)
    owner.report(permit, "sent").ok()

    service.move_clock("2026-07-15T08:31:00+00:00")
    service.remind(f"{name}-a", "day-3").no(409, "already_sent")
    service.ask("message", thread_id=name, intent="x", customer_id=name).no(409, "paused")
    service.move_clock("2026-07-16T09:00:00+00:00")
    for worker in workers:
        worker.ask("apology", **asked).no(409, "apology_already_sent")
    second = service.post("/v1/incidents", declared | {"title": "F1 again"}).ok(201)
    again = asked | {"incident_id": second["incident_id"]}
    service.ask("apology", **again).no(409, "apology_already_sent")
