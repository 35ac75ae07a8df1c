"""The effect report over HTTP: in each form, and what is not asked rightly."""

import pytest

from tests.support.service import Service


def test_it_tells_of_a_duplicate_in_each_form(service: Service, name: str) -> None:
    service.put_invoice(f"inv-{name}", customer_id=f"cus-{name}", due_on="2026-11-20").ok()
    sender = service.client("send", name=f"poller {name}")
    begin = service.clock.isoformat()
    service.report(sender.send("reminder", invoices=[f"inv-{name}"]), "sent")
    sender.ask("reminder", invoices=[f"inv-{name}"], stage="day-7").no(409, "already_sent")
    service.advance(minutes=1)
    found = service.get("/v1/reports/effect", from_=begin).ok()
    mine = [row for row in found["prevented"] if row["sender"] == sender.name]
    assert [(row["code"], row["requests"]) for row in mine] == [("already_sent", 1)]
    assert sum(row["customer_days"] for row in found["mails"]) >= 1
    for kind, start in (("text/markdown", "# What the send"), ("text/html", "<!doctype html>")):
        path, accept = "/v1/reports/effect", {"accept": kind}
        answer = service.call("GET", path, params={"from": begin}, headers=accept)
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(kind)
        assert answer.text.startswith(start)
        assert f"poller {name}" in answer.text


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"from_": "2026-12-01"},
        {"from_": "2026-12-02T00:00:00Z", "to": "2026-12-01T00:00:00Z"},
        {"from_": "2026-12-02T00:00:00Z", "to": "2026-12-02T00:00:00Z"},
    ],
)
def test_a_time_that_is_none_is_refused(service: Service, asked: dict[str, str]) -> None:
    service.get("/v1/reports/effect", **asked).no(422, "invalid_request")
