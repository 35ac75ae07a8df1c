"""Cases about money that is told late, twice, wrongly or taken back (cases-2.yaml)."""

from typing import Any

import pytest

from tests.support.service import Service


def _pay(service: Service, invoice: str, state: str, amount: int, at: str, name: str) -> str:
    data = {"invoice_id": invoice, "payment_id": name, "amount": amount, "state": state}
    answer = service.fact("invoice.payment", data, time=at)
    result: str = answer["results"][0]["result"]
    return result


def _owed(service: Service, invoice: str) -> tuple[str, int]:
    found = service.get(f"/v1/invoices/{invoice}").ok()
    return found["status"], found["amount_remaining"]


def _invoice(service: Service, name: str, **fields: Any) -> str:
    told = {"total": 10_000, "due_on": "2026-11-20", "observed_at": "2026-11-01T00:00:00Z"}
    service.put_invoice(name, **(told | fields)).ok()
    return name


@pytest.mark.starts("2026-12-05T10:00:00Z")
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_debit_presented_again(service: Service, name: str, order: tuple[int, ...]) -> None:
    lives = [("succeeded", "2026-11-21"), ("reversed", "2026-11-24"), ("succeeded", "2026-11-26")]
    tries = [("pending", "2026-12-01"), ("failed", "2026-12-02"), ("pending", "2026-12-03")]
    paid, tried = _invoice(service, f"{name}-paid"), _invoice(service, f"{name}-tried")
    for place in order:
        for invoice, told in ((paid, lives), (tried, tries)):
            state, day = told[place]
            _pay(service, invoice, state, 10_000, f"{day}T09:00:00Z", "PM1")
    assert _owed(service, paid) == ("paid", 0)
    service.remind(paid).no(409, "nothing_owed")
    problem = service.remind(tried).no(409, "payment_in_flight")
    assert problem["available_at"] == "2026-12-10T09:00:00Z"


@pytest.mark.starts("2026-12-05T10:00:00Z")
@pytest.mark.parametrize("turned", [False, True])
def test_payment_amount_corrected(service: Service, name: str, turned: bool) -> None:
    invoice = _invoice(service, name)
    told = [(4_000, "2026-11-21T09:00:00Z"), (10_000, "2026-11-22T09:00:00Z")]
    for amount, when in reversed(told) if turned else told:
        assert _pay(service, invoice, "succeeded", amount, when, "P1") == "applied"
        assert _pay(service, invoice, "succeeded", amount, when, "P1") == "duplicate"
    assert _owed(service, invoice) == ("paid", 0)
    service.remind(invoice).no(409, "nothing_owed")
    _pay(service, invoice, "succeeded", 6_000, "2026-11-23T09:00:00Z", "P1")
    assert _owed(service, invoice) == ("open", 4_000)
    # It never was paid in full, so the debt is the old one.
    assert service.get(f"/v1/invoices/{invoice}")["cycle"] == 1


@pytest.mark.starts("2026-12-05T10:00:00Z")
def test_never_more_than_the_invoice(service: Service, name: str) -> None:
    early = _invoice(service, f"{name}-early")
    _pay(service, early, "reversed", 10_000, "2026-11-24T09:00:00Z", "P")
    assert _owed(service, early) == ("open", 10_000)
    _pay(service, early, "succeeded", 10_000, "2026-11-21T09:00:00Z", "P")
    assert _owed(service, early) == ("open", 10_000)
    paid = _invoice(service, f"{name}-paid", amount_remaining=0, status="paid")
    _pay(service, paid, "reversed", 30_000, "2026-11-24T09:00:00Z", "Q")
    assert _owed(service, paid) == ("open", 10_000)
    parts = _invoice(service, f"{name}-parts", amount_remaining=0, status="paid")
    for day, amount in ((24, 2_000), (25, 3_000), (25, 3_000)):
        _pay(service, parts, "reversed", amount, f"2026-11-{day}T09:00:00Z", "R")
    assert _owed(service, parts) == ("open", 5_000)


@pytest.mark.starts("2026-12-05T10:00:00Z")
@pytest.mark.parametrize("way", ["PUT", "facts"])
def test_overpaid(service: Service, name: str, way: str) -> None:
    invoice = _invoice(service, name)
    news = {"amount_remaining": -500, "status": "paid", "observed_at": "2026-11-22T00:00:00Z"}
    if way == "PUT":
        _invoice(service, name, **news)
    else:
        told = {"customer_id": f"cus-{name}", "currency": "USD", "total": 10_000} | news
        service.fact("invoice.observed", {"invoice_id": name} | told)
    assert _owed(service, invoice) == ("paid", 0)
    service.remind(invoice).no(409, "nothing_owed")
    # What was paid too much is not owed once it comes back.
    _pay(service, invoice, "reversed", 500, "2026-11-25T09:00:00Z", "P")
    assert _owed(service, invoice) == ("paid", 0)
