"""Redeems and outcomes of many permits in one call: each is judged by itself."""

from typing import Any

import pytest

from tests.support.service import Client, Service


@pytest.fixture
def sender(service: Service) -> Client:
    """A key that must redeem."""
    return service.client("send", redeem="required")


def _granted(client: Client, *names: str) -> list[str]:
    requests = [
        {"kind": "message", "thread_id": name, "intent": "x", "customer_id": name} for name in names
    ]
    results = client.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    return [result["permit"]["permit_id"] for result in results]


def _heard(results: list[dict[str, Any]]) -> list[str]:
    """The state of each permit, or the code of the problem."""
    return [r["permit"]["state"] if "permit" in r else r["problem"]["code"] for r in results]


def _redeem(client: Client, *redeems: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = client.post(
        "/v1/permits/redeem", {"redeems": list(redeems)}
    ).ok()["results"]
    return results


def _report(client: Client, *outcomes: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = client.post(
        "/v1/permits/outcomes", {"outcomes": list(outcomes)}
    ).ok()["results"]
    return results


def test_each_redeem_of_a_batch_is_judged_by_itself(
    sender: Client, service: Service, name: str
) -> None:
    one, two = _granted(sender, f"{name}-1", f"{name}-2")
    foreign = _granted(service.client("send", redeem="required"), f"{name}-3")[0]
    heard = _redeem(
        sender,
        {"permit_id": one, "attempt": "a"},
        {"permit_id": one, "attempt": "a"},
        {"permit_id": one, "attempt": "b"},
        {"permit_id": foreign, "attempt": "a"},
        {"permit_id": "nobody"},
        {"attempt": "a"},
        7,
        {"permit_id": two},
    )
    assert _heard(heard) == [
        "redeemed",
        "redeemed",
        "already_redeemed",
        "forbidden",
        "unknown_permit",
        "invalid_request",
        "invalid_request",
        "redeemed",
    ]
    assert [r["status"] for r in heard] == [200, 200, 409, 403, 404, 422, 422, 200]
    assert service.get(f"/v1/permits/{foreign}").ok()["state"] == "granted"


def test_each_outcome_of_a_batch_is_taken_by_itself(sender: Client, name: str) -> None:
    one, two, three = _granted(sender, f"{name}-1", f"{name}-2", f"{name}-3")
    _redeem(sender, *({"permit_id": permit} for permit in (one, two, three)))
    correction = {"by": "ann", "reason": "the provider has no such mail"}
    outcomes = [
        {"permit_id": one, "outcome": "sent", "provider": "resend", "provider_message_id": name},
        {"permit_id": two, "outcome": "rejected", "detail": "550"},
        {"permit_id": one, "outcome": "rejected"},
        {"permit_id": one, "outcome": "rejected", "correction": correction},
        {"permit_id": three, "outcome": "perhaps"},
        {"permit_id": three, "outcome": "unknown"},
    ]
    heard = _report(sender, *outcomes)
    assert _heard(heard) == [
        "sent",
        "rejected",
        "already_settled",
        "forbidden",
        "invalid_request",
        "unknown",
    ]
    assert _heard(_report(sender, *outcomes[:2])) == ["sent", "rejected"]
    read = sender.get(f"/v1/permits/{one}").ok()
    assert (read["state"], read["provider_message_id"]) == ("sent", name)


def test_a_batch_of_reports_may_hold_nothing_and_up_to_1000(sender: Client, name: str) -> None:
    assert _redeem(sender) == _report(sender) == []
    permits = _granted(sender, *(f"{name}-{n}" for n in range(1_000)))
    redeems = [{"permit_id": permit, "attempt": permit} for permit in permits]
    assert {r["status"] for r in _redeem(sender, *redeems)} == {200}
    outcomes = [{"permit_id": permit, "outcome": "sent"} for permit in permits]
    assert {r["permit"]["state"] for r in _report(sender, *outcomes)} == {"sent"}
    for path, body in (
        ("/v1/permits/redeem", {"redeems": [*redeems, redeems[0]]}),
        ("/v1/permits/outcomes", {"outcomes": [*outcomes, outcomes[0]]}),
    ):
        sender.post(path, body).no(422, "invalid_request")


def test_who_may_not_ask_may_not_report_many(service: Service) -> None:
    teller = service.client("facts")
    teller.post("/v1/permits/redeem", {"redeems": []}).no(403, "forbidden")
    teller.post("/v1/permits/outcomes", {"outcomes": []}).no(403, "forbidden")


def test_one_outcome_is_answered_alike_with_and_without_a_key(sender: Client, name: str) -> None:
    one, two = _granted(sender, f"{name}-1", f"{name}-2")
    _redeem(sender, {"permit_id": one}, {"permit_id": two})
    path = "/v1/permits/{}/outcome"
    plain = sender.post(path.format(one), {"outcome": "sent"}).ok()
    keyed = sender.post(path.format(two), {"outcome": "sent"}, key=name).ok()
    assert set(plain.body) == set(keyed.body)
    assert plain["state"] == keyed["state"] == "sent"
    assert (plain["permit_id"], keyed["permit_id"]) == (one, two)
    for body in ({}, {"outcome": "perhaps"}, {"outcome": "sent", "unknown_field": 1}):
        sender.post(path.format(one), body).no(422, "invalid_request")
        sender.post(path.format(one), body, key=f"{name}-2").no(422, "invalid_request")
    sender.post(path.format("nobody"), {"outcome": "sent"}).no(404, "unknown_permit")
