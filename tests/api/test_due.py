"""What is newly due, grouped by customer, and permits for it in one call."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Answer, Client, Service

_DAY = timedelta(days=1)


def _ago(service: Service, days: int) -> str:
    return (service.clock - days * _DAY).date().isoformat()


def _listed(service: Client, prefix: str, **params: Any) -> dict[str, Any]:
    """The due customers whose ids begin with the prefix, by id, over all pages."""
    found: dict[str, Any] = {}
    cursor = None
    while True:
        page = service.get(
            "/v1/due",
            cursor=cursor,
            limit=params.get("limit", 1000),
            **{name: value for name, value in params.items() if name != "limit"},
        ).ok()
        for item in page["items"]:
            assert item["customer_id"] not in found, "a customer is on two pages"
            if item["customer_id"].startswith(prefix):
                found[item["customer_id"]] = item
        cursor = page["next"]
        if cursor is None:
            return found


def _claimed(claimer: Client, name: str) -> list[dict[str, Any]]:
    """The permits that a claim gives for customers with that name in their id."""
    permits = claimer.post("/v1/due/claim", {"limit": 1000}).ok()["permits"]
    return [permit for permit in permits if name in permit["customer_id"]]


def test_due_is_grouped_by_customer(service: Service, name: str) -> None:
    email = f"{name}@example.com"
    for part, days in (("a", 4), ("b", 8), ("c", 2)):
        service.put_invoice(
            f"{name}-{part}", customer_id=name, email=email, due_on=_ago(service, days)
        ).ok()
    item = _listed(service, name)[name]
    assert set(item) == {"customer_id", "email", "withheld", "invoices"}
    assert (item["customer_id"], item["email"], item["withheld"]) == (name, email, None)
    shared = {"cycle": 1, "amount_remaining": 30_000, "currency": "USD"}
    assert sorted(item["invoices"], key=lambda i: i["invoice_id"]) == [
        {"invoice_id": f"{name}-a", "stage": "day-3", "days_past_due": 4} | shared,
        {"invoice_id": f"{name}-b", "stage": "day-7", "days_past_due": 8} | shared,
    ]


def test_a_stage_lists_only_its_invoices(service: Service, name: str) -> None:
    for part, days in (("a", 4), ("b", 8)):
        service.put_invoice(f"{name}-{part}", customer_id=name, due_on=_ago(service, days)).ok()
    for stage, part in (("day-3", "a"), ("day-7", "b")):
        invoices = _listed(service, name, stage=stage)[name]["invoices"]
        assert [(i["invoice_id"], i["stage"]) for i in invoices] == [(f"{name}-{part}", stage)]
    assert name not in _listed(service, name, stage="day-14")
    service.get("/v1/due", stage="day-5").no(422, "invalid_request")


def test_what_was_asked_for_is_due_no_more(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=_ago(service, 4)).ok()
    permit = service.remind(name).ok(201)["permit_id"]
    assert _listed(service, f"cus-{name}") == {}
    service.report(permit, "rejected").ok()
    assert f"cus-{name}" in _listed(service, f"cus-{name}")
    service.report(service.remind(name).ok(201)["permit_id"], "sent").ok()
    assert _listed(service, f"cus-{name}") == {}
    service.advance(days=3)
    assert _listed(service, f"cus-{name}")[f"cus-{name}"]["invoices"][0]["stage"] == "day-7"


def test_an_expired_permit_leaves_its_stage_due_at_once(service: Service, name: str) -> None:
    sender = service.client("send", redeem="required")
    service.put_invoice(name, due_on=_ago(service, 4)).ok()
    sender.remind(name).ok(201)
    assert _listed(service, f"cus-{name}") == {}
    service.advance(minutes=10)
    assert f"cus-{name}" in _listed(service, f"cus-{name}")


def test_customers_who_cannot_be_mailed_now_say_why(service: Service, name: str) -> None:
    def owes(customer: str) -> None:
        service.put_invoice(f"inv-{customer}", customer_id=customer, due_on=_ago(service, 4)).ok()

    def mail(customer: str, number: int) -> Answer:
        asked = {"customer_id": customer, "event_type": "t", "event_id": str(number)}
        return service.ask("notification", **asked)

    free, full, broken, held = (f"{name}-{x}" for x in ("free", "full", "broken", "held"))
    for customer in (free, full, broken, held):
        owes(customer)
    for number in range(2):
        mail(full, number).ok(201)
        mail(broken, number).ok(201)
    frees_at = service.clock + _DAY
    mail(broken, 2).no(429, "cap_reached")
    until = (service.clock + 2 * _DAY).isoformat().replace("+00:00", "Z")
    service.fact("customer.hold", {"customer_id": held, "reason": "promise", "until": until})
    listed = _listed(service, name)
    assert {c: i["withheld"] and i["withheld"]["code"] for c, i in listed.items()} == {
        free: None,
        full: "cap_reached",
        broken: "breaker_open",
        held: "on_hold",
    }
    full_until = listed[full]["withheld"]["available_at"]
    assert full_until == frees_at.isoformat().replace("+00:00", "Z")
    assert listed[held]["withheld"]["available_at"] == until
    assert set(_listed(service, name, ready="true")) == {free}
    assert len(service.alerts("breaker_opened", full)) == 0


def test_due_comes_in_pages_without_gaps(service: Service, name: str) -> None:
    customers = {f"{name}-{number:02}" for number in range(7)}
    for customer in customers:
        service.put_invoice(f"inv-{customer}", customer_id=customer, due_on=_ago(service, 5)).ok()
    assert set(_listed(service, name, limit=3)) == customers
    assert set(_listed(service, name, limit=1)) == customers


def test_due_has_seen_what_was_written_before(service: Service, name: str) -> None:
    for number in range(20):
        told = service.put_invoice(f"{name}-{number}", due_on=_ago(service, 4)).ok()
        page = service.get("/v1/due", after=told["position"], limit=1000).ok()
        assert int(page["as_of"]) >= int(told["position"])
        assert f"cus-{name}-{number}" in {i["customer_id"] for i in page["items"]}


def test_a_claim_takes_one_permit_per_ready_customer(
    service: Service, claimer: Client, name: str
) -> None:
    for customer, count in (("a", 3), ("b", 1)):
        for number in range(count):
            service.put_invoice(
                f"{name}-{customer}{number}",
                customer_id=f"{name}-{customer}",
                email=f"{name}-{customer}@example.com",
                due_on=_ago(service, 4),
            ).ok()
    answer = claimer.post("/v1/due/claim", {"limit": 100, "stage": None}).ok()
    assert set(answer.body) >= {"permits", "withheld"}
    permits = {p["customer_id"]: p for p in answer["permits"]}
    assert set(permits) == {f"{name}-a", f"{name}-b"}
    assert len(permits[f"{name}-a"]["items"]) == 3
    assert permits[f"{name}-b"]["to"] == f"{name}-b@example.com"
    assert {p["state"] for p in permits.values()} == {"granted"}
    assert claimer.post("/v1/due/claim", {"limit": 100}).ok()["permits"] == []
    assert claimer.post("/v1/due/claim").ok()["permits"] == []


def test_a_claim_of_many_keeps_to_its_limit_and_to_the_order(
    service: Service, claimer: Client, name: str
) -> None:
    """They are read and decided a slice of 250 at a time."""
    names = [f"{name}-{number:03}" for number in range(260)]
    open_ = {"currency": "USD", "total": 9_000, "amount_remaining": 9_000, "status": "open"}
    facts = [
        {
            "id": each,
            "source": "tests",
            "type": "invoice.observed",
            "data": {"invoice_id": each, "customer_id": each, "due_on": _ago(service, 4)} | open_,
        }
        for each in names
    ]
    service.post("/v1/facts", {"facts": facts}).ok()
    first = claimer.post("/v1/due/claim", {"limit": 251}).ok()["permits"]
    assert [permit["customer_id"] for permit in first] == names[:251]
    rest = claimer.post("/v1/due/claim", {"limit": 251}).ok()["permits"]
    assert [permit["customer_id"] for permit in rest] == names[251:]


def test_an_unredeemed_claim_expires_and_is_due_again_where_its_key_must_redeem(
    service: Service, claimer: Client, name: str
) -> None:
    service.put_invoice(name, due_on=_ago(service, 4)).ok()
    must = service.client("send")
    (permit,) = _claimed(must, name)
    service.advance(minutes=10)
    assert service.get(f"/v1/permits/{permit['permit_id']}").ok()["state"] == "expired"
    (again,) = _claimed(must, name)
    must.redeem(again["permit_id"]).ok()
    must.report(again["permit_id"], "sent").ok()


def test_an_unredeemed_claim_of_another_key_is_unknown_and_not_due_again(
    service: Service, claimer: Client, name: str
) -> None:
    service.put_invoice(name, due_on=_ago(service, 4)).ok()
    claim = claimer.post("/v1/due/claim", {"limit": 1000}).ok()
    assert claim.headers["ledger-warning"] == "redeem-before-mail"
    (permit,) = (p for p in claim["permits"] if p["customer_id"] == f"cus-{name}")
    service.advance(minutes=10)
    assert service.get(f"/v1/permits/{permit['permit_id']}").ok()["state"] == "unknown"
    assert _claimed(claimer, name) == []
    claimer.remind(name).no(409, "outcome_unknown")
    claimer.report(permit["permit_id"], "rejected").ok()
    assert len(_claimed(claimer, name)) == 1


def test_a_claim_never_opens_a_breaker(service: Service, claimer: Client, name: str) -> None:
    for number in range(2):
        asked = {"customer_id": f"cus-{name}", "event_type": "t", "event_id": str(number)}
        service.ask("notification", **asked).ok(201)
    service.put_invoice(name, due_on=_ago(service, 4)).ok()
    assert _claimed(claimer, name) == []
    assert service.breaker(f"cus-{name}") == "closed"
    service.advance(days=1, minutes=10)
    (permit,) = _claimed(claimer, name)
    assert permit["customer_id"] == f"cus-{name}"


def test_a_claim_of_a_stage(service: Service, claimer: Client, name: str) -> None:
    for part, days in (("a", 4), ("b", 8)):
        service.put_invoice(f"{name}-{part}", due_on=_ago(service, days)).ok()
    claim = {"stage": "day-7"}
    (permit,) = claimer.post("/v1/due/claim", claim).ok()["permits"]
    assert [i["invoice_id"] for i in permit["items"]] == [f"{name}-b"]
    claimer.post("/v1/due/claim", {"stage": "day-5"}).no(422, "invalid_request")
    for limit in (0, 1001, "1", None):
        claimer.post("/v1/due/claim", {"limit": limit}).no(422, "invalid_request")


def test_a_replayed_claim_answers_with_what_is_still_live_and_unredeemed(
    service: Service, claimer: Client, name: str
) -> None:
    for number in range(4):
        service.put_invoice(f"{name}-{number}", due_on=_ago(service, 4)).ok()
    first = claimer.post("/v1/due/claim", {}, key=name).ok()
    permits = {p["customer_id"]: p for p in first["permits"]}
    assert len(permits) == 4
    replay = claimer.post("/v1/due/claim", {}, key=name).ok()
    assert replay.headers["idempotent-replayed"] == "true"
    assert {p["customer_id"]: p for p in replay["permits"]} == permits
    redeemed, rejected = (permits[f"cus-{name}-{number}"]["permit_id"] for number in (0, 1))
    claimer.redeem(redeemed).ok()
    claimer.report(rejected, "rejected").ok()
    left = claimer.post("/v1/due/claim", {}, key=name).ok()["permits"]
    assert {p["customer_id"] for p in left} == {f"cus-{name}-2", f"cus-{name}-3"}
    claimer.post("/v1/due/claim", {"limit": 7}, key=name).no(422, "key_conflict")
    service.advance(minutes=10)
    assert claimer.post("/v1/due/claim", {}, key=name).ok()["permits"] == []


@pytest.mark.parametrize("same_key", [True, False])
def test_claims_at_once_share_what_is_due(
    same_key: bool, service: Service, claimer: Client, name: str
) -> None:
    customers = {f"cus-{name}-{number}" for number in range(12)}
    for number in range(12):
        service.put_invoice(f"{name}-{number}", due_on=_ago(service, 4)).ok()
    answers: list[Answer] = []

    def claim(number: int) -> None:
        key = name if same_key else f"{name}-{number}"
        answers.append(claimer.post("/v1/due/claim", {"limit": 12}, key=key))

    threads = [threading.Thread(target=claim, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [p["permit_id"] for a in answers for p in a.ok()["permits"]]
    claimed = {p["customer_id"] for a in answers for p in a["permits"]}
    assert claimed == customers
    assert len(set(ids)) == 12
    assert len(ids) == (72 if same_key else 12)
    assert {service.breaker(customer) for customer in customers} == {"closed"}
