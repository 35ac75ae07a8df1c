"""Idempotency-Key exactly as the contract says: it names the retry, the send key names the send."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Answer, Client, Service


def _message(name: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "message", "thread_id": name, "intent": "hello", "customer_id": name} | fields


@pytest.fixture
def sender(service: Service) -> Client:
    """A key that must redeem, as `keys create` makes them."""
    return service.client("send", "audit", "facts", "operate", redeem="required")


def _is_replay(answer: Answer) -> bool:
    return bool(answer.headers.get("idempotent-replayed") == "true")


def test_a_redeem_required_key_hears_its_grant_again(sender: Client, name: str) -> None:
    granted = sender.post("/v1/permits", _message(name), key=name).ok(201)
    replay = sender.post("/v1/permits", _message(name), key=name).ok(200)
    assert _is_replay(replay)
    assert replay.body == granted.body
    assert not _is_replay(granted)


@pytest.mark.parametrize("first", ['"{}"', "{}"])
@pytest.mark.parametrize("second", ['"{}"', "{}"])
def test_quoted_and_bare_are_the_same_key(
    first: str, second: str, sender: Client, name: str
) -> None:
    granted = sender.post("/v1/permits", _message(name), key=first.format(name)).ok(201)
    replay = sender.post("/v1/permits", _message(name), key=second.format(name)).ok(200)
    assert replay["permit_id"] == granted["permit_id"]


def test_a_redeem_optional_key_never_hears_a_grant_again(service: Service, name: str) -> None:
    granted = service.post("/v1/permits", _message(name), key=name).ok(201)
    again = service.post("/v1/permits", _message(name), key=name).no(409, "permit_held")
    assert again["permit_id"] == granted["permit_id"]
    assert not _is_replay(again)


def test_after_the_redeem_the_grant_is_not_replayed(sender: Client, name: str) -> None:
    permit = sender.post("/v1/permits", _message(name), key=name).ok(201)["permit_id"]
    sender.redeem(permit).ok()
    sender.post("/v1/permits", _message(name), key=name).no(409, "permit_held")
    sender.report(permit, "sent").ok()
    sender.post("/v1/permits", _message(name), key=name).no(409, "duplicate_intent")


def test_redeemed_at_once_is_not_replayed(sender: Client, name: str) -> None:
    body = _message(name, redeem=True)
    assert sender.post("/v1/permits", body, key=name).ok(201)["state"] == "redeemed"
    sender.post("/v1/permits", body, key=name).no(409, "permit_held")


FREED: dict[str, Callable[[Service, Client, str], Any]] = {
    "rejected": lambda service, sender, permit: sender.report(permit, "rejected").ok(),
    "expired": lambda service, sender, permit: service.advance(minutes=10),
}


@pytest.mark.parametrize("how", FREED)
def test_a_freed_permit_releases_its_key(
    how: str, service: Service, sender: Client, name: str
) -> None:
    first = sender.post("/v1/permits", _message(name), key=name).ok(201)
    FREED[how](service, sender, first["permit_id"])
    second = sender.post("/v1/permits", _message(name), key=name).ok(201)
    assert second["permit_id"] != first["permit_id"]
    assert sender.post("/v1/permits", _message(name), key=name).ok(200).body == second.body
    freed_too = sender.post("/v1/permits", _message(name, intent="bye"), key=name)
    freed_too.no(422, "key_conflict")


def test_a_released_key_may_name_another_request(sender: Client, name: str) -> None:
    first = sender.post("/v1/permits", _message(name), key=name).ok(201)
    sender.report(first["permit_id"], "rejected").ok()
    sender.post("/v1/permits", _message(name, intent="other"), key=name).ok(201)


def test_a_revoked_permit_releases_its_key(service: Service, sender: Client, name: str) -> None:
    due_on = (service.clock - timedelta(days=4)).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    body = {"kind": "reminder", "invoices": [name]}
    first = sender.post("/v1/permits", body, key=name).ok(201)
    service.advance(seconds=1)
    service.put_invoice(name, amount_remaining=29_000).ok()
    sender.redeem(first["permit_id"]).no(409, "revoked")
    second = sender.post("/v1/permits", body, key=name).ok(201)
    assert second["items"][0]["amount_remaining"] == 29_000


def test_after_a_denial_the_request_is_judged_afresh(
    service: Service, sender: Client, name: str
) -> None:
    body = {"kind": "reminder", "invoices": [name]}
    sender.post("/v1/permits", body, key=name).no(404, "unknown_invoice")
    due_on = (service.clock - timedelta(days=2)).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    not_yet = sender.post("/v1/permits", body, key=name).no(409, "not_reached")
    again = sender.post("/v1/permits", body, key=name).no(409, "not_reached")
    assert again["decision_id"] != not_yet["decision_id"]
    assert not _is_replay(again)
    service.advance(days=1)
    sender.post("/v1/permits", body, key=name).ok(201)


def test_a_denial_binds_no_key(sender: Client, name: str) -> None:
    sender.post("/v1/permits", {"kind": "reminder", "invoices": [name]}, key=name).no(
        404, "unknown_invoice"
    )
    sender.post("/v1/permits", _message(name), key=name).ok(201)


OTHER_REQUESTS: dict[str, dict[str, Any]] = {
    "another customer": {"customer_id": "somebody-else"},
    "another thread": {"thread_id": "another"},
    "another intent": {"intent": "bye"},
    "an address": {"to": "pat@example.com"},
    "redeemed at once": {"redeem": True},
    "a deliberate repeat": {"override": {"action_id": "a", "by": "ann", "reason": "asked"}},
    "another kind": {"kind": "follow_up", "step": 1},
}


@pytest.mark.parametrize("other", OTHER_REQUESTS.values(), ids=OTHER_REQUESTS)
def test_the_same_key_for_another_request_is_a_conflict_that_tells_nothing(
    other: dict[str, Any], sender: Client, name: str
) -> None:
    granted = sender.post("/v1/permits", _message(name), key=name).ok(201)
    body = _message(name) | other
    if body["kind"] == "follow_up":
        del body["intent"]
    problem = sender.post("/v1/permits", body, key=name).no(422, "key_conflict")
    assert problem["retryable"] is False
    told = json.dumps(problem.body)
    for secret in (granted["permit_id"], granted["decision_id"], name, "hello", "original"):
        assert secret not in told
    sender.report(granted["permit_id"], "sent").ok()
    sender.post("/v1/permits", body, key=name).no(422, "key_conflict")


NOT_COMPARED: dict[str, dict[str, Any]] = {
    "metadata": {"metadata": {"trace": "t2"}},
    "expected": {"expected": {"{}": {"cycle": 9, "amount_remaining": 1}}},
    "job": {"job": {"name": "no such job", "token": 7}},
    "the default": {"redeem": False},
    "null for left out": {"stage": None},
}


@pytest.mark.parametrize("part", NOT_COMPARED.values(), ids=NOT_COMPARED)
def test_what_means_nothing_for_the_mail_is_not_compared(
    part: dict[str, Any], service: Service, sender: Client, name: str
) -> None:
    part = json.loads(json.dumps(part).replace("{}", name))
    due_on = (service.clock - timedelta(days=4)).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    body = {"kind": "reminder", "invoices": [name]}
    granted = sender.post("/v1/permits", body | {"metadata": {"trace": "t1"}}, key=name).ok(201)
    replay = sender.post("/v1/permits", body | part, key=name).ok(200)
    assert replay["permit_id"] == granted["permit_id"]


def test_riding_facts_are_not_compared_and_apply(
    service: Service, sender: Client, name: str
) -> None:
    snapshot = {
        "customer_id": name,
        "currency": "USD",
        "total": 500,
        "amount_remaining": 500,
        "status": "open",
        "due_on": (service.clock - timedelta(days=4)).date().isoformat(),
    }
    body = {"kind": "reminder", "invoices": [name]}
    granted = sender.post("/v1/permits", body | {"facts": {name: snapshot}}, key=name).ok(201)
    service.advance(seconds=1)
    less = snapshot | {"total": 600}
    replay = sender.post("/v1/permits", body | {"facts": {name: less}}, key=name).ok(200)
    assert replay["permit_id"] == granted["permit_id"]
    assert service.get(f"/v1/invoices/{name}").ok()["total"] == 600


def test_a_key_is_scoped_to_its_api_key_and_path(
    service: Service, sender: Client, name: str
) -> None:
    sender.post("/v1/permits", _message(name), key=name).ok(201)
    other = service.client("send")
    other.post("/v1/permits", _message(f"{name}-2"), key=name).ok(201)
    batch = {"requests": [_message(f"{name}-3")]}
    assert sender.post("/v1/permits/batch", batch, key=name).ok()["results"][0]["status"] == 201
    sender.post("/v1/facts", {"facts": []}, key=name).ok()
    put = sender.put_invoice(name, idem=name).ok()
    assert not _is_replay(put)
    assert not _is_replay(sender.put_invoice(f"{name}-b", idem=name).ok())
    assert _is_replay(sender.put_invoice(name, idem=name).ok())


@pytest.mark.parametrize("key", ["", '""', "x" * 256, '"' + "x" * 256 + '"', "tab\there"])
def test_a_key_that_is_none_is_422(key: str, sender: Client, name: str) -> None:
    sender.post("/v1/permits", _message(name), key=key).no(422, "invalid_request")
    sender.post("/v1/facts", {"facts": []}, key=key).no(422, "invalid_request")
    sender.put_invoice(name, idem=key).no(422, "invalid_request")
    sender.post("/v1/permits/batch", {"requests": []}, key=key).no(422, "invalid_request")


@pytest.mark.parametrize("key", ["x" * 255, '"' + "x" * 255 + '"', "a b", "ü", "{}"])
def test_every_text_up_to_255_is_a_key(key: str, service: Service, name: str) -> None:
    sender = service.client("send")
    granted = sender.post("/v1/permits", _message(name), key=key).ok(201)
    assert sender.post("/v1/permits", _message(name), key=key).ok(200).body == granted.body


def test_keys_are_kept_for_30_days(service: Service, sender: Client, name: str) -> None:
    body: dict[str, Any] = {"facts": []}
    first = sender.post("/v1/facts", body, key=name).ok()
    service.advance(days=29, hours=23)
    kept = sender.post("/v1/facts", body, key=name).ok()
    assert _is_replay(kept)
    assert kept.body == first.body
    service.advance(hours=1)
    assert not _is_replay(sender.post("/v1/facts", body, key=name).ok())


def test_one_send_key_under_several_keys_is_warned_of(sender: Client, name: str) -> None:
    warning = "ledger-warning"
    granted = sender.post("/v1/permits", _message(name), key=f"{name}-1").ok(201)
    assert warning not in granted.headers
    held = sender.post("/v1/permits", _message(name), key=f"{name}-2").no(409, "permit_held")
    assert held.headers[warning] == "idempotency-key-changes"
    sender.report(granted["permit_id"], "sent").ok()
    sent = sender.post("/v1/permits", _message(name), key=f"{name}-3").no(409, "duplicate_intent")
    assert sent.headers[warning] == "idempotency-key-changes"
    same = sender.post("/v1/permits", _message(name), key=f"{name}-1").no(409, "duplicate_intent")
    assert warning not in same.headers
    assert warning not in sender.post("/v1/permits", _message(name)).headers


def test_facts_under_a_key_are_compared(sender: Client, name: str) -> None:
    def facts(number: int) -> dict[str, Any]:
        data = {"customer_id": f"{name}-{number}", "emails": []}
        event = {"id": f"{name}-{number}", "source": "t", "type": "customer.observed"}
        return {"facts": [event | {"data": data}]}

    first = sender.post("/v1/facts", facts(1), key=name).ok()
    replay = sender.post("/v1/facts", facts(1), key=name).ok()
    assert _is_replay(replay)
    assert replay.body == first.body
    sender.post("/v1/facts", facts(2), key=name).no(422, "key_conflict")
    sender.get(f"/v1/customers/{name}-2").no(404, "unknown_customer")


def test_a_snapshot_under_a_key_tells_null_from_left_out(sender: Client, name: str) -> None:
    first = sender.put_invoice(name, idem=name, due_on="2026-11-01").ok()
    replay = sender.put_invoice(name, idem=name, due_on="2026-11-01").ok()
    assert _is_replay(replay)
    assert replay.body == first.body
    sender.put_invoice(name, idem=name).no(422, "key_conflict")
    sender.put_invoice(f"{name}-2", idem=name).ok()
    sender.put_invoice(f"{name}-2", idem=name, due_on=None).no(422, "key_conflict")


def _writes(name: str, permit: str) -> list[tuple[str, dict[str, Any], int]]:
    """Every other write, with a body of its own success."""
    why = {"reason": "a test"}
    return [
        ("/v1/customers/{name}/breaker/reset", why, 200),
        ("/v1/breakers/reset", why | {"customer_ids": [name]}, 200),
        ("/v1/customers/{name}/addresses/release", why, 200),
        ("/v1/control/pause", why | {"scope": f"sender:{name}"}, 200),
        ("/v1/jobs/{name}/lease", {"holder": name, "ttl_seconds": 60}, 200),
        (f"/v1/permits/{permit}/outcome", {"outcome": "sent"}, 200),
        ("/v1/keys", {"name": name, "scopes": ["send"]}, 201),
    ]


@pytest.mark.parametrize("number", range(7))
def test_every_write_answers_a_retry_with_its_first_answer(
    number: int, service: Service, name: str
) -> None:
    permit = service.post("/v1/permits", _message(name)).ok(201)["permit_id"]
    template, body, status = _writes(name, permit)[number]
    path = template.replace("{name}", name)
    first = service.post(path, body, key=name).ok(status)
    replay = service.post(path, body, key=name).ok(status)
    assert _is_replay(replay)
    assert replay.body == (first.body | {"key": None} if path == "/v1/keys" else first.body)
    other = body | ({"outcome": "unknown"} if "outcome" in body else {"reason": "another"})
    if path.endswith("/lease"):
        other = body | {"ttl_seconds": 61}
    if path == "/v1/keys":
        other = body | {"scopes": ["facts"]}
    service.post(path, other, key=name).no(422, "key_conflict")
    service.post(path, body, key="x" * 256).no(422, "invalid_request")


def test_a_keys_secret_is_shown_once_also_under_a_key(service: Service, name: str) -> None:
    body = {"name": name, "scopes": ["send"]}
    first = service.post("/v1/keys", body, key=name).ok(201)
    assert service.post("/v1/keys", body, key=name).ok(201)["key_id"] == first["key_id"]
    named = [k for k in service.get("/v1/keys", limit=1000).ok()["items"] if k["name"] == name]
    assert len(named) == 1


def test_idempotency_keys_count_for_nothing_at_a_redeem(sender: Client, name: str) -> None:
    permit = sender.post("/v1/permits", _message(name)).ok(201)["permit_id"]
    path = f"/v1/permits/{permit}/redeem"
    sender.post(path, {}, key=name).ok()
    sender.post(path, {}, key=name).no(409, "already_redeemed")
    sender.post(path, {}, key="x" * 999).no(409, "already_redeemed")


def test_a_batch_gives_each_item_its_own_key(sender: Client, name: str) -> None:
    requests = [_message(f"{name}-{n}") for n in range(3)]
    first = sender.post("/v1/permits/batch", {"requests": requests}, key=name).ok()["results"]
    again = sender.post("/v1/permits/batch", {"requests": requests}, key=name).ok()["results"]
    assert [r["status"] for r in first] == [201] * 3
    assert [r["status"] for r in again] == [200] * 3
    assert [r["permit"] for r in again] == [r["permit"] for r in first]
    swapped = [requests[1], requests[0], requests[2]]
    mixed = sender.post("/v1/permits/batch", {"requests": swapped}, key=name).ok()["results"]
    assert [r["status"] for r in mixed] == [422, 422, 200]
    assert mixed[0]["problem"]["code"] == "key_conflict"


def test_twins_at_once_get_one_permit_and_both_hear_of_it(sender: Client, name: str) -> None:
    answers: list[Answer] = []

    def ask() -> None:
        answers.append(sender.post("/v1/permits", _message(name), key=name))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(a.status for a in answers) == [200] * 7 + [201]
    assert len({a["permit_id"] for a in answers}) == 1


def test_twin_writes_at_once_are_done_once(service: Service, name: str) -> None:
    answers: list[Answer] = []

    def make() -> None:
        body = {"name": name, "scopes": ["send"]}
        answers.append(service.post("/v1/keys", body, key=name))

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [a.status for a in answers] == [201] * 6
    assert len({a["key_id"] for a in answers}) == 1
    assert sum(a["key"] is not None for a in answers) == 1
