"""The list of sources over HTTP and on the command line, and times and ids in requests."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.service import Service, fresh_service


def _paid(invoice: str, amount: int = 1) -> dict[str, Any]:
    return {"invoice_id": invoice, "payment_id": "P", "amount": amount, "state": "succeeded"}


def test_sources_are_listed_by_name_in_pages(postgres: str) -> None:
    with fresh_service(postgres, "2026-12-01T10:00:00Z") as service:
        assert service.get("/v1/feeds").ok().body == {"items": [], "next": None}
        service.put_invoice("I1").ok()
        service.fact("customer.observed", {"customer_id": "C1", "emails": []}, source="crm")
        service.fact("invoice.payment", _paid("I1"), source="bank", id="1")
        service.fact("invoice.payment", _paid("I1"), source="bank", id="1")
        first = service.get("/v1/feeds", limit=2).ok()
        second = service.get("/v1/feeds", limit=2, cursor=first["next"]).ok()
        items = [*first["items"], *second["items"]]
        assert second["next"] is None
        assert [(item["source"], item["tells_of_money"]) for item in items] == [
            ("bank", True),
            ("crm", False),
            ("put:first", True),
        ]
        assert items[0]["facts"] == {
            "applied": 1,
            "duplicate": 1,
            "stale": 0,
            "ignored": 0,
            "rejected": 0,
        }
        assert items[0]["last_heard_at"] == "2026-12-01T10:00:00Z"
        service.get("/v1/feeds", cursor="nonsense").no(422, "invalid_request")
        service.get("/v1/feeds", limit=0).no(422, "invalid_request")


def test_one_silence_is_one_alert(postgres: str) -> None:
    with fresh_service(postgres, "2026-12-01T10:00:00Z") as service:
        service.put_invoice("I1").ok()
        service.fact("customer.observed", {"customer_id": "C1", "emails": []}, source="crm")
        service.advance(days=7, seconds=-1)
        assert service.alerts("feed_silent") == []
        service.advance(seconds=1)
        [alert] = service.alerts("feed_silent")
        assert "put:first was last heard at 2026-12-01T10:00:00Z" in alert["summary"]
        for _ in range(2):
            service.get("/v1/feeds").ok()
        assert len(service.alerts("feed_silent")) == 1


def test_the_watch_is_off_at_0_hours(postgres: str, tmp_path: Path) -> None:
    config = tmp_path / "ledger.toml"
    config.write_text("[policy]\nfeed_silent_hours = 0\n", encoding="utf-8")
    env = {"LEDGER_CONFIG": str(config)}
    with fresh_service(postgres, "2026-12-01T10:00:00Z", env=env) as service:
        service.put_invoice("I1").ok()
        service.advance(days=400)
        assert service.alerts("feed_silent") == []
        assert service.get("/v1/feeds").ok()["items"][0]["silent_since"] is None


def test_denials_by_the_new_guards_are_explained_long_after(postgres: str, tmp_path: Path) -> None:
    config = tmp_path / "ledger.toml"
    lines = ["snapshot_max_age = 30", "days_between_reminder_mails = 3", "too_late_hours = 1"]
    config.write_text("\n".join(["[policy]", *lines]), encoding="utf-8")
    env = {"LEDGER_CONFIG": str(config)}
    with fresh_service(postgres, "2026-12-01T10:00:00Z", env=env) as service:
        for invoice in ("I1", "I2"):
            service.put_invoice(invoice, customer_id="C1", due_on="2026-11-20").ok()
        service.remind("I1").ok(201)
        soon = service.remind("I2").no(409, "reminded_recently")
        service.advance(days=7)
        service.get("/v1/feeds").ok()
        stale = service.remind("I2").no(409, "facts_stale")
        about = {"customer_id": "C1", "event_type": "t", "event_id": "1"}
        late = service.ask("notification", **about, happened_at="2026-12-01T10:00:00Z")
        late.no(409, "too_late")
        service.put_invoice("I2", customer_id="C1", amount_remaining=0, status="paid").ok()

        def explained(answer: Any) -> Any:
            found = service.get(f"/v1/decisions/{answer['decision_id']}").ok()["explanation"]
            assert found["reproduced"] is True
            [denied] = [g["guard"] for g in found["guards"] if g["verdict"] == "denied"]
            return denied, found["state"]

        guard, state = explained(soon)
        assert guard == "reminder_gap"
        assert state["customer"]["reminded_at"] == "2026-12-01T10:00:00Z"
        assert state["control"]["silent_feeds"] == {}
        guard, state = explained(stale)
        assert guard == "outside_facts"
        assert state["control"]["silent_feeds"] == {"put:first": "2026-12-01T10:00:00Z"}
        assert explained(late)[0] == "too_late"


@pytest.mark.parametrize("field", ["happened_at", "not_after"])
def test_times_of_a_request_need_an_offset_and_kinds_that_know_them(
    service: Service, name: str, field: str
) -> None:
    about = {"customer_id": name, "event_type": "t", "event_id": "1"}
    service.ask("notification", **about, **{field: "2026-12-01T10:00:00"}).no(
        422, "invalid_request"
    )
    service.put_invoice(name, due_on="2026-01-01").ok()
    service.remind(name, **{field: service.clock.isoformat()}).no(422, "invalid_request")
    later = (service.clock + timedelta(hours=1)).isoformat()
    service.ask("notification", **about, **{field: later}).ok(201)


def test_a_retry_that_names_other_times_is_another_request(service: Service, name: str) -> None:
    about = {"customer_id": name, "event_type": "t", "event_id": "1"}
    ends = service.clock + timedelta(hours=1)
    service.ask("notification", idem=f"{name}-1", **about, not_after=ends.isoformat()).ok(201)
    other = (ends + timedelta(hours=1)).isoformat()
    service.ask("notification", idem=f"{name}-1", **about, not_after=other).no(422, "key_conflict")


def test_an_unchanged_invoice_is_heard_and_shown_without_an_event(postgres: str) -> None:
    with fresh_service(postgres, "2026-12-01T10:00:00Z") as service:
        first = service.put_invoice("I1").ok()
        for _ in range(3):
            service.advance(minutes=1)
            told = service.put_invoice("I1").ok()
            assert (told["applied"], told["version"]) == (True, first["version"])
            assert told["position"] == first["position"]
            assert told["observed_at"] == service.clock.isoformat().replace("+00:00", "Z")
        assert service.get("/v1/invoices/I1").ok()["observed_at"] == "2026-12-01T10:03:00Z"
        (feed,) = service.get("/v1/feeds").ok()["items"]
        assert (feed["facts"]["applied"], feed["last_heard_at"]) == (4, "2026-12-01T10:03:00Z")
        service.advance(hours=6)
        assert service.put_invoice("I1").ok()["version"] == first["version"] + 1
