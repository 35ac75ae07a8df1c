"""A permit after its grant: redeem, outcome, lapse and revocation, by its own key and by others."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Client, Service

_DAY = timedelta(days=1)


@pytest.fixture
def sender(service: Service) -> Client:
    """A key that must redeem."""
    return service.client("send", redeem="required")


@pytest.fixture
def lax(service: Service) -> Client:
    """A key for which redeeming is optional."""
    return service.client("send", redeem="optional")


def _granted(client: Client, name: str, **fields: Any) -> str:
    asked = {"thread_id": name, "intent": "x", "customer_id": name} | fields
    permit_id: str = client.ask("message", **asked).ok(201)["permit_id"]
    return permit_id


def _state(service: Service, permit_id: str) -> str:
    state: str = service.get(f"/v1/permits/{permit_id}").ok()["state"]
    return state


def test_a_permit_is_redeemed_once(sender: Client, service: Service, name: str) -> None:
    permit = sender.ask("message", thread_id=name, intent="x", to=f"{name}@example.com").ok(201)
    redeemed = sender.redeem(permit["permit_id"]).ok()
    for field in ("permit_id", "kind", "customer_id", "to", "message_id", "send_by", "items"):
        assert redeemed[field] == permit[field]
    assert redeemed["state"] == "redeemed"
    assert redeemed["redeemed_at"] == service.clock.isoformat().replace("+00:00", "Z")
    problem = sender.redeem(permit["permit_id"]).no(409, "already_redeemed")
    assert problem["permit_id"] == permit["permit_id"]
    assert problem["retryable"] is True
    sender.redeem(permit["permit_id"], "an attempt").no(409, "already_redeemed")


def test_the_same_attempt_hears_its_yes_again(sender: Client, service: Service, name: str) -> None:
    permit = _granted(sender, name)
    first = sender.redeem(permit, "attempt-1").ok()
    service.advance(minutes=1)
    again = sender.redeem(permit, "attempt-1").ok()
    assert again["redeemed_at"] == first["redeemed_at"]
    sender.redeem(permit, "attempt-2").no(409, "already_redeemed")
    sender.redeem(permit).no(409, "already_redeemed")
    sender.report(permit, "sent").ok()
    sender.redeem(permit, "attempt-1").no(409, "already_redeemed")


def test_only_the_granting_key_or_an_operator_redeems_and_reports(
    sender: Client, service: Service, name: str
) -> None:
    permit = _granted(sender, name)
    other = service.client("send")
    other.redeem(permit).no(403, "forbidden")
    other.report(permit, "sent").no(403, "forbidden")
    assert _state(service, permit) == "granted"
    operator = service.client("operate")
    operator.redeem(permit).ok()
    operator.report(permit, "unknown").ok()
    other.report(permit, "unknown").no(403, "forbidden")
    sender.report(permit, "sent").ok()


@pytest.mark.parametrize(
    "permit_id", ["6d0f3f0e-3f59-4b0f-8a1c-1f6f1d2a9c11", "none", "%20", "0" * 200, "é"]
)
def test_an_unknown_permit_is_404(permit_id: str, service: Service) -> None:
    service.get(f"/v1/permits/{permit_id}").no(404, "unknown_permit")
    service.redeem(permit_id).no(404, "unknown_permit")
    service.report(permit_id, "sent").no(404, "unknown_permit")


def test_a_redeem_optional_key_may_report_without_redeeming(
    lax: Client, service: Service, name: str
) -> None:
    permit = _granted(lax, name)
    fields = {"provider": "resend", "provider_message_id": f"re_{name}"}
    reported = lax.report(permit, "sent", **fields, message_id=f"<{name}@resend.example>").ok()
    assert (reported["state"], reported["provider_message_id"]) == ("sent", f"re_{name}")
    read = service.get(f"/v1/permits/{permit}").ok()
    assert read["message_id"] == f"<{name}@resend.example>"
    assert read["settled_at"] == service.clock.isoformat().replace("+00:00", "Z")


OUTCOMES: dict[tuple[str, str], str] = {
    ("sent", "sent"): "sent",
    ("sent", "rejected"): "already_settled",
    ("sent", "unknown"): "already_settled",
    ("rejected", "rejected"): "rejected",
    ("rejected", "unknown"): "already_settled",
    ("rejected", "sent"): "sent",
    ("unknown", "unknown"): "unknown",
    ("unknown", "sent"): "sent",
    ("unknown", "rejected"): "rejected",
}
"""What the second report leads to: a state by 200, or the code of a 409."""


@pytest.mark.parametrize(("first", "second"), OUTCOMES)
@pytest.mark.parametrize("redeemed", [True, False])
def test_outcomes_in_any_order(
    redeemed: bool, first: str, second: str, lax: Client, service: Service, name: str
) -> None:
    permit = _granted(lax, name, redeem=redeemed)
    assert lax.report(permit, first).ok()["state"] == first
    expected = OUTCOMES[first, second]
    answer = lax.report(permit, second)
    if expected in ("sent", "rejected", "unknown"):
        assert answer.ok()["state"] == expected
        assert _state(service, permit) == expected
    else:
        problem = answer.no(409, expected)
        assert problem["permit_id"] == permit
        assert _state(service, permit) == first


@pytest.mark.parametrize("outcome", ["delivered", "SENT", "", None, 1])
def test_an_outcome_is_sent_rejected_or_unknown(
    outcome: Any, lax: Client, service: Service, name: str
) -> None:
    permit = _granted(lax, name)
    lax.post(f"/v1/permits/{permit}/outcome", {"outcome": outcome}).no(422, "invalid_request")
    assert _state(service, permit) == "granted"


def test_a_rejected_permit_frees_its_place(lax: Client, service: Service, name: str) -> None:
    for number in range(5):
        permit = _granted(lax, name, intent=f"x{number}")
        lax.report(permit, "rejected").ok()
    assert service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]["used"] == 0


def test_after_three_rejections_a_send_key_is_held(
    lax: Client, service: Service, name: str
) -> None:
    keys = set()
    for _ in range(3):
        permit = lax.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)
        keys.add(permit["provider_idempotency_key"])
        lax.report(permit["permit_id"], "rejected").ok()
    assert len(keys) == 3
    lax.ask("message", thread_id=name, intent="x").no(409, "on_hold")
    assert len(service.alerts("send_key_held", name)) == 1
    human = service.client("send", "operate")
    override = {"action_id": name, "by": "ann", "reason": "the provider is mended"}
    human.ask("message", thread_id=name, intent="x", override=override).ok(201)


def test_an_unredeemed_permit_of_a_key_that_must_redeem_expires(
    sender: Client, service: Service, name: str
) -> None:
    permit = _granted(sender, name)
    service.advance(minutes=10)
    assert _state(service, permit) == "expired"
    assert sender.redeem(permit).no(409, "expired")["retryable"] is True
    assert service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]["used"] == 0
    again = _granted(sender, name)
    assert again != permit


@pytest.mark.parametrize("key", ["sender", "lax"])
def test_every_other_unsettled_permit_becomes_unknown_and_holds_its_send_key(
    key: str, sender: Client, lax: Client, service: Service, name: str
) -> None:
    client = {"sender": sender, "lax": lax}[key]
    permit = _granted(client, name, redeem=key == "sender")
    service.advance(minutes=10)
    client.ask("message", thread_id=name, intent="x").no(409, "outcome_unknown")
    assert _state(service, permit) == "unknown"
    client.redeem(permit).no(409, "already_redeemed")
    assert service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]["used"] == 1
    service.advance(hours=48)
    client.ask("message", thread_id=name, intent="x").no(409, "outcome_unknown")
    client.report(permit, "sent").ok()
    client.ask("message", thread_id=name, intent="x").no(409, "duplicate_intent")


def test_an_unknown_permit_is_paged_once_after_an_hour(
    lax: Client, service: Service, name: str
) -> None:
    permit = _granted(lax, name)
    lax.report(permit, "unknown").ok()
    service.advance(minutes=59)
    assert service.alerts("permit_unknown", name) == []
    service.advance(minutes=2)
    pages = [a for a in service.alerts("permit_unknown") if a["permit_id"] == permit]
    oldest = service.get("/v1/permits", state="unknown", limit=1).ok()["items"][0]["permit_id"]
    assert len(pages) == (1 if oldest == permit else 0)
    lax.report(permit, "sent").ok()


def test_sent_after_expired_is_taken_as_a_fact_and_alerted_on(
    sender: Client, service: Service, name: str
) -> None:
    permit = _granted(sender, name)
    service.advance(minutes=10)
    assert _state(service, permit) == "expired"
    assert sender.report(permit, "sent").ok()["state"] == "sent"
    assert len(service.alerts("sent_after_expiry", name)) == 1
    sender.report(permit, "sent").ok()
    assert len(service.alerts("sent_after_expiry", name)) == 1
    sender.ask("message", thread_id=name, intent="x").no(409, "duplicate_intent")


def test_sent_after_expired_revokes_a_later_permit_of_the_same_send(
    sender: Client, service: Service, name: str
) -> None:
    first = _granted(sender, name)
    service.advance(minutes=10)
    second = _granted(sender, name)
    sender.report(first, "sent").ok()
    sender.redeem(second).no(409, "revoked")
    assert _state(service, second) == "revoked"


CHANGES: dict[str, Any] = {
    "paid": ("invoice", {"amount_remaining": 0, "status": "paid"}),
    "paid in part": ("invoice", {"amount_remaining": 29_999}),
    "more owed": ("invoice", {"total": 40_000, "amount_remaining": 40_000}),
    "void": ("invoice", {"status": "void"}),
    "due date moved out": ("invoice", {"due_on": "2030-01-01"}),
    "due date moved": ("invoice", {"due_on": "2026-11-01"}),
    "due date cleared": ("invoice", {"due_on": None}),
    "invoice on hold": ("invoice.hold", {"reason": "dispute"}),
    "customer on hold": ("customer.hold", {"reason": "bankrupt"}),
    "payment pending": ("invoice.payment", {"payment_id": "p", "amount": 1, "state": "pending"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_after_the_grant_revokes_the_whole_permit(
    change: str, sender: Client, service: Service, name: str
) -> None:
    due_on = (service.clock - 4 * _DAY).date().isoformat()
    invoices = [f"{name}-a", f"{name}-b"]
    for invoice in invoices:
        service.put_invoice(invoice, customer_id=name, due_on=due_on).ok()
    permit = sender.ask("reminder", invoices=invoices).ok(201)["permit_id"]
    service.advance(seconds=1)
    what, fields = CHANGES[change]
    if what == "invoice":
        service.put_invoice(invoices[0], customer_id=name, **fields).ok()
    elif what == "customer.hold":
        service.fact(what, {"customer_id": name} | fields)
    else:
        service.fact(what, {"invoice_id": invoices[0]} | fields)
    problem = sender.redeem(permit).no(409, "revoked")
    assert problem["permit_id"] == permit
    assert problem["retryable"] is True
    assert _state(service, permit) == "revoked"
    assert service.stages(invoices[1])["day-3"] == "due"
    used = service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]["used"]
    assert used == 0


@pytest.mark.parametrize(
    "fields", [{"email": "other@example.com"}, {"time_zone": "UTC"}, {}], ids=str
)
def test_what_does_not_matter_for_the_mail_revokes_nothing(
    fields: dict[str, Any], sender: Client, service: Service, name: str
) -> None:
    due_on = (service.clock - 4 * _DAY).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    permit = sender.remind(name).ok(201)["permit_id"]
    service.advance(seconds=1)
    service.put_invoice(name, **fields).ok()
    sender.redeem(permit).ok()


def test_a_breaker_opened_later_does_not_revoke(
    sender: Client, service: Service, name: str
) -> None:
    permits = [_granted(sender, name, intent=f"x{number}") for number in range(2)]
    sender.ask("message", thread_id=name, intent="x2").no(429, "cap_reached")
    assert service.breaker(name) == "open"
    for permit in permits:
        sender.redeem(permit).ok()


def test_a_sender_that_lost_the_redeem_reports_rejected(
    sender: Client, service: Service, name: str
) -> None:
    permit = _granted(sender, name)
    sender.redeem(permit).ok()
    sender.redeem(permit).no(409, "already_redeemed")
    sender.report(permit, "rejected", detail="no answer to the redeem").ok()
    sender.redeem(_granted(sender, name)).ok()


def test_the_window_counts_from_the_latest_of_granted_redeemed_and_sent(
    sender: Client, service: Service, name: str
) -> None:
    permit = _granted(sender, name)
    service.advance(minutes=4)
    sender.redeem(permit).ok()
    service.advance(minutes=4)
    sender.report(permit, "sent").ok()
    frees_at = service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]["frees_at"]
    assert frees_at == (service.clock + _DAY).isoformat().replace("+00:00", "Z")


def test_permits_are_listed_by_state_page_by_page(lax: Client, service: Service, name: str) -> None:
    made = []
    for number in range(5):
        made.append(_granted(lax, f"{name}-{number}"))
        service.advance(seconds=1)
    for permit in made:
        lax.report(permit, "unknown").ok()
    seen: list[str] = []
    cursor = None
    while True:
        page = lax.get("/v1/permits", state="unknown", limit=2, cursor=cursor).ok()
        assert set(page.body) == {"items", "next"}
        assert len(page["items"]) <= 2
        assert {item["state"] for item in page["items"]} <= {"unknown"}
        seen += [item["permit_id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert [permit for permit in seen if permit in made] == made
    for permit in made:
        lax.report(permit, "sent").ok()
    for permit in made:
        assert _state(service, permit) == "sent"
    lax.get("/v1/permits", state="lost").no(422, "invalid_request")


def test_a_state_lists_what_has_lapsed_by_now(
    sender: Client, lax: Client, service: Service, name: str
) -> None:
    expires, lapses = _granted(sender, f"{name}-1"), _granted(lax, f"{name}-2")
    service.advance(minutes=10)

    def ids(state: str) -> set[str]:
        found: set[str] = set()
        cursor = None
        while True:
            page = service.get("/v1/permits", state=state, limit=1000, cursor=cursor).ok()
            assert {item["state"] for item in page["items"]} <= {state}
            found |= {item["permit_id"] for item in page["items"]}
            cursor = page["next"]
            if cursor is None:
                return found & {expires, lapses}

    assert ids("granted") == set()
    assert ids("unknown") == {lapses}
    assert ids("expired") == {expires}
    lax.report(lapses, "sent").ok()


def test_an_id_of_another_mail_is_not_taken_from_a_report(service: Service, name: str) -> None:
    known = f"<in-{name}@gmail.example>"
    message = {"thread_id": f"{name}-v", "message_id": known, "direction": "inbound"}
    people = {"from": f"v-{name}@example.com", "to": "us@example.org", "customer_id": f"{name}-v"}
    service.fact("thread.message", message | people)
    asked = {"customer_id": name, "event_type": "shipped", "event_id": "1"}
    permit = service.ask("notification", **asked).ok(201)["permit_id"]
    answer = service.report(permit, "sent", message_id=known, provider_message_id=name)
    assert answer.ok()["state"] == "sent"
    assert answer.headers["ledger-warning"] == "reported-id-not-kept"
    assert answer["provider_message_id"] == name
    again = service.report(permit, "sent", provider_message_id=f"{name}-2")
    assert again.ok()["provider_message_id"] == name
    assert again.headers["ledger-warning"] == "reported-id-not-kept"
    assert "ledger-warning" not in service.report(permit, "sent").headers
    service.ask("reply", thread_id=f"{name}-v", in_reply_to=known).ok(201)
