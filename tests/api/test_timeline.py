"""Timelines: all about a customer or an invoice, once, in order, in pages, without address."""

from typing import Any

import pytest

from tests.support.service import Service

DUE = "2026-11-26"


def pages(service: Service, path: str, limit: int = 1000) -> list[dict[str, Any]]:
    """Every entry of a timeline, page by page."""
    items: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = service.get(f"{path}/timeline", limit=limit, cursor=cursor).ok()
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            return items


def told(items: list[dict[str, Any]]) -> list[str]:
    return [f"{item['kind']} {item['what']}" for item in items]


def in_order(items: list[dict[str, Any]]) -> bool:
    places = [(int(item["position"]), item["at"]) for item in items]
    return places == sorted(places)


@pytest.fixture
def story(service: Service, name: str) -> str:
    """A customer with an invoice, a thread, sends, denials, an alert and a breaker; its id."""
    customer, to = f"cus-{name}", f"{name}@example.com"
    service.put_invoice(name, customer_id=customer, due_on=DUE, email=to).ok()
    permit = service.remind(name).ok(201)["permit_id"]
    service.redeem(permit).ok()
    service.report(permit, "sent", provider="resend", provider_message_id=f"pm-{name}").ok()
    service.remind(name).no(409, "already_sent")
    service.advance(seconds=1)
    mail = {"customer_id": customer, "event_type": "x"}
    service.send("notification", event_id="1", **mail)
    service.ask("notification", event_id="2", **mail).no(429, "cap_reached")
    service.post(f"/v1/customers/{customer}/breaker/reset", {"reason": "a test"}).ok()
    service.advance(seconds=1)
    said = {
        "thread_id": f"thr-{name}",
        "message_id": f"<{name}@x>",
        "direction": "inbound",
        "from": to,
        "to": "us@example.org",
        "customer_id": customer,
        "at": "2026-12-01T00:00:00Z",
    }
    service.fact("thread.message", said)
    service.send("reply", thread_id=said["thread_id"], in_reply_to=said["message_id"])
    return customer


def test_a_customers_timeline_tells_everything_in_order(
    service: Service, name: str, story: str
) -> None:
    items = pages(service, f"/v1/customers/{story}")
    assert told(items) == [
        "fact Customer.Created",
        "fact Invoice.Created",
        "fact Invoice.Observed",
        "fact Customer.AddressesObserved",
        "permit Invoice.ReminderPermitted",
        "permit Customer.MailPermitted",
        "decision permit",
        "permit Customer.MailRedeemed",
        "decision redeem",
        "outcome Customer.MailSettled",
        "outcome Invoice.ReminderSent",
        "decision permit",
        "permit Customer.MailPermitted",
        "decision permit",
        "outcome Customer.MailSettled",
        "guard Customer.BreakerOpened",
        "decision permit",
        "alert breaker_opened",
        "action Customer.BreakerReset",
        "fact Thread.Created",
        "fact Thread.MessageSeen",
        "permit Thread.SendPermitted",
        "permit Customer.MailPermitted",
        "decision permit",
        "outcome Customer.MailSettled",
        "outcome Thread.SendSettled",
    ]
    assert in_order(items)
    codes = [i["data"]["code"] for i in items if i["kind"] == "decision"]
    assert codes == [None, None, "already_sent", None, "cap_reached", None]
    first = next(i for i in items if i["what"] == "Invoice.Observed")
    assert first["about"] == {"invoice_id": name}
    assert first["data"]["snapshot"]["customer_id"] == story
    assert f"{name}@" not in str(items).replace(f"<{name}@x>", "")


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_pages_of_any_size_make_the_same_timeline(service: Service, story: str, limit: int) -> None:
    path = f"/v1/customers/{story}"
    assert pages(service, path, limit) == pages(service, path)


def test_what_comes_meanwhile_is_on_a_later_page(service: Service, story: str) -> None:
    path = f"/v1/customers/{story}/timeline"
    first = service.get(path, limit=20).ok()
    service.ask("notification", customer_id=story, event_type="x", event_id="1")
    rest = service.get(path, limit=20, cursor=first["next"]).ok()
    both = first["items"] + rest["items"]
    assert both == pages(service, f"/v1/customers/{story}")
    assert both[-1]["data"]["code"] == "already_sent"


def test_an_invoices_timeline_is_of_that_invoice_alone(
    service: Service, name: str, story: str
) -> None:
    service.put_invoice(f"{name}-other", customer_id=story, due_on=DUE).ok()
    items = pages(service, f"/v1/invoices/{name}")
    assert told(items) == [
        "fact Invoice.Created",
        "fact Invoice.Observed",
        "permit Invoice.ReminderPermitted",
        "decision permit",
        "decision redeem",
        "outcome Invoice.ReminderSent",
        "decision permit",
    ]
    assert in_order(items)
    assert pages(service, f"/v1/invoices/{name}", limit=2) == items


def test_an_invoice_that_was_one_of_several_or_not_known_yet(service: Service, name: str) -> None:
    one, two = f"{name}/1", f"{name}/2"
    service.remind(two).no(404, "unknown_invoice")
    for invoice in (one, two):
        service.put_invoice(invoice, customer_id=f"cus-{name}", due_on=DUE).ok()
    permit = service.ask("reminder", invoices=[one, two]).ok(201)["permit_id"]
    service.redeem(permit).ok()
    items = pages(service, f"/v1/invoices/{two}")
    assert told(items) == [
        "decision permit",
        "fact Invoice.Created",
        "fact Invoice.Observed",
        "permit Invoice.ReminderPermitted",
        "decision permit",
        "decision redeem",
    ]
    assert [i["data"]["code"] for i in items if i["kind"] == "decision"] == [
        "unknown_invoice",
        None,
        None,
    ]


def test_alerts_about_an_invoices_permits_are_in_its_timeline(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=DUE, email=f"{name}@example.com").ok()
    permit = service.send("reminder", invoices=[name])
    bounced = {"provider": "resend", "provider_message_id": f"pm-{name}", "event": "bounced"}
    named = service.report(permit, "sent", provider_message_id=f"pm-{name}")
    assert named.status == 200
    service.fact("delivery", bounced)
    told_of = told(pages(service, f"/v1/invoices/{name}"))
    assert told_of[-2:] == ["outcome Invoice.ReminderBounced", "alert address_on_hold"]


def test_merged_ids_are_one_timeline_under_any_of_them(service: Service, name: str) -> None:
    old, new = f"old-{name}", f"new-{name}"
    service.put_invoice(name, customer_id=old, due_on=DUE).ok()
    service.send("reminder", invoices=[name])
    service.send("notification", customer_id=new, event_type="x", event_id="1")
    service.fact("customer.merged", {"from": old, "into": new})
    service.ask("notification", customer_id=old, event_type="x", event_id="1")
    items = pages(service, f"/v1/customers/{new}")
    assert pages(service, f"/v1/customers/{old}", limit=4) == items
    assert in_order(items)
    assert {i["about"]["customer_id"] for i in items if "customer_id" in i["about"]} == {old, new}
    assert "fact Customer.MergedInto" in told(items)
    assert sum(what == "outcome Customer.MailSettled" for what in told(items)) == 2
    assert items[-1]["data"]["code"] == "already_sent"
    of_invoice = pages(service, f"/v1/invoices/{name}")
    assert [i["about"]["customer_id"] for i in of_invoice if i["kind"] == "decision"] == [old]


def test_a_thread_that_moved_is_in_both_timelines(service: Service, name: str) -> None:
    was, is_now = f"was-{name}", f"is-{name}"
    said = {"thread_id": f"thr-{name}", "direction": "inbound", "from": "a@x.example"}
    said |= {"to": "us@example.org", "at": "2026-12-01T00:00:00Z"}
    service.fact("thread.message", said | {"message_id": f"<1-{name}@x>", "customer_id": was})
    service.fact("thread.message", said | {"message_id": f"<2-{name}@x>", "customer_id": is_now})
    for customer in (was, is_now):
        of_thread = [
            item["what"]
            for item in pages(service, f"/v1/customers/{customer}")
            if "thread_id" in item["about"]
        ]
        assert of_thread == [
            "Thread.Created",
            "Thread.MessageSeen",
            "Thread.Moved",
            "Thread.MessageSeen",
        ]


def test_nobody_and_nothing_have_no_timeline(service: Service, name: str) -> None:
    service.get(f"/v1/customers/{name}/timeline").no(404, "unknown_customer")
    service.get(f"/v1/invoices/{name}/timeline").no(404, "unknown_invoice")


@pytest.mark.parametrize("cursor", ["!", "MQ", "MSAyIDMgNA", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5"])
def test_a_cursor_of_another_kind_is_refused(service: Service, story: str, cursor: str) -> None:
    path = f"/v1/customers/{story}/timeline"
    service.get(path, cursor=cursor).no(422, "invalid_request")


def test_an_outcome_tells_who_reported_it_and_what_they_said(service: Service, name: str) -> None:
    asked = {"thread_id": name, "customer_id": name}
    permit = service.ask("message", intent="a", **asked).ok(201)["permit_id"]
    operator = service.client("operate", name=f"ann-{name}")
    said = {"provider": "resend", "detail": "pat@example.com is over quota"}
    operator.report(permit, "rejected", **said).ok()
    quiet = service.ask("message", intent="b", **asked).ok(201)["permit_id"]
    service.report(quiet, "sent").ok()
    items = service.get(f"/v1/customers/{name}/timeline", limit=1000).ok()["items"]
    reasons = [i["data"]["reason"] for i in items if i["what"] == "Customer.MailSettled"]
    by_operator, by_sender = reasons
    assert by_operator.startswith(f"reported by ann-{name}: resend: ")
    assert by_operator.endswith(" is over quota")
    assert "pat@example.com" not in by_operator
    assert by_sender == "reported by first"
