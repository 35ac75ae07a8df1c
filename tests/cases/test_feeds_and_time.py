"""Cases about clocks, ids, feeds that fall silent, and mail that comes too late (cases-2.yaml)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.api.webhooks.posting import environment, signed_json
from tests.support.service import Answer, Client, Service, fresh_service

_NOW = "2026-12-01T10:00:00Z"


@contextmanager
def _service(postgres: str, folder: Path, start: str = _NOW, **policy: Any) -> Iterator[Service]:
    """A service with these settings of the policy."""
    config = folder / "ledger.toml"
    lines = [f"{name} = {value}" for name, value in policy.items()]
    config.write_text("\n".join(["[policy]", *lines]), encoding="utf-8")
    env = {"LEDGER_CONFIG": str(config)}
    with fresh_service(postgres, start, env=env) as service:
        yield service


def _observed(invoice: str, **fields: Any) -> dict[str, Any]:
    """The data of a snapshot: open, 300.00 USD, due on 1 November."""
    told = {"invoice_id": invoice, "customer_id": f"cus-{invoice}", "currency": "USD"}
    amounts = {"total": 30_000, "amount_remaining": 30_000, "status": "open"}
    return told | amounts | {"due_on": "2026-11-01"} | fields


def _ready(service: Service) -> set[str]:
    """The customers whom a claim would ask for now."""
    position = service.get("/v1/control").ok()["position"]
    items = service.get("/v1/due", ready="true", after=position, limit=1000).ok()["items"]
    return {item["customer_id"] for item in items}


def _withheld(service: Service, customer: str) -> Any:
    position = service.get("/v1/control").ok()["position"]
    items = service.get("/v1/due", after=position, limit=1000).ok()["items"]
    return next(item["withheld"] for item in items if item["customer_id"] == customer)


# --- time


@pytest.mark.starts("2026-12-01T10:00:00Z")
@pytest.mark.parametrize("ahead", ["2026-12-01T15:00:00Z", "2062-01-01T00:00:00Z"])
@pytest.mark.parametrize("how", ["put", "fact", "envelope"])
def test_snapshot_from_the_future(service: Service, name: str, ahead: str, how: str) -> None:
    source = f"erp-{name}"
    for news in ("payment", "snapshot"):
        invoice = f"{name}-{news}"
        if how == "put":
            service.put_invoice(invoice, due_on="2026-11-01", observed_at=ahead).ok()
        elif how == "fact":
            service.fact("invoice.observed", _observed(invoice, observed_at=ahead), source=source)
        else:
            service.fact("invoice.observed", _observed(invoice), source=source, time=ahead)
        observed_at = service.get(f"/v1/invoices/{invoice}").ok()["observed_at"]
        assert datetime.fromisoformat(observed_at) == service.clock
        service.advance(minutes=1)
        if news == "payment":
            data = {"invoice_id": invoice, "payment_id": "P1", "amount": 30_000}
            moment = service.clock.isoformat()
            service.fact("invoice.payment", data | {"state": "succeeded"}, time=moment)
        else:
            paid = {"amount_remaining": 0, "status": "paid"}
            service.put_invoice(invoice, observed_at=service.clock.isoformat(), **paid).ok()
        service.remind(invoice).no(409, "nothing_owed")
    told_by = "put:first" if how == "put" else source
    keys = [alert["dedupe_key"] for alert in service.alerts("clock_ahead")]
    assert keys.count(f"clock_ahead:{told_by}:2026-12-01") == 1


@pytest.mark.starts("2026-12-01T11:00:00Z")
def test_every_fact_of_the_future_gives_way_to_the_next_one(service: Service, name: str) -> None:
    far, customer = "2050-01-01T00:00:00Z", f"cus-{name}"
    service.put_invoice(name, due_on="2026-11-01", customer_id=customer).ok()
    hold = {"invoice_id": name, "reason": "dispute"}
    service.fact("invoice.hold", hold, time=far)
    service.remind(name).no(409, "on_hold")
    away = {"customer_id": customer, "reason": "bankrupt"}
    service.fact("customer.hold", away, time=far)
    service.advance(minutes=1)
    service.fact("invoice.unhold", hold)
    service.fact("customer.unhold", away)
    service.remind(name).ok(201)


@pytest.mark.starts("2026-12-01T11:30:00Z")
def test_a_clock_that_is_minutes_ahead_is_nobodys_business(service: Service, name: str) -> None:
    seen = (service.clock + timedelta(minutes=5)).isoformat()
    service.fact("invoice.observed", _observed(name, observed_at=seen), source=f"near-{name}")
    assert not [a for a in service.alerts("clock_ahead") if name in a["dedupe_key"]]


def test_due_instant(postgres: str) -> None:
    """From Stripe; the other providers are in tests/api/webhooks/test_billing_days.py."""
    env = environment(LEDGER_TIME_ZONE="Australia/Sydney")
    with fresh_service(postgres, "2026-12-03T12:59:59Z", env=env) as service:
        due = int(datetime.fromisoformat("2026-11-30T21:00:00Z").timestamp())
        amounts = {"currency": "aud", "total": 30_000, "amount_remaining": 30_000}
        about = {"id": "in_1", "customer": "cus_1", "status": "open", "due_date": due}
        event = {"id": "evt_1", "type": "invoice.finalized", "livemode": False, "created": due}
        invoice = about | amounts | {"created": due - 86_400}
        body = event | {"object": "event", "data": {"object": invoice}}
        signed_json("stripe", body, service.clock).to(service).ok()
        assert service.get("/v1/invoices/in_1").ok()["due_on"] == "2026-12-01"
        denied = service.remind("in_1", "day-3").no(409, "not_reached")
        assert denied["available_at"] == "2026-12-03T13:00:00Z"
        service.move_clock("2026-12-03T13:00:00Z")
        assert _ready(service) == {"cus_1"}
        service.remind("in_1", "day-3").ok(201)


# --- ids

_UNSEEN = [" ", "\u200b", "\u00a0", "\ufeff", "\u2003", "\u2060", "\u3164"]


@pytest.mark.starts("2026-12-01T12:00:00Z")
@pytest.mark.parametrize("unseen", _UNSEEN, ids=[f"U+{ord(c):04X}" for c in _UNSEEN])
def test_invisible_ends(service: Service, name: str, unseen: str) -> None:
    service.put_invoice(name, due_on="2026-11-01").ok()
    for id_ in (f"{name}{unseen}", f"{unseen}{name}"):
        service.put_invoice(quote(id_), due_on="2026-11-01").no(422, "invalid_request")
        service.get(f"/v1/invoices/{quote(id_)}").no(422, "invalid_request")
        service.put_invoice(name, customer_id=id_).no(422, "invalid_request")
        service.remind(id_).no(422, "invalid_request")
        service.ask("notification", customer_id=name, event_type="t", event_id=id_).no(
            422, "invalid_request"
        )
        service.get(f"/v1/customers/{quote(id_)}").no(422, "invalid_request")
        facts = [
            {"id": id_, "source": "s", "type": "invoice.observed", "data": _observed(name)},
            {"id": "1", "source": id_, "type": "invoice.observed", "data": _observed(name)},
            {
                "id": "2",
                "source": "s",
                "type": "invoice.observed",
                "data": _observed(id_, customer_id=name),
            },
        ]
        results = service.post("/v1/facts", {"facts": facts}).ok()["results"]
        assert [result["result"] for result in results] == ["rejected"] * 3
        assert [result["detail"].split(":")[0] for result in results] == [
            "id",
            "source",
            "invoice_id",
        ]
    assert service.get(f"/v1/invoices/{name}").ok()["invoice_id"] == name


# --- one failure


@pytest.mark.starts("2026-12-01T13:00:00Z")
@pytest.mark.parametrize("told", ["before", "after"])
def test_one_failure_two_events(service: Service, name: str, told: str) -> None:
    service.put_invoice(name, due_on="2026-11-01").ok()

    def tell() -> None:
        for event in ("evt_a", "evt_b"):
            data = {"invoice_id": name, "event_id": event, "attempt_id": "ch_1"}
            service.fact("invoice.payment_failed", data)

    if told == "before":
        tell()
    permit = service.send("payment_failed", invoice_id=name, event_id="evt_a")
    if told == "after":
        tell()
    answer = service.ask("payment_failed", invoice_id=name, event_id="evt_b")
    assert answer.no(409, "already_sent")["original"]["permit_id"] == permit
    service.ask("payment_failed", invoice_id=name, event_id="evt_c").ok(201)


# --- feeds


def test_stale_feed(postgres: str, tmp_path: Path) -> None:
    start = "2026-10-01T10:00:00Z"
    with _service(postgres, tmp_path, start, snapshot_max_age=30, feed_silent_hours=48) as service:
        service.fact("invoice.observed", _observed("S1", due_on="2026-09-25"), source="erp")
        service.fact("invoice.observed", _observed("S2", due_on="2026-09-25"), source="shop")
        service.advance(hours=47)
        assert _ready(service) == {"cus-S1", "cus-S2"}
        service.fact("invoice.observed", _observed("S3", due_on="2026-12-31"), source="shop")
        service.advance(hours=2)
        feeds = {feed["source"]: feed for feed in service.get("/v1/feeds").ok()["items"]}
        assert feeds["erp"]["silent_since"] is not None
        assert feeds["shop"]["silent_since"] is None
        assert feeds["erp"]["last_heard_at"] == start
        assert feeds["shop"]["facts"]["applied"] == 2
        assert [a["dedupe_key"] for a in service.alerts("feed_silent")] == [
            "feed_silent:erp:2026-10-01T10:00:00+00:00"
        ]
        problem = service.remind("S1").no(409, "facts_stale")
        assert problem["retryable"] is True
        assert _ready(service) == {"cus-S2"}
        permit = service.remind("S2").ok(201)
        assert permit["items"][0]["observed_at"] == start
        service.fact("invoice.hold", {"invoice_id": "S9", "reason": "x"}, source="erp")
        assert service.get("/v1/feeds").ok()["items"][0]["silent_since"] is None
        service.remind("S1").ok(201)
        # Silence comes again, and is another one.
        service.advance(hours=49)
        service.get("/v1/feeds").ok()
        assert len(service.alerts("feed_silent")) == 3


def test_a_reminder_on_a_snapshot_that_is_too_old(postgres: str, tmp_path: Path) -> None:
    off = {"feed_silent_hours": 0}
    start = "2026-10-01T10:00:00Z"
    with _service(postgres, tmp_path, start, snapshot_max_age=30, **off) as service:
        for invoice in ("S1", "S2"):
            service.put_invoice(invoice, due_on="2026-10-20").ok()
        service.advance(days=29, hours=23)
        assert _ready(service) == {"cus-S1", "cus-S2"}
        service.advance(hours=1)
        service.remind("S1").no(409, "facts_stale")
        assert _ready(service) == set()
        assert service.post("/v1/due/claim", {}).ok()["permits"] == []
        service.put_invoice("S1", due_on="2026-10-20").ok()
        service.remind("S1").ok(201)
        assert _ready(service) == set()


def test_a_reminder_on_old_facts_pages_once_a_day(postgres: str, tmp_path: Path) -> None:
    with _service(postgres, tmp_path, "2026-09-01T10:00:00Z") as service:
        for number in range(3):
            service.put_invoice(f"S{number}", due_on="2026-11-10").ok()
        service.advance(days=78)
        for number in range(2):
            service.remind(f"S{number}").ok(201)
        [alert] = service.alerts("old_facts")
        assert alert["dedupe_key"] == "old_facts:put:first:2026-11-18"
        service.advance(days=1)
        service.remind("S2").ok(201)
        assert len(service.alerts("old_facts")) == 2
        assert len(service.alerts("feed_silent")) == 1


@pytest.mark.starts("2026-12-01T14:00:00Z")
def test_who_may_see_the_feeds(service: Service) -> None:
    for scope in ("audit", "operate"):
        service.client(scope).get("/v1/feeds").ok()
    service.client("send").get("/v1/feeds").no(403, "forbidden")


# --- subscriptions


def test_what_ended_with_its_subscription_is_neither_due_nor_granted(
    postgres: str, tmp_path: Path
) -> None:
    told = {"subscription_id": "sub_1", "invoice_ids": ["S1"]}
    with _service(postgres, tmp_path, remind_after_subscription_end="false") as service:
        for invoice in ("S1", "S2"):
            service.put_invoice(invoice, customer_id="C", due_on="2026-11-20").ok()
        service.fact("subscription.ended", told | {"customer_id": "C"})
        service.remind("S1").no(409, "subscription_ended")
        position = service.get("/v1/control").ok()["position"]
        [item] = service.get("/v1/due", after=position).ok()["items"]
        assert [invoice["invoice_id"] for invoice in item["invoices"]] == ["S2"]
        [permit] = service.post("/v1/due/claim", {}).ok()["permits"]
        assert [item["invoice_id"] for item in permit["items"]] == ["S2"]
        service.advance(minutes=1)
        service.fact("subscription.resumed", told | {"customer_id": "C"})
        assert _ready(service) == {"C"}
        service.remind("S1").ok(201)


# --- too late

_KINDS: dict[str, dict[str, Any]] = {
    "notification": {"event_type": "shipped", "event_id": "1"},
    "digest": {"inbox_id": "i1", "date": "2026-12-01"},
    "follow_up": {"step": 1},
    "message": {"intent": "welcome"},
}


def _tell(client: Client, kind: str, name: str, **more: Any) -> Answer:
    thread = {"thread_id": f"{name}-{kind}"} if kind in ("follow_up", "message") else {}
    return client.ask(kind, customer_id=f"{name}-{kind}", **_KINDS[kind], **thread, **more)


@pytest.mark.starts("2026-12-01T15:00:00Z")
@pytest.mark.parametrize("kind", _KINDS)
def test_too_old_to_be_useful(service: Service, name: str, kind: str) -> None:
    sender = service.client("send")
    ends = service.clock + timedelta(minutes=4)
    late = {"not_after": service.clock.isoformat()}
    problem = _tell(sender, kind, name, **late).no(409, "too_late")
    assert problem["retryable"] is False
    permit = _tell(sender, kind, name, not_after=ends.isoformat()).ok(201)
    assert datetime.fromisoformat(permit["send_by"]) == ends
    service.move_clock(ends)
    sender.redeem(permit["permit_id"]).no(409, "expired")
    _tell(sender, kind, name, not_after=ends.isoformat()).no(409, "too_late")
    # Off by default: how long ago it happened counts for nothing.
    _tell(sender, kind, name, happened_at="2026-01-01T00:00:00Z").ok(201)


@pytest.mark.parametrize("kind", _KINDS)
def test_too_late_by_the_policy(postgres: str, tmp_path: Path, kind: str) -> None:
    with _service(postgres, tmp_path, too_late_hours=24) as service:
        yesterday = service.clock - timedelta(hours=24)
        _tell(service, kind, "a", happened_at=yesterday.isoformat()).no(409, "too_late")
        in_time = (yesterday + timedelta(seconds=1)).isoformat()
        permit = _tell(service, kind, "a", happened_at=in_time).ok(201)
        assert datetime.fromisoformat(permit["send_by"]) == service.clock + timedelta(seconds=1)
        service.report(permit["permit_id"], "sent").ok()
        code = "duplicate_intent" if kind == "message" else "already_sent"
        _tell(service, kind, "a", happened_at=yesterday.isoformat()).no(409, code)


# --- days between reminder mails


def test_gap_between_reminders(postgres: str, tmp_path: Path) -> None:
    with _service(postgres, tmp_path, days_between_reminder_mails=3) as service:
        for day in range(10):
            due_on = f"2026-12-{day + 1:02}"
            service.put_invoice(f"G{day}", customer_id="C", due_on=due_on).ok()
        mails: list[tuple[int, int]] = []
        for day in range(2, 27):
            service.move_clock(f"2026-12-{day:02}T09:00:00Z")
            ready = _ready(service)
            claimed = service.post("/v1/due/claim", {}).ok()
            assert (ready == {"C"}) == bool(claimed["permits"])
            for permit in claimed["permits"]:
                service.redeem(permit["permit_id"]).ok()
                service.report(permit["permit_id"], "sent").ok()
                mails.append((day, len(permit["items"])))
        days = [day for day, _ in mails]
        assert all(later - earlier >= 3 for earlier, later in pairwise(days))
        assert len(mails) <= 9
        assert sum(items for _, items in mails) >= 20


def test_a_reminder_too_soon_after_another_says_when(postgres: str, tmp_path: Path) -> None:
    policy = {"days_between_reminder_mails": 3}
    with _service(postgres, tmp_path, **policy) as service:
        for invoice in ("G1", "G2"):
            service.put_invoice(invoice, customer_id="C", due_on="2026-11-20").ok()
        first = service.remind("G1").ok(201)["permit_id"]
        problem = service.remind("G2").no(409, "reminded_recently")
        assert problem["available_at"] == "2026-12-04T00:00:00Z"
        assert problem["retryable"] is True
        free = {"code": "reminded_recently", "available_at": "2026-12-04T00:00:00Z"}
        assert _withheld(service, "C") == free
        assert service.breaker("C") == "closed"
        # A mail that was refused reminded nobody.
        service.report(first, "rejected").ok()
        second = service.remind("G2").ok(201)["permit_id"]
        service.report(second, "sent").ok()
        service.move_clock("2026-12-03T23:59:59Z")
        service.remind("G1").no(409, "reminded_recently")
        service.ask("notification", customer_id="C", event_type="t", event_id="1").ok(201)
        service.move_clock("2026-12-04T00:00:00Z")
        assert _ready(service) == {"C"}
        service.remind("G1").ok(201)


@pytest.mark.starts("2026-12-01T16:00:00Z")
def test_without_the_setting_two_reminders_may_go_on_one_day(service: Service, name: str) -> None:
    for number in range(2):
        service.put_invoice(f"{name}-{number}", customer_id=name, due_on="2026-11-20").ok()
        service.remind(f"{name}-{number}").ok(201)
