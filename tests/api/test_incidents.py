"""Incidents over HTTP: who is affected, apologies with their statement, the report, the end."""

import html
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.service import Answer, Service, fresh_service

START = "2026-07-15T08:00:00+00:00"
FROM, TO = "2026-07-14T00:00:00Z", "2026-07-15T08:00:00Z"


@pytest.fixture(scope="module")
def pausable(durable_postgres: str) -> Iterator[Service]:
    """A service that this file pauses."""
    with fresh_service(durable_postgres, START) as service:
        yield service


@pytest.fixture
def service(pausable: Service) -> Service:
    """The service, a minute on."""
    pausable.advance(minutes=1)
    return pausable


def declare(service: Service, **fields: Any) -> str:
    """A declared incident's id."""
    body = {"title": "A flood", "cause": "a poller bug", "from": FROM, "to": TO} | fields
    incident_id: str = service.post("/v1/incidents", body).ok(201)["incident_id"]
    return incident_id


def pause(service: Service, reason: str = "a flood") -> None:
    """Everything is paused."""
    service.post("/v1/control/pause", {"scope": "all", "reason": reason, "by": "ann"}).ok()


def resume(service: Service) -> None:
    """Everything goes on."""
    check = service.post("/v1/control/guard-check").ok()
    body = {"scope": "all", "reason": "mended", "by": "bob", "guard_check_id": check["id"]}
    service.post("/v1/control/resume", body).ok()


def flood(service: Service, customer_id: str, *times: str) -> None:
    """Mails that went out past the ledger at these times of 14 July."""
    for at in times:
        data = {"customer_id": customer_id, "at": f"2026-07-14T{at}Z"}
        service.fact("send.observed", data)


def affected(service: Service, incident_id: str, **more: Any) -> dict[str, dict[str, Any]]:
    """The affected customers by id."""
    items = service.get(f"/v1/incidents/{incident_id}/affected", **more).ok()["items"]
    return {item["customer_id"]: item for item in items}


def report(service: Service, incident_id: str, accept: str | None) -> Answer:
    """The report in a form."""
    headers = {} if accept is None else {"accept": accept}
    return service.call("GET", f"/v1/incidents/{incident_id}/report", headers=headers)


def test_an_incident_is_declared_listed_read_and_closed(service: Service) -> None:
    body = {"title": "Flood", "cause": "bug", "from": FROM, "to": TO, "by": "ann"}
    made = service.post("/v1/incidents", body, key="inc-1").ok(201)
    again = service.post("/v1/incidents", body, key="inc-1").ok(201)
    assert again["incident_id"] == made["incident_id"]
    now = service.clock.isoformat().replace("+00:00", "Z")
    expected = {
        "incident_id": made["incident_id"],
        "title": "Flood",
        "cause": "bug",
        "from": FROM,
        "to": TO,
        "state": "open",
        "declared_by": "ann",
        "declared_at": now,
        "closed_by": None,
        "closed_at": None,
    }
    assert made.body == expected | {"apologies": {}, "position": made["position"]}
    other = declare(service)
    listed = service.get("/v1/incidents", limit=1, after=made["position"]).ok()
    assert [item["incident_id"] for item in listed["items"]] == [other]
    following = service.get("/v1/incidents", limit=1, cursor=listed["next"]).ok()
    assert following["items"] == [expected]
    path = f"/v1/incidents/{made['incident_id']}"
    closed = service.post(f"{path}/close", {"by": "bob"}).ok()
    assert (closed["state"], closed["closed_by"], closed["closed_at"]) == ("closed", "bob", now)
    service.advance(minutes=1)
    assert service.post(f"{path}/close", {}).ok()["closed_at"] == now
    assert service.get(path).ok()["closed_by"] == "bob"
    items = service.get("/v1/incidents").ok()["items"]
    assert [i["state"] for i in items if i["incident_id"] == made["incident_id"]] == ["closed"]


def test_an_incident_is_closed_without_a_body_by_the_key(service: Service) -> None:
    closed = service.post(f"/v1/incidents/{declare(service)}/close").ok()
    assert (closed["state"], closed["closed_by"]) == ("closed", "first")


@pytest.mark.parametrize(
    "fields",
    [
        {"title": ""},
        {"cause": None},
        {"from": TO, "to": FROM},
        {"to": FROM},
        {"from": "2026-07-14T00:00:00"},
        {"severity": 1},
    ],
)
def test_what_is_no_incident(fields: dict[str, Any], service: Service) -> None:
    body = {"title": "t", "cause": "c", "from": FROM, "to": TO} | fields
    service.post("/v1/incidents", body).no(422, "invalid_request")


def test_an_unknown_incident_is_404(service: Service) -> None:
    for path in ("", "/affected", "/report"):
        service.get(f"/v1/incidents/none{path}").no(404, "unknown_incident")
    service.post("/v1/incidents/none/close", {}).no(404, "unknown_incident")
    body = {"kind": "apology", "incident_id": "none", "customer_id": "cus"}
    service.post("/v1/permits", body).no(404, "unknown_incident")


def test_affected_is_who_got_more_than_the_policy_allows_in_any_24_hours(
    service: Service, name: str
) -> None:
    flood(service, f"{name}-two", "08:00:00", "08:01:00")
    flood(service, f"{name}-three", "08:00:00", "08:01:00", "20:00:00")
    flood(service, f"{name}-before", "08:00:00", "08:01:00")
    service.fact("send.observed", {"customer_id": f"{name}-before", "at": "2026-07-13T23:59:59Z"})
    for day, at in ((14, "07:00:00"), (14, "07:30:00"), (15, "07:00:00")):
        # A mail exactly 24 hours old no longer counts.
        data = {"customer_id": f"{name}-slow", "at": f"2026-07-{day}T{at}Z"}
        service.fact("send.observed", data)
    for day, at in ((14, "07:00:01"), (14, "07:30:00"), (15, "07:00:00")):
        data = {"customer_id": f"{name}-fast", "at": f"2026-07-{day}T{at}Z"}
        service.fact("send.observed", data)
    found = affected(service, declare(service))
    mine = {c.removeprefix(f"{name}-"): item for c, item in found.items() if name in c}
    assert {c: item["mails"] for c, item in mine.items()} == {"three": 3, "fast": 3}
    assert mine["three"]["first_at"] == "2026-07-14T08:00:00Z"
    assert mine["three"]["over_at"] == mine["three"]["last_at"] == "2026-07-14T20:00:00Z"
    assert (mine["three"]["most_in_24h"], mine["three"]["observed"]) == (3, 3)


def test_permits_and_decisions_of_the_window_are_shown(service: Service, name: str) -> None:
    asked = [
        service.ask("notification", customer_id=name, event_type="e", event_id=str(n))
        for n in range(3)
    ]
    now = service.clock
    flood_at = now - timedelta(minutes=30)
    service.fact("send.observed", {"customer_id": name, "at": flood_at.isoformat()})
    incident_id = declare(
        service,
        **{"from": (now - timedelta(hours=1)).isoformat(), "to": (now + timedelta(1)).isoformat()},
    )
    item = affected(service, incident_id)[name]
    assert (item["mails"], item["observed"], item["permit_count"]) == (3, 1, 2)
    assert {p["permit_id"] for p in item["permits"]} == {a["permit_id"] for a in asked[:2]}
    assert {(p["kind"], p["state"]) for p in item["permits"]} == {("notification", "granted")}
    assert item["decision_count"] == 3
    assert sorted(str(d["code"]) for d in item["decisions"]) == ["None", "None", "cap_reached"]
    assert {d["decision_id"] for d in item["decisions"]} == {a["decision_id"] for a in asked}
    service.advance(minutes=11)
    # What was granted and never redeemed stays in the window of a key that need not redeem.
    assert affected(service, incident_id)[name]["mails"] == 3


def test_a_merged_customer_is_one_affected_customer(service: Service, name: str) -> None:
    flood(service, f"{name}-a", "09:00:00", "09:01:00")
    flood(service, f"{name}-b", "09:02:00")
    service.fact("customer.merged", {"from": f"{name}-a", "into": f"{name}-b"})
    found = affected(service, declare(service), limit=1000)
    mine = {c: item["mails"] for c, item in found.items() if name in c}
    assert mine == {f"{name}-b": 3}


def test_affected_customers_come_in_pages(service: Service, name: str) -> None:
    for number in range(5):
        flood(service, f"{name}-{number}", *(f"1{n}:00:00" for n in range(3 + number % 2)))
    incident_id = declare(service)
    path, seen, cursor = f"/v1/incidents/{incident_id}/affected", [], None
    while True:
        page = service.get(path, limit=2, cursor=cursor).ok()
        seen += [(item["mails"], item["customer_id"]) for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
        assert len(page["items"]) == 2
    assert seen == sorted(seen, key=lambda pair: (-pair[0], pair[1]))
    assert len(seen) == len({customer for _, customer in seen})
    assert [c for _, c in seen if name in c] == [f"{name}-{n}" for n in (1, 3, 0, 2, 4)]
    service.get(path, cursor="bm8").no(422, "invalid_request")
    service.get(path, limit=1001).no(422, "invalid_request")


def test_an_apology_has_its_statement_in_the_201_and_ever_after(
    service: Service, name: str
) -> None:
    service.put_invoice(
        f"{name}-a", customer_id=name, total=12000, currency="EUR", email=f"{name}@example.com"
    ).ok()
    service.put_invoice(f"{name}-b", customer_id=name, total=30000, currency="EUR").ok()
    incident_id = declare(service)
    asked = {"incident_id": incident_id, "customer_id": name}
    service.ask("apology", **asked).no(409, "not_paused")
    pause(service)
    service.fact(
        "invoice.payment",
        {"invoice_id": f"{name}-b", "payment_id": "p", "amount": 25000, "state": "succeeded"},
    )
    granted = service.ask("apology", **asked).ok(201)
    statement = {
        "owed": [{"currency": "EUR", "amount": 17000, "formatted": "€170.00"}],
        "open_invoices": [
            {
                "invoice_id": f"{name}-a",
                "amount_remaining": 12000,
                "currency": "EUR",
                "formatted": "€120.00",
            },
            {
                "invoice_id": f"{name}-b",
                "amount_remaining": 5000,
                "currency": "EUR",
                "formatted": "€50.00",
            },
        ],
        "credit": [],
        "as_of": granted["granted_at"],
    }
    assert granted["statement"] == statement
    assert granted["to"] == f"{name}@example.com"
    service.put_invoice(f"{name}-a", customer_id=name, total=12000, currency="EUR", status="paid")
    permit_id = granted["permit_id"]
    assert service.get(f"/v1/permits/{permit_id}").ok()["statement"] == statement
    service.ask("apology", **asked).no(409, "permit_held")
    service.redeem(permit_id).ok()
    service.report(permit_id, "sent").ok()
    service.ask("apology", **asked).no(409, "apology_already_sent")
    other = declare(service)
    second = service.ask("apology", incident_id=other, customer_id=name)
    second.no(409, "apology_already_sent")
    assert service.get(f"/v1/incidents/{incident_id}").ok()["apologies"] == {"sent": 1}
    service.post(f"/v1/incidents/{other}/close", {}).ok()
    late = service.ask("apology", incident_id=other, customer_id=f"{name}-x")
    late.no(404, "unknown_customer")
    resume(service)


def test_an_apology_passes_an_open_breaker_and_a_closed_incident_takes_none(
    service: Service, name: str
) -> None:
    flood(service, name, "10:00:00", "10:00:01", "10:00:02")
    incident_id = declare(service)
    asked = {"incident_id": incident_id, "customer_id": name}
    assert service.breaker(name) == "open"
    pause(service)
    permit = service.ask("apology", **asked).ok(201)
    assert permit["statement"]["owed"] == []
    service.report(permit["permit_id"], "rejected").ok()
    service.post(f"/v1/incidents/{incident_id}/close", {}).ok()
    service.ask("apology", **asked).no(404, "unknown_incident")
    resume(service)


def test_apologies_may_not_all_have_a_copy_for_one(service: Service, name: str) -> None:
    email = f"{name}@example.com"
    service.fact("customer.observed", {"customer_id": name, "emails": [email]}).ok()
    for id_ in (f"{name}-0", f"{name}-1", f"{name}-2"):
        service.fact("customer.observed", {"customer_id": id_, "emails": [f"{id_}@x.com"]}).ok()
    incident_id = declare(service)
    pause(service)
    asked = {"incident_id": incident_id, "cc": [email], "redeem": True}
    for n in range(2):
        service.ask("apology", customer_id=f"{name}-{n}", **asked).ok(201)
    service.ask("apology", customer_id=f"{name}-2", **asked).no(429, "cap_reached")
    service.ask("apology", incident_id=incident_id, customer_id=name).ok(201)
    resume(service)


EVIL = 'Flood <script>alert(1)</script> | [x](javascript:1) "$title" {{chart}}'


def test_the_report_tells_the_story_in_each_form(service: Service, name: str) -> None:
    customer_id = f"{name}-<b>|"
    flood(service, customer_id, *(f"12:00:{second:02}" for second in range(30)))
    incident_id = declare(service, title=EVIL, cause=f"pat@example.com's fault {name}", by="ann")
    pause(service, "stop it")
    permit = service.ask("apology", incident_id=incident_id, customer_id=customer_id).ok(201)
    service.report(permit["permit_id"], "sent").ok()
    service.advance(minutes=5)
    resume(service)
    service.advance(minutes=1)
    service.post(f"/v1/incidents/{incident_id}/close", {"by": "eve"}).ok()
    service.advance(minutes=1)
    pause(service, "another day")
    resume(service)

    told = report(service, incident_id, None).ok()
    assert told.headers["content-type"] == "application/json"
    row = next(c for c in told["customers"] if c["customer_id"] == customer_id)
    assert (row["mails"], row["observed"], row["most_in_24h"]) == (30, 30, 30)
    assert row["apology"]["state"] == "sent"
    assert told["apologies"] == {"sent": 1}
    assert told["summary"]["customers"] == len(told["customers"])
    series = {s["customer_id"]: s["mails"] for s in told["mails_by_time"]["series"]}
    assert series[customer_id] == [0] * 12 + [30] + [0] * 19
    whats = [entry["what"] for entry in told["timeline"]]
    order = ["first_bad_send", "last_mail", "breaker_opened", "declared", "paused"]
    order += ["first_apology", "guard_check", "resumed", "closed"]
    assert [what for what in whats if what in order][-4:] == order[-4:]
    assert set(order) <= set(whats)
    assert all("another day" not in entry["text"] for entry in told["timeline"])
    assert "[address] fault" in told["incident"]["cause"]

    page = report(service, incident_id, "text/html,application/xhtml+xml,*/*;q=0.8").ok()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["vary"] == "Accept"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert html.escape(EVIL) in page.text
    assert html.escape(customer_id) in page.text
    assert "ann declared the incident" in page.text
    assert not re.search(r"(src|href)=", page.text)
    charts = re.findall(r"<svg.*?</svg>", page.text, re.DOTALL)
    assert len(charts) == 1
    titles = [
        title.text
        for title in ElementTree.fromstring(charts[0]).iter("title")
        if title.text and title.text.startswith(customer_id)
    ]
    assert titles == [f"{customer_id}: 30 from 2026-07-14 12:00:00 UTC"]

    text = report(service, incident_id, "text/markdown").ok()
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    lines = text.text.splitlines()
    assert lines[0].startswith(r"# Incident: Flood \<script\>alert(1)\</script\> \| \[x\](java")
    assert any(line.startswith(f"| {name}-\\<b\\>\\| | 30 | 30 | 30 |") for line in lines)
    assert "<script" not in text.text.replace(r"\<script", "")
    assert "stop it" in text.text


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/*", "text/markdown; charset=utf-8"),
        ("text/html", "text/html; charset=utf-8"),
        ("text/markdown;q=0.5, text/html;q=0.4", "text/markdown; charset=utf-8"),
        ("application/json;q=0.1, text/html", "text/html; charset=utf-8"),
        ("text/html;q=0, */*;q=0.1", "application/json"),
        ("image/png", "application/json"),
        ("nonsense;;q=x", "application/json"),
    ],
)
def test_the_form_of_a_report_is_negotiated(
    accept: str | None, expected: str, service: Service
) -> None:
    window = {"from": "2020-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}
    answer = report(service, declare(service, **window), accept).ok()
    assert answer.headers["content-type"] == expected


def test_a_report_without_anybody_affected_says_so(service: Service) -> None:
    window = {"from": "2020-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}
    incident_id = declare(service, **window)
    told = report(service, incident_id, None).ok()
    assert (told["summary"]["customers"], told["summary"]["mails"]) == (0, 0)
    assert told["customers"] == []
    # Six years are drawn in bars of a week and more, never more than 336.
    assert told["mails_by_time"]["seconds"] % 3600 == 0
    assert len(told["mails_by_time"]["totals"]) <= 336
    page = report(service, incident_id, "text/html").ok()
    assert "no customer got more than 2 mails within 24 hours" in page.text
    assert "<svg" not in page.text
    assert "no customer got more" in report(service, incident_id, "text/markdown").ok().text


def test_a_report_of_another_time_of_day_counts_spans_from_the_windows_start(
    service: Service, name: str
) -> None:
    flood(service, name, "13:59:59", "14:29:59", "14:30:00", "14:30:01")
    incident_id = declare(service, **{"from": "2026-07-14T13:30:00Z", "to": "2026-07-14T15:00:00Z"})
    chart = report(service, incident_id, None).ok()["mails_by_time"]
    assert datetime.fromisoformat(chart["start"]) == datetime.fromisoformat("2026-07-14T13:30:00Z")
    mine = [s["mails"] for s in chart["series"] if s["customer_id"] == name]
    assert (chart["seconds"], mine) == (3600, [[2, 2]])
