"""Cases about addresses: what holds one, whom it binds, and what a grant rests on (design D21)."""

from typing import Any

import pytest

from tests.support.service import Answer, Service

_START = pytest.mark.starts("2026-12-01T10:00:00Z")
_SPELLINGS = ("Dead.Box@Example.COM", "dead.box@example.com", '"dead.box"@EXAMPLE.com.')


def owing(service: Service, name: str, email: str | None, due: str = "2026-11-27") -> str:
    """An invoice on its day 3 or later, of a customer of its own."""
    service.put_invoice(name, email=email, due_on=due).ok()
    return f"cus-{name}"


def sent(service: Service, answer: Answer, mail: str) -> str:
    """Hand the mail of this grant over; the provider calls it `mail`."""
    permit_id = str(answer.ok(201)["permit_id"])
    service.report(permit_id, "sent", provider_message_id=mail).ok()
    return permit_id


def hear(service: Service, event: str, mail: str, recipient: str | None = None) -> Answer:
    """The provider's word on a mail."""
    named = {} if recipient is None else {"recipient": recipient}
    data = {"provider": "mailgun", "event": event, "provider_message_id": mail, **named}
    return service.fact("delivery", data)


def notify(service: Service, event_id: str, **whom: Any) -> Answer:
    """Ask for a notification."""
    return service.ask("notification", event_type="shipped", event_id=event_id, **whom)


def digest(service: Service, customer: str, day: str = "2026-12-02") -> Answer:
    """Ask for a digest."""
    return service.ask("digest", customer_id=customer, inbox_id=f"in-{customer}", date=day)


def held(service: Service, customer: str) -> list[tuple[str | None, str, list[str]]]:
    """The holds of a customer's addresses: which, why, and for which kinds."""
    holds = service.get(f"/v1/customers/{customer}").ok()["address_holds"]
    return [(hold["address"], hold["reason"], hold["kinds"]) for hold in holds]


def withheld(service: Service, customer: str) -> dict[str, Any] | None:
    """What the list of what is due says of a customer; they must be in it."""
    items = service.get("/v1/due", limit=1000).ok()["items"]
    (mine,) = [item for item in items if item["customer_id"] == customer]
    found: dict[str, Any] | None = mine["withheld"]
    return found


@_START
@pytest.mark.parametrize("event", ["bounced", "complained"])
@pytest.mark.parametrize("spelling", range(3))
def test_dead_address_under_another_customer(
    service: Service, name: str, event: str, spelling: int
) -> None:
    box = f"{name}.{_SPELLINGS[0]}"
    other = f"{name}.{_SPELLINGS[spelling].strip()}".replace('"', "")
    owing(service, f"a-{name}", box)
    sent(service, service.remind(f"a-{name}"), f"pm-{name}")
    hear(service, event, f"pm-{name}")
    customer = owing(service, f"b-{name}", other)
    denied = service.remind(f"b-{name}").no(409, "address_on_hold")
    assert denied["retryable"] is False
    assert withheld(service, customer) == {"code": "address_on_hold", "available_at": None}
    assert held(service, customer)[0][1:] == (event, [])
    claimed = service.post("/v1/due/claim", {"limit": 1000}).ok()
    assert customer not in {permit["customer_id"] for permit in claimed["permits"]}
    assert len(service.alerts("address_on_hold", f"cus-a-{name}")) == 1


@_START
def test_dead_address_is_free_for_everybody_after_a_release(service: Service, name: str) -> None:
    box = f"{name}@released.example"
    owing(service, f"a-{name}", box)
    sent(service, service.remind(f"a-{name}"), f"pm-{name}")
    hear(service, "bounced", f"pm-{name}")
    owing(service, f"b-{name}", box)
    service.remind(f"b-{name}").no(409, "address_on_hold")
    release = f"/v1/customers/cus-a-{name}/addresses/release"
    service.post(release, {"reason": "the mailbox was full", "by": "ann"}).ok()
    assert held(service, f"cus-a-{name}") == []
    assert service.remind(f"b-{name}").ok(201)["to"] == box
    told = service.get(f"/v1/customers/cus-b-{name}/timeline").ok()["items"]
    heard = [entry["what"] for entry in told if entry["what"].startswith("Address.")]
    assert heard == ["Address.Created", "Address.AddressHeld", "Address.AddressReleased"]


@_START
@pytest.mark.parametrize("when", ["before the outcome", "after it", "twice", "without a permit"])
def test_copy_bounced(service: Service, name: str, when: str) -> None:
    main, copy = f"main@{name}.example", f"bookkeeper@{name}.example"
    customer, mail = f"cus-{name}", f"pm-{name}"
    service.fact("customer.observed", {"customer_id": customer, "emails": [main]})
    first = notify(service, "1", customer_id=customer)
    if when in ("before the outcome", "twice"):
        hear(service, "bounced", mail, copy)
    if when != "without a permit":
        permit_id = sent(service, first, mail)
        if when in ("after it", "twice"):
            hear(service, "bounced", mail, copy)
        assert service.get(f"/v1/permits/{permit_id}").ok()["state"] == "sent"
    else:
        hear(service, "bounced", f"other-{mail}", copy)
    assert notify(service, "2", customer_id=customer).ok(201)["to"] == main
    assert held(service, customer) == []
    notify(service, "3", to=copy).no(409, "address_on_hold")


@_START
def test_copy_bounced_leaves_the_stage_sent(service: Service, name: str) -> None:
    main, copy = f"main@{name}.example", f"copy@{name}.example"
    customer = owing(service, name, main)
    sent(service, service.remind(name), f"pm-{name}")
    hear(service, "bounced", f"pm-{name}", copy)
    assert service.stages(name)["day-3"] == "sent"
    assert held(service, customer) == []
    hear(service, "bounced", f"pm-{name}", main.upper())
    assert service.stages(name)["day-3"] == "bounced"
    assert held(service, customer) == [(main, "bounced", [])]
    release = f"/v1/customers/{customer}/addresses/release"
    service.post(release, {"reason": "he is back", "by": "ann", "address": copy}).ok()
    assert held(service, customer) == [(main, "bounced", [])]
    notify(service, "1", to=copy).ok(201)


@_START
def test_unsubscribed_from_two_kinds(service: Service, name: str) -> None:
    one, two = f"one-{name}", f"two-{name}"

    def hold(customer: str, kinds: list[str], how: str = "customer.hold") -> None:
        data = {"customer_id": customer, "reason": "unsubscribed", "kinds": kinds}
        service.fact(how, data)

    hold(one, ["digest"])
    hold(one, ["notification"])
    hold(two, ["digest", "notification"])
    hold(two, ["notification"], "customer.unhold")
    digest(service, one).no(409, "on_hold")
    digest(service, two).no(409, "on_hold")
    notify(service, "1", customer_id=one).no(409, "on_hold")
    notify(service, "1", customer_id=two).ok(201)
    hold(one, ["digest"], "customer.unhold")
    digest(service, one).ok(201)
    notify(service, "2", customer_id=one).no(409, "on_hold")


@_START
def test_unsubscribed_at_the_provider(service: Service, name: str) -> None:
    customer, box = f"cus-{name}", f"pat@{name}.example"
    service.fact("customer.observed", {"customer_id": customer, "emails": [box]})
    sent(service, digest(service, customer), f"pm-{name}")
    wish = {"address": box.upper(), "reason": "unsubscribed", "kinds": ["digest"]}
    service.fact("address.hold", wish)
    digest(service, customer, "2026-12-03").no(409, "on_hold")
    assert held(service, customer) == [(box, "unsubscribed", ["digest"])]
    other_kind = notify(service, "1", customer_id=customer).ok(201)
    service.report(other_kind["permit_id"], "rejected").ok()
    release = f"/v1/customers/{customer}/addresses/release"
    service.post(release, {"reason": "by mistake", "by": "ann"}).ok()
    digest(service, customer, "2026-12-03").no(409, "on_hold")
    service.fact("address.unhold", wish)
    digest(service, customer, "2026-12-03").ok(201)


@_START
def test_unsubscribed_from_everything_withholds_what_is_due(service: Service, name: str) -> None:
    box = f"pat@{name}.example"
    until = "2026-12-05T00:00:00Z"
    hold = {"address": box, "reason": "unsubscribed", "kinds": None, "until": until}
    service.fact("address.hold", hold)
    customer = owing(service, name, box)
    denied = service.remind(name).no(409, "on_hold")
    assert denied["available_at"] == until
    assert withheld(service, customer) == {"code": "on_hold", "available_at": until}
    service.fact("address.unhold", {"address": box, "reason": "unsubscribed"})
    assert withheld(service, customer) is None
    service.remind(name).ok(201)


@_START
@pytest.mark.parametrize("reason", ["bounced", "complained", "blocked", "a legal matter"])
def test_hold_a_thread_or_an_address_before_a_first_mail(
    service: Service, name: str, reason: str
) -> None:
    box = f"pat@{name}.example"
    service.fact("address.hold", {"address": box, "reason": reason})
    notify(service, "1", to=box).no(409, "address_on_hold")
    customer = owing(service, name, box)
    service.remind(name).no(409, "address_on_hold")
    assert held(service, customer) == [(box, reason, [])]
    decision = service.get("/v1/decisions", customer_id=customer, code="address_on_hold").ok()
    explained = service.get(f"/v1/decisions/{decision['items'][0]['decision_id']}").ok()
    assert explained["explanation"]["reproduced"] is True
    state = explained["explanation"]["state"]["customer"]
    assert [hold["reason"] for hold in state["address_holds"]] == [reason]
    assert box not in explained.text
    service.fact("address.unhold", {"address": box, "reason": "something else"})
    service.remind(name).no(409, "address_on_hold")
    service.fact("address.unhold", {"address": box, "reason": reason})
    service.remind(name).ok(201)


@_START
def test_hold_a_thread_or_an_address_by_a_mail_past_the_ledger(service: Service, name: str) -> None:
    box = f"pat@{name}.example"
    hear(service, "bounced", f"nobodys-{name}", box)
    notify(service, "1", to=box).no(409, "address_on_hold")
    assert len(service.alerts("address_on_hold")) >= 1


@_START
@pytest.mark.parametrize("redeem_first", [False, True])
def test_address_corrected_after_the_grant(service: Service, name: str, redeem_first: bool) -> None:
    wrong, right = f"wrong@{name}.example", f"right@{name}.example"
    owing(service, name, wrong)
    permit = service.remind(name).ok(201)
    assert permit["to"] == wrong
    if redeem_first:
        service.redeem(permit["permit_id"]).ok()
        return
    service.put_invoice(name, email=right, due_on="2026-11-27").ok()
    service.redeem(permit["permit_id"]).no(409, "revoked")
    again = service.remind(name).ok(201)
    assert again["to"] == right
    service.redeem(again["permit_id"]).ok()


@_START
@pytest.mark.parametrize("how", ["null", "observed without it", "another preferred", "held"])
def test_address_that_is_gone_after_the_grant(service: Service, name: str, how: str) -> None:
    box, other = f"pat@{name}.example", f"kim@{name}.example"
    customer = owing(service, name, box)
    permit = service.remind(name).ok(201)
    if how == "null":
        service.put_invoice(name, email=None, due_on="2026-11-27").ok()
    elif how == "held":
        service.fact("address.hold", {"address": box, "reason": "blocked"})
    else:
        emails = [other] if how == "observed without it" else [other, box]
        service.fact("customer.observed", {"customer_id": customer, "emails": emails})
    redeemed = service.redeem(permit["permit_id"])
    if how == "another preferred":
        redeemed.ok()
        return
    redeemed.no(409, "revoked")
    if how != "held":
        expected = None if how == "null" else other
        assert service.remind(name).ok(201)["to"] == expected


@_START
def test_two_invoices_with_addresses_of_their_own_do_not_revoke_each_other(
    service: Service, name: str
) -> None:
    """One customer, two bookkeepers: each mail goes where its own invoice says."""
    boxes = {f"{part}-{name}": f"{part}@{name}.example" for part in ("a", "b")}
    permits = []
    for invoice, box in boxes.items():
        fields = {"customer_id": f"cus-{name}", "email": box, "due_on": "2026-11-27"}
        service.put_invoice(invoice, **fields).ok()
        permit = service.remind(invoice).ok(201)
        assert permit["to"] == box
        permits.append(permit)
    for permit in permits:
        service.redeem(permit["permit_id"]).ok()


@_START
def test_currency_corrected_after_the_grant(service: Service, name: str) -> None:
    sender = service.client("send")
    owing(service, name, None)
    reminder = sender.remind(name).ok(201)
    notice = sender.ask("payment_failed", invoice_id=name, event_id="evt_1").ok(201)
    service.put_invoice(name, currency="EUR", due_on="2026-11-27").ok()
    for permit in (reminder, notice):
        sender.redeem(permit["permit_id"]).no(409, "revoked")
    assert sender.remind(name).ok(201)["items"][0]["currency"] == "EUR"


@_START
def test_owner_corrected_after_the_grant(service: Service, name: str) -> None:
    sender = service.client("send")
    owing(service, name, None)
    reminder = sender.remind(name).ok(201)
    notice = sender.ask("payment_failed", invoice_id=name, event_id="evt_1").ok(201)
    service.put_invoice(name, customer_id=f"other-{name}", due_on="2026-11-27").ok()
    for permit in (reminder, notice):
        sender.redeem(permit["permit_id"]).no(409, "revoked")
