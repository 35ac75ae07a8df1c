"""What mail providers say of a mail: it settles the permit, before or after its sender's word."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from tests.api.webhooks.posting import Post, signed_json
from tests.support.service import Answer, Service


@dataclass(frozen=True)
class Mail:
    """A reminder that was permitted, and the names that its provider's events give it."""

    invoice_id: str
    customer_id: str
    permit: Answer
    provider_id: str
    email: str

    @property
    def message_id(self) -> str:
        """Our own Message-ID for it."""
        text: str = self.permit["message_id"]
        return text


Event = Callable[[Mail, str, str], Any]
"""The body of an event about a mail: `delivered`, `bounced` or `complained`, and the event's id."""


def resend(mail: Mail, event: str, id: str) -> Any:
    data = {"email_id": mail.provider_id, "to": [mail.email]}
    return {"type": f"email.{event}", "created_at": "2027-01-15T12:00:00.5Z", "data": data}


def postmark(mail: Mail, event: str, id: str) -> Any:
    number = int(id, 16)
    if event == "delivered":
        told: dict[str, Any] = {"RecordType": "Delivery", "DeliveredAt": "2027-01-15T12:00:00Z"}
    else:
        told = {"RecordType": "Bounce", "Type": "HardBounce", "ID": number}
        told["BouncedAt"] = "2027-01-15T12:00:00Z"
        if event == "complained":
            told |= {"RecordType": "SpamComplaint", "Type": "SpamComplaint"}
    named = {"Email": mail.email, "Recipient": mail.email}
    return told | named | {"MessageID": mail.provider_id}


def sendgrid(mail: Mail, event: str, id: str) -> Any:
    kind = {"delivered": "delivered", "bounced": "bounce", "complained": "spamreport"}[event]
    told = {"event": kind, "sg_event_id": id, "timestamp": 1700000000, "email": mail.email}
    return [told | {"sg_message_id": f"{mail.provider_id}.filterdrecv-1"}]


def mailgun(mail: Mail, event: str, id: str) -> Any:
    """Mailgun names a mail by its Message-ID alone, without the angle brackets."""
    kind = {"delivered": "delivered", "bounced": "failed", "complained": "complained"}[event]
    message = {"headers": {"message-id": mail.message_id.strip("<>")}}
    told = {"event": kind, "id": id, "timestamp": 1700000000.5, "severity": "permanent"}
    return {"event-data": told | {"message": message, "recipient": mail.email.upper()}}


def commune(mail: Mail, event: str, id: str) -> Any:
    told = {"_id": id, "event_type": event, "processed_at": "2027-01-15T12:00:00Z"}
    return {"data": [told | {"message_id": mail.provider_id}]}


PROVIDERS: dict[str, Event] = {
    "resend": resend,
    "postmark": postmark,
    "sendgrid": sendgrid,
    "mailgun": mailgun,
    "commune": commune,
}


def permitted(hooks: Service, mark: str, name: str) -> Mail:
    """A reminder of an invoice four days past due, to somebody with an address."""
    due = (hooks.clock - timedelta(days=4)).date().isoformat()
    invoice_id, customer_id = f"inv-{name}-{mark}", f"cus-{name}-{mark}"
    email = f"{name}.{mark}@example.com"
    hooks.put_invoice(invoice_id, customer_id=customer_id, due_on=due, email=email).ok()
    permit = hooks.remind(invoice_id).ok(201)
    provider_id = f"pm-{name}-{mark}"
    return Mail(invoice_id, customer_id, permit, provider_id, email)


def told(hooks: Service, provider: str, mail: Mail, event: str, id: str) -> Post:
    """The provider's post about the mail."""
    return signed_json(provider, PROVIDERS[provider](mail, event, id), hooks.clock, id)


def report(hooks: Service, mail: Mail) -> None:
    """The sender says that it handed the mail over, and what the provider calls it."""
    provider_id = mail.message_id if "mailgun" in mail.provider_id else mail.provider_id
    hooks.report(mail.permit["permit_id"], "sent", provider_message_id=provider_id).ok()


def settled(hooks: Service, mail: Mail) -> tuple[str, str, int, int]:
    """State of the permit and its stage, addresses on hold, and pages about that."""
    permit = hooks.get(f"/v1/permits/{mail.permit['permit_id']}").ok()
    customer = hooks.get(f"/v1/customers/{mail.customer_id}").ok()
    pages = hooks.alerts("address_on_hold", mail.customer_id)
    stage = hooks.stages(mail.invoice_id)["day-3"]
    return permit["state"], stage, customer["addresses_on_hold"], len(pages)


AFTER = {
    "delivered": ("sent", "sent", 0, 0),
    "bounced": ("sent", "bounced", 1, 1),
    "complained": ("sent", "sent", 1, 1),
}


@pytest.mark.parametrize("event", AFTER)
@pytest.mark.parametrize("early", [True, False], ids=["before the outcome", "after it"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_event_settles_the_permit_of_its_mail(
    hooks: Service, mark: str, provider: str, early: bool, event: str
) -> None:
    mail = permitted(hooks, mark, provider)
    post = told(hooks, provider, mail, event, mark)
    if early:
        assert post.to(hooks).ok()["results"][0]["result"] == "applied"
        report(hooks, mail)
    else:
        report(hooks, mail)
        assert post.to(hooks).ok()["results"][0]["result"] == "applied"
    assert settled(hooks, mail) == AFTER[event]
    assert post.to(hooks).ok()["results"][0]["result"] == "duplicate"
    assert settled(hooks, mail) == AFTER[event]


@pytest.mark.parametrize("event", ["bounced", "complained"])
@pytest.mark.parametrize("early", [True, False], ids=["before the outcome", "after it"])
@pytest.mark.parametrize("provider", ["resend", "postmark", "sendgrid", "mailgun"])
def test_what_becomes_of_a_copy_is_the_copys(
    hooks: Service, mark: str, provider: str, early: bool, event: str
) -> None:
    mail = permitted(hooks, mark, provider)
    copy = replace(mail, email=f"copy.{mark}@example.net")
    post = told(hooks, provider, copy, event, mark)
    if early:
        post.to(hooks).ok()
    report(hooks, mail)
    if not early:
        post.to(hooks).ok()
    assert settled(hooks, mail)[:3] == ("sent", "sent", 0)
    notice = {"event_type": "hello", "event_id": mark, "to": copy.email}
    hooks.ask("notification", **notice).no(409, "address_on_hold")
    hooks.ask("notification", **notice | {"to": mail.email}).ok(201)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_lost_outcome_is_told_by_the_provider(hooks: Service, mark: str, provider: str) -> None:
    """Only where the event names our Message-ID can it be known which mail it speaks of."""
    mail = permitted(hooks, mark, provider)
    told(hooks, provider, mail, "delivered", mark).to(hooks).ok()
    hooks.advance(minutes=11)
    state = hooks.get(f"/v1/permits/{mail.permit['permit_id']}").ok()["state"]
    assert state == ("sent" if provider == "mailgun" else "unknown")
    report(hooks, mail)
    assert settled(hooks, mail) == AFTER["delivered"]


def test_the_address_is_held_until_a_new_one_or_a_human(hooks: Service, mark: str) -> None:
    mail = permitted(hooks, mark, "resend")
    report(hooks, mail)
    for number, event in enumerate(("bounced", "complained", "bounced", "delivered")):
        told(hooks, "resend", mail, event, f"{number}{mark}").to(hooks).ok()
    assert settled(hooks, mail) == AFTER["bounced"]
    hooks.advance(days=4)
    hooks.remind(mail.invoice_id).no(409, "address_on_hold")
    due = hooks.get("/v1/due", limit=1000).ok()["items"]
    mine = [item for item in due if item["customer_id"] == mail.customer_id]
    assert mine[0]["withheld"]["code"] == "address_on_hold"
    release = f"/v1/customers/{mail.customer_id}/addresses/release"
    hooks.post(release, {"reason": "the mailbox was full", "by": "ann"}).ok()
    second = hooks.remind(mail.invoice_id).ok(201)
    again = replace(mail, permit=second, provider_id=f"{mail.provider_id}-2")
    hooks.report(second["permit_id"], "sent", provider_message_id=again.provider_id).ok()
    told(hooks, "resend", again, "bounced", f"9{mark}").to(hooks).ok()
    assert hooks.get(f"/v1/customers/{mail.customer_id}").ok()["addresses_on_hold"] == 1
    assert len(hooks.alerts("address_on_hold", mail.customer_id)) == 2
    hooks.advance(days=7)
    hooks.remind(mail.invoice_id).no(409, "address_on_hold")
    new = {"customer_id": mail.customer_id, "emails": [f"new.{mark}@example.com"]}
    hooks.fact("customer.observed", new)
    assert hooks.remind(mail.invoice_id).ok(201)["to"] == f"new.{mark}@example.com"


def test_a_providers_own_reminder_uses_up_the_stage_that_was_reached(
    hooks: Service, mark: str
) -> None:
    """Chargebee says that it mailed by itself: the stage is gone and the window has one mail."""
    at = int(hooks.clock.timestamp())
    invoice = {
        "id": f"inv-{mark}",
        "customer_id": f"cus-{mark}",
        "status": "payment_due",
        "currency_code": "EUR",
        "total": 50000,
        "amount_due": 50000,
        "date": at - 40 * 86400,
        "due_date": at - 8 * 86400,
        "resource_version": at * 1000,
    }
    event = {
        "id": f"ev-{mark}",
        "event_type": "payment_due_reminder",
        "occurred_at": at,
        "content": {"invoice": invoice},
    }
    answer = signed_json("chargebee", event, hooks.clock).to(hooks).ok()
    assert [r["type"] for r in answer["results"]] == ["invoice.observed", "send.observed"]
    signed_json("chargebee", event, hooks.clock).to(hooks).ok()
    assert hooks.stages(f"inv-{mark}") == {
        "day-3": "superseded",
        "day-7": "sent",
        "day-14": "pending",
    }
    customer = hooks.get(f"/v1/customers/cus-{mark}").ok()
    assert customer["windows"]["outreach_24h"]["used"] == 1
    hooks.remind(f"inv-{mark}", "day-7").no(409, "already_sent")
