"""Invoices as snapshots: what is told, left out, cleared or old, and what the stages say."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Client, Service


def _day(service: Service, days: int) -> str:
    """The date so many days from today on the test clock."""
    return (service.clock + timedelta(days=days)).date().isoformat()


def _due(client: Client, service: Service, name: str, days_ago: int, **fields: Any) -> str:
    """An open invoice that fell due so many days ago; gives its id."""
    client.put_invoice(name, due_on=_day(service, -days_ago), **fields).ok()
    return name


def test_an_invoice_is_told_and_read_back(service: Service, name: str) -> None:
    told = service.put_invoice(
        name,
        customer_id=f"cus-{name}",
        email=f"Pat.{name}@Example.com",
        currency="EUR",
        total=1_000,
        amount_remaining=400,
        issued_on=_day(service, -40),
        due_on=_day(service, -10),
        time_zone="Europe/Berlin",
        observed_at="2026-11-30T12:00:00+02:00",
    ).ok()
    assert told["applied"] is True
    assert int(told["position"]) > 0
    read = service.get(f"/v1/invoices/{name}").ok()
    expected = {
        "invoice_id": name,
        "customer_id": f"cus-{name}",
        "currency": "EUR",
        "total": 1_000,
        "amount_remaining": 400,
        "status": "open",
        "issued_on": _day(service, -40),
        "due_on": _day(service, -10),
        "time_zone": "Europe/Berlin",
        "observed_at": "2026-11-30T10:00:00Z",
        "cycle": 1,
        "days_past_due": 10,
    }
    for answer in (told, read):
        assert {field: answer[field] for field in expected} == expected
        assert answer["version"] >= 1
        assert [(s["stage"], s["cycle"], s["state"]) for s in answer["stages"]] == [
            ("day-3", 1, "pending"),
            ("day-7", 1, "due"),
            ("day-14", 1, "pending"),
        ]
    customer = service.get(f"/v1/customers/cus-{name}").ok()
    assert customer["addresses"] == [f"Pat.{name}@Example.com"]
    assert customer["owed"] == [{"currency": "EUR", "amount": 400}]
    assert [i["invoice_id"] for i in customer["open_invoices"]] == [name]


def test_what_is_left_out_is_unchanged_and_null_clears(service: Service, name: str) -> None:
    full = {
        "issued_on": _day(service, -40),
        "due_on": _day(service, -10),
        "time_zone": "Asia/Tokyo",
    }
    service.put_invoice(name, email=f"{name}@example.com", **full).ok()
    service.advance(minutes=1)
    left_out = service.put_invoice(name, amount_remaining=20_000).ok()
    assert {field: left_out[field] for field in full} == full
    assert left_out["amount_remaining"] == 20_000
    assert service.get(f"/v1/customers/cus-{name}").ok()["addresses"] == [f"{name}@example.com"]
    service.advance(minutes=1)
    cleared = service.put_invoice(name, email=None, **dict.fromkeys(full)).ok()
    assert (cleared["issued_on"], cleared["due_on"]) == (None, None)
    assert cleared["time_zone"] == "UTC"
    assert service.get(f"/v1/customers/cus-{name}").ok()["addresses"] == []
    service.remind(name).no(409, "no_due_date")


def test_an_older_snapshot_changes_nothing(service: Service, name: str) -> None:
    newer = service.put_invoice(name, observed_at="2026-11-20T10:00:00Z", total=500).ok()
    older = service.put_invoice(name, observed_at="2026-11-20T09:59:59Z", total=900).ok()
    assert (newer["applied"], older["applied"]) == (True, False)
    assert older["amount_remaining"] == 500
    read = service.get(f"/v1/invoices/{name}").ok()
    assert (read["total"], read["version"]) == (500, newer["version"])


def test_observed_at_is_now_where_it_is_left_out(service: Service, name: str) -> None:
    told = service.put_invoice(name).ok()
    assert told["observed_at"] == service.clock.isoformat().replace("+00:00", "Z")
    earlier = (service.clock - timedelta(seconds=1)).isoformat()
    assert service.put_invoice(name, observed_at=earlier, total=1).ok()["applied"] is False


def test_the_same_snapshot_again_is_applied_and_adds_nothing(service: Service, name: str) -> None:
    fields = {"observed_at": "2026-11-20T10:00:00Z", "due_on": "2026-11-25"}
    first = service.put_invoice(name, **fields).ok()
    again = service.put_invoice(name, **fields).ok()
    assert (again["applied"], again["version"]) == (True, first["version"])


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("draft", "not_past_due"),
        ("paid", "nothing_owed"),
        ("uncollectible", "nothing_owed"),
        ("void", "voided"),
    ],
)
def test_only_an_open_invoice_is_dunned(
    status: str, code: str, service: Service, name: str
) -> None:
    told = service.put_invoice(name, status=status, due_on=_day(service, -8)).ok()
    assert (told["status"], told["days_past_due"]) == (status, 0)
    service.remind(name).no(409, code)
    service.remind(name, "day-7").no(409, code)


def test_zero_remaining_makes_an_open_invoice_paid(service: Service, name: str) -> None:
    told = service.put_invoice(name, amount_remaining=0, due_on=_day(service, -8)).ok()
    assert told["status"] == "paid"
    service.remind(name).no(409, "nothing_owed")


def test_an_unknown_invoice_is_404(service: Service, name: str) -> None:
    problem = service.get(f"/v1/invoices/{name}").no(404, "unknown_invoice")
    assert name in problem["detail"]
    assert problem["retryable"] is False


def test_ids_with_slashes_spaces_and_letters_of_the_world(service: Service, name: str) -> None:
    for invoice_id, path in (
        (f"{name}/2026/001", f"{name}%2F2026%2F001"),
        (f"{name} №7 über", f"{name}%20%E2%84%967%20%C3%BCber"),
        (f"{name}:a?b#c", f"{name}%3Aa%3Fb%23c"),
    ):
        body = {"customer_id": name, "currency": "USD", "total": 1, "amount_remaining": 1}
        service.call("PUT", f"/v1/invoices/{path}", body | {"status": "open"}).ok()
        assert service.get(f"/v1/invoices/{path}").ok()["invoice_id"] == invoice_id


def test_stages_go_through_their_states(service: Service, name: str) -> None:
    client = service.client("send", "facts", "audit", redeem="optional")
    invoice = _due(client, service, name, 2)
    assert client.stages(invoice) == {"day-3": "pending", "day-7": "pending", "day-14": "pending"}
    service.advance(days=1)
    assert client.stages(invoice)["day-3"] == "due"
    permit = client.remind(invoice, "day-3").ok(201)
    (stage, *_) = client.get(f"/v1/invoices/{invoice}").ok()["stages"]
    assert stage == {
        "stage": "day-3",
        "cycle": 1,
        "state": "permitted",
        "at": permit["granted_at"],
        "permit_id": permit["permit_id"],
    }
    client.report(permit["permit_id"], "unknown").ok()
    assert client.stages(invoice)["day-3"] == "unknown"
    client.report(permit["permit_id"], "sent", provider="resend", provider_message_id=name).ok()
    assert client.stages(invoice)["day-3"] == "sent"
    client.fact("delivery", {"provider": "resend", "provider_message_id": name, "event": "bounced"})
    assert client.stages(invoice)["day-3"] == "bounced"
    client.remind(invoice, "day-3").no(409, "already_sent")


def test_lower_stages_are_superseded_and_a_freed_permit_frees_them(
    service: Service, name: str
) -> None:
    client = service.client("send", "facts", "audit")
    invoice = _due(client, service, name, 15)
    permit = client.remind(invoice).ok(201)
    (item,) = permit["items"]
    assert (item["stage"], item["supersedes"]) == ("day-14", ["day-3", "day-7"])
    superseded = {"day-3": "superseded", "day-7": "superseded", "day-14": "permitted"}
    assert client.stages(invoice) == superseded
    client.report(permit["permit_id"], "rejected").ok()
    assert client.stages(invoice) == {"day-3": "pending", "day-7": "pending", "day-14": "due"}
    again = client.remind(invoice).ok(201)
    assert again["items"][0]["supersedes"] == ["day-3", "day-7"]
    service.advance(minutes=10)
    assert client.stages(invoice)["day-14"] == "due"


def test_a_permit_that_lapsed_is_read_as_lapsed_at_once(service: Service, name: str) -> None:
    client = service.client("send", "facts", "audit", redeem="optional")
    invoice = _due(client, service, name, 4)
    permit = client.remind(invoice).ok(201)
    service.advance(minutes=9, seconds=59)
    assert client.stages(invoice)["day-3"] == "permitted"
    service.advance(seconds=1)
    assert client.stages(invoice)["day-3"] == "unknown"
    assert client.get(f"/v1/permits/{permit['permit_id']}").ok()["state"] == "unknown"


def test_days_past_due_are_calendar_days_of_the_invoices_zone(service: Service, name: str) -> None:
    service.move_clock(service.clock.replace(hour=23, minute=30) + timedelta(days=1))
    for zone, days in (("UTC", 3), ("Europe/Berlin", 4), ("America/New_York", 3)):
        invoice = f"{name}-{zone}"
        answer = service.call(
            "PUT",
            f"/v1/invoices/{invoice.replace('/', '%2F')}",
            {
                "customer_id": invoice,
                "currency": "USD",
                "total": 5,
                "amount_remaining": 5,
                "status": "open",
                "time_zone": zone,
                "due_on": _day(service, -3),
            },
        ).ok()
        assert answer["days_past_due"] == days
