"""Reads are up to date as of their arrival, and say so where they cannot be (design D15)."""

import threading
from datetime import timedelta
from urllib.parse import parse_qsl

import pytest

from tests.api.routes import ROUTES, Route
from tests.support.service import Answer, Service

_READS = [r for r in ROUTES if r.method == "GET"]


@pytest.mark.parametrize("route", _READS, ids=str)
def test_every_read_may_name_a_position_it_must_have_seen(
    route: Route, shared_service: Service
) -> None:
    head = shared_service.get("/v1/control").ok()["position"]
    path, _, query = route.url.partition("?")
    named = dict(parse_qsl(query))
    plain = shared_service.get(route.url)
    seen = shared_service.get(path, **named, after=head)
    assert (seen.status, seen.code) == (plain.status, plain.code)
    beyond = shared_service.get(path, **named, after=str(int(head) + 1_000_000)).no(503, "stale")
    assert beyond["retryable"] is True
    assert int(beyond.headers["retry-after"]) >= 1
    for after in ("x", "-1", "1.5", "", "9" * 30):
        shared_service.get(path, **named, after=after).no(422, "invalid_request")


def test_a_read_model_that_stands_still(service: Service, name: str, stalled: None) -> None:
    due_on = (service.clock - timedelta(days=4)).date().isoformat()
    told = service.put_invoice(name, due_on=due_on).ok()
    answers: list[Answer] = []
    waiting = threading.Thread(target=lambda: answers.append(service.get("/v1/due")))
    waiting.start()
    problem = service.get("/v1/due", after=told["position"]).no(503, "stale")
    waiting.join()
    plain = answers[0].ok()
    assert int(plain.headers["ledger-stale"]) >= 1
    assert int(plain["as_of"]) < int(told["position"])
    assert problem["retryable"] is True
    assert int(problem.headers["retry-after"]) >= 1
    assert service.get(f"/v1/invoices/{name}", after=told["position"]).ok()["due_on"] == due_on
    service.get(f"/v1/customers/cus-{name}", after=told["position"]).ok()


def test_and_goes_on_again(service: Service, name: str) -> None:
    due_on = (service.clock - timedelta(days=4)).date().isoformat()
    told = service.put_invoice(name, due_on=due_on).ok()
    page = service.get("/v1/due", after=told["position"], limit=1000).ok()
    assert "ledger-stale" not in page.headers
    assert f"cus-{name}" in {item["customer_id"] for item in page["items"]}


def test_each_write_answers_with_a_later_position(service: Service, name: str) -> None:
    positions = [
        service.put_invoice(name, due_on="2026-10-01").ok()["position"],
        service.fact("invoice.hold", {"invoice_id": name, "reason": "r"})["position"],
        service.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)["position"],
        service.post(f"/v1/jobs/{name}/lease", {"holder": "a", "ttl_seconds": 1}).ok()["position"],
        service.post("/v1/control/pause", {"scope": f"sender:{name}", "reason": "r"}).ok()[
            "position"
        ],
    ]
    assert all(isinstance(position, str) for position in positions)
    assert sorted(positions, key=int) == positions
    assert len(set(positions)) == len(positions)
