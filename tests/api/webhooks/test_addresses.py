"""What providers say of addresses: preferences hold and release, a removed address is gone."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.api.webhooks.posting import signed, signed_json
from tests.support.service import Service
from tests.unit.webhooks.bodies import sample

Body = Any


def mailgun(email: str, held: bool, number: str, at: int) -> Body:
    told = {"event": "unsubscribed", "id": number, "timestamp": at, "recipient": email}
    return {"event-data": told}


def postmark(email: str, held: bool, number: str, at: int) -> Body:
    return {
        "RecordType": "SubscriptionChange",
        "MessageID": None,
        "MessageStream": "outbound",
        "ChangedAt": datetime.fromtimestamp(at, UTC).isoformat(),
        "Recipient": email,
        "Origin": "Recipient",
        "SuppressSending": held,
        "SuppressionReason": "ManualSuppression" if held else None,
    }


def sendgrid(email: str, held: bool, number: str, at: int) -> Body:
    event = "unsubscribe" if held else "resubscribe"
    return [{"event": event, "email": email, "timestamp": at, "sg_event_id": number}]


def group(email: str, held: bool, number: str, at: int) -> Body:
    event = "group_unsubscribe" if held else "group_resubscribe"
    told = {"event": event, "email": email, "timestamp": at, "sg_event_id": number}
    return [told | {"asm_group_id": 10}]


def resend(email: str, held: bool, number: str, at: int) -> Body:
    data = {"id": number, "email": email, "unsubscribed": held}
    when = datetime.fromtimestamp(at, UTC).isoformat()
    return {"type": "contact.updated", "created_at": when, "data": data}


CHANGES = {
    "mailgun": mailgun,
    "postmark": postmark,
    "sendgrid": sendgrid,
    "sendgrid group": group,
    "resend": resend,
}
BEFORE = int(datetime(2027, 1, 15, 11, tzinfo=UTC).timestamp())
"""An hour before the clock of the service was started."""


def digest(hooks: Service, mark: str, email: str, date: str) -> Any:
    """Ask for a digest to the address."""
    return hooks.ask("digest", inbox_id=f"box-{mark}", date=date, to=email)


@pytest.mark.parametrize("name", CHANGES)
def test_whoever_left_at_the_provider_gets_no_digest(hooks: Service, mark: str, name: str) -> None:
    provider, email = name.partition(" ")[0], f"Left.{mark}@example.com"
    body = CHANGES[name](email, True, f"1{mark}", BEFORE + 1)
    post = signed_json(provider, body, hooks.clock, f"1{mark}")
    assert post.to(hooks).ok()["results"][0]["result"] == "applied"
    assert post.to(hooks).ok()["results"][0]["result"] == "duplicate"
    digest(hooks, mark, email.lower(), "2027-01-15").no(409, "on_hold")
    if name == "mailgun":
        return
    again = CHANGES[name](email, False, f"2{mark}", BEFORE + 2)
    signed_json(provider, again, hooks.clock, f"2{mark}").to(hooks).ok()
    digest(hooks, mark, email, "2027-01-15").ok(201)


@pytest.mark.parametrize("name", ["sendgrid group", "resend"])
def test_who_left_a_list_is_still_told_what_is_owed(hooks: Service, mark: str, name: str) -> None:
    provider, email = name.partition(" ")[0], f"left.{mark}@example.com"
    body = CHANGES[name](email, True, mark, BEFORE + 1)
    signed_json(provider, body, hooks.clock, mark).to(hooks).ok()
    due = hooks.clock.date().replace(day=1).isoformat()
    hooks.put_invoice(f"inv-{mark}", customer_id=f"cus-{mark}", due_on=due, email=email).ok()
    assert hooks.remind(f"inv-{mark}").ok(201)["to"] == email


def customer(mark: str, kind: str, email: str | None, at: int) -> dict[str, Any]:
    what = {"id": f"cus-{mark}", "email": email}
    return {
        "id": f"evt-{kind}-{mark}",
        "object": "event",
        "type": f"customer.{kind}",
        "livemode": False,
        "created": at,
        "data": {"object": what},
    }


def test_a_removed_address_is_no_longer_used(hooks: Service, mark: str) -> None:
    email, at = f"old.{mark}@example.com", int(hooks.clock.timestamp()) - 1000
    signed_json("stripe", customer(mark, "created", email, at), hooks.clock).to(hooks).ok()
    due = hooks.clock.date().replace(day=1).isoformat()
    hooks.put_invoice(f"inv-{mark}", customer_id=f"cus-{mark}", due_on=due).ok()
    removed = customer(mark, "updated", None, at + 10)
    answer = signed_json("stripe", removed, hooks.clock).to(hooks).ok()
    assert [result["result"] for result in answer["results"]] == ["applied"]
    assert hooks.get(f"/v1/customers/cus-{mark}").ok()["addresses"] == []
    granted = hooks.remind(f"inv-{mark}").ok(201)
    assert granted.body.get("to") is None


def test_an_invoice_does_not_bring_back_what_was_removed(hooks: Service, mark: str) -> None:
    """A finalized invoice keeps the address that its customer had then, for ever."""
    email, at = f"old.{mark}@example.com", int(hooks.clock.timestamp()) - 1000
    due = hooks.clock.date().replace(day=1).isoformat()
    facts = {"customer_id": f"cus-{mark}", "due_on": due, "email": email}
    hooks.put_invoice(f"inv-{mark}", **facts).ok()
    hooks.advance(seconds=5)
    at = int(hooks.clock.timestamp())
    signed_json("stripe", customer(mark, "updated", None, at), hooks.clock).to(hooks).ok()
    hooks.advance(seconds=5)
    hooks.put_invoice(f"inv-{mark}", **facts, total=20000, amount_remaining=20000).ok()
    assert hooks.get(f"/v1/customers/cus-{mark}").ok()["addresses"] == []
    hooks.advance(seconds=5)
    hooks.put_invoice(f"inv-{mark}", **facts | {"email": f"new.{mark}@example.com"}).ok()
    assert hooks.get(f"/v1/customers/cus-{mark}").ok()["addresses"] == [f"new.{mark}@example.com"]


def test_an_unsubscription_that_names_nobody_still_holds_the_address(
    hooks: Service, mark: str
) -> None:
    path = "mail/postmark.bounce.unsubscribe_without_bounced_at.json"
    email = f"gone.{mark}@example.com"
    due = hooks.clock.date().replace(day=1).isoformat()
    hooks.put_invoice(f"inv-{mark}", customer_id=f"cus-{mark}", due_on=due, email=email).ok()
    permit = hooks.remind(f"inv-{mark}").ok(201)
    name = f"pm-{mark}"
    hooks.report(permit["permit_id"], "sent", provider_message_id=name).ok()
    body = sample(path).replace(b"5555555-5555555-5555-5555555", name.encode())
    body = body.replace(b"555555555", str(int(mark, 16)).encode())
    signed("postmark", body, hooks.clock).to(hooks).ok()
    assert hooks.stages(f"inv-{mark}")["day-14"] == "bounced"
    notice = {"event_type": "hello", "event_id": mark, "customer_id": f"cus-{mark}"}
    hooks.ask("notification", **notice).no(409, "address_on_hold")


def reports(email: str, mark: str, at: int, soft: bool) -> dict[str, Body]:
    """A bounce of each provider that names the address and no mail: for good, or for the time."""
    status = "4.2.2" if soft else "5.1.1"
    sendgrid = {"event": "bounce", "type": "bounce", "email": email, "status": status}
    mailgun = {"event": "failed", "severity": "permanent", "recipient": email, "id": f"m{mark}"}
    mailgun |= {"timestamp": at, "delivery-status": {"code": 452 if soft else 550}}
    kind = "SoftBounce" if soft else "HardBounce"
    return {
        "sendgrid": [sendgrid | {"timestamp": at, "sg_event_id": f"b{mark}"}],
        "postmark": {"RecordType": "Bounce", "Type": kind, "ID": at, "Email": email},
        "mailgun": {"event-data": mailgun},
    }


@pytest.mark.parametrize("provider", ["sendgrid", "postmark", "mailgun"])
def test_a_bounce_that_names_only_an_address_holds_it_if_it_is_for_good(
    hooks: Service, mark: str, provider: str
) -> None:
    """Given an address that is known by nothing else, when it bounces, its first mail is denied."""
    for soft in (True, False):
        mark += "s" if soft else "h"
        email = f"gone.{mark}@example.com"
        body = reports(email, mark, BEFORE + soft, soft)[provider]
        results = signed_json(provider, body, hooks.clock, mark).to(hooks).ok()["results"]
        asked = hooks.ask("notification", event_type="shipped", event_id=mark, to=email)
        if soft:
            asked.ok(201)
        else:
            assert [result["result"] for result in results] == ["applied"]
            asked.no(409, "address_on_hold")
