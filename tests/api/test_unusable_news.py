"""Pages for news of invoices that cannot be used: what was known before stays in force (D10)."""

import uuid
from datetime import date
from typing import Any

import pytest

from api.http.unusable_alerts import Unusable, UnusableNews
from tests.support.service import Service


@pytest.mark.parametrize("how", ["a fact", "PUT"])
def test_news_of_a_known_invoice_that_cannot_be_used_is_paged_once_a_day(
    how: str, service: Service, name: str
) -> None:
    """The older debt stays in force: a human has to hear that it may not be owed any more."""

    def told(invoice_id: str) -> list[str]:
        return [
            a["summary"] for a in service.alerts("ingest_rejected") if invoice_id in a["summary"]
        ]

    def tell(invoice_id: str, **fields: Any) -> None:
        body = {"invoice_id": invoice_id, "customer_id": f"cus-{invoice_id}", "currency": "USD"}
        body |= {"total": 30_000, "amount_remaining": 30_000, "status": "open"} | fields
        if how == "a fact":
            event = {"id": uuid.uuid4().hex, "source": "poller", "type": "invoice.observed"}
            answer = service.post("/v1/facts", {"facts": [event | {"data": body}]}).ok()
            assert [result["result"] for result in answer["results"]] == ["rejected"]
        else:
            del body["invoice_id"]
            service.call("PUT", f"/v1/invoices/{invoice_id}", body).no(422, "invalid_request")

    service.put_invoice(name).ok()
    for status in ("settled", "settled", "in_collection"):
        tell(name, amount_remaining=0, status=status)
    (summary,) = told(name)
    assert "stays in force" in summary
    assert "status" in summary
    assert service.get(f"/v1/invoices/{name}").ok()["status"] == "open"
    tell(f"new-{name}", status="settled")
    assert told(f"new-{name}") == []


def test_a_poller_whose_every_snapshot_is_refused_pages_a_bounded_number_of_times() -> None:
    news = UnusableNews()
    days = (date(2026, 12, 1), date(2026, 12, 2))
    keys = {
        day: {
            news.alert(Unusable("poller", "invoice.observed", f"in_{n}", "why"), day).dedupe_key
            for n in (*range(500), 3)
        }
        for day in days
    }
    assert [len(found) for found in keys.values()] == [21, 21]
    assert not keys[days[0]] & keys[days[1]]
