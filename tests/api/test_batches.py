"""Permits in a batch: decided in order, each by itself."""

from typing import Any

from tests.support.service import Service


def _message(thread: str, intent: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "message", "thread_id": thread, "intent": intent} | fields


def test_a_batch_is_decided_in_order(service: Service, name: str) -> None:
    requests = [
        _message(name, "a"),
        _message(name, "a", customer_id=name),
        _message(name, "b"),
        _message(name, "a"),
        _message(name, "c"),
        _message(name, "d"),
    ]
    results = service.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    codes = [r["status"] if "permit" in r else r["problem"]["code"] for r in results]
    assert codes == ["unknown_thread", 201, 201, "permit_held", "cap_reached", "breaker_open"]
    assert [r["status"] for r in results] == [404, 201, 201, 409, 429, 409]
    for result in results:
        assert set(result) == {"status", "permit" if result["status"] == 201 else "problem"}
        if "problem" in result:
            assert result["problem"]["status"] == result["status"]
            assert result["problem"]["type"] == f"/problems/{result['problem']['code']}"
        else:
            read = service.get(f"/v1/permits/{result['permit']['permit_id']}").ok()
            assert {field: read[field] for field in result["permit"]} == result["permit"]


def test_a_batch_may_hold_nothing_and_up_to_1000(service: Service, name: str) -> None:
    sender = service.client("send")
    assert sender.post("/v1/permits/batch", {"requests": []}).ok()["results"] == []
    requests = [_message(f"{name}-{n}", "x", customer_id=f"{name}-{n}") for n in range(1_000)]
    answer = sender.post("/v1/permits/batch", {"requests": requests}).ok()
    assert [r["status"] for r in answer["results"]] == [201] * 1_000
    assert len({r["permit"]["permit_id"] for r in answer["results"]}) == 1_000
    one_more = [*requests, _message(name, "x", customer_id=name)]
    sender.post("/v1/permits/batch", {"requests": one_more}).no(422, "invalid_request")
    again = sender.post("/v1/permits/batch", {"requests": requests}).ok()
    assert {r["problem"]["code"] for r in again["results"]} == {"permit_held"}


def test_what_a_key_may_not_do_alone_it_may_not_do_in_a_batch(service: Service, name: str) -> None:
    agent = service.client("send", intents=["a"])
    override = {"action_id": name, "by": "ann", "reason": "r"}
    requests = [
        _message(name, "a", customer_id=name, override=override),
        _message(name, "b", customer_id=name),
        _message(name, "a", customer_id=name),
    ]
    results = agent.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    codes = [r["problem"]["code"] if "problem" in r else "granted" for r in results]
    assert codes == ["forbidden", "unknown_intent", "granted"]


def test_riding_facts_of_one_item_hold_for_the_next(service: Service, name: str) -> None:
    due_on = service.clock.date().replace(day=1).isoformat()
    snapshot = {
        "customer_id": name,
        "currency": "USD",
        "total": 5,
        "amount_remaining": 0,
        "status": "paid",
        "due_on": due_on,
    }
    requests = [
        {"kind": "reminder", "invoices": [name]},
        {"kind": "reminder", "invoices": [name], "facts": {name: snapshot}},
        {"kind": "reminder", "invoices": [name]},
    ]
    results = service.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    codes = [r["problem"]["code"] for r in results]
    assert codes == ["unknown_invoice", "nothing_owed", "nothing_owed"]


def test_a_request_that_cannot_be_read_leaves_no_other_granted_and_unheard(
    service: Service, name: str
) -> None:
    """Deeper than JSON can be written again: that one is refused, and each answer is heard."""
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    requests = [
        _message(name, "a", customer_id=name),
        _message(name, "b", customer_id=name, extra=deep),
        _message(name, "c", customer_id=name),
    ]
    answer = service.post("/v1/permits/batch", {"requests": requests}).ok()
    assert [r["status"] for r in answer["results"]] == [201, 422, 201]
    assert answer["results"][1]["problem"]["code"] == "invalid_request"


def test_a_batch_tells_the_position_that_a_read_may_ask_for(service: Service, name: str) -> None:
    requests = [_message(name, "a", customer_id=name), _message(name, "a")]
    answer = service.post("/v1/permits/batch", {"requests": requests}).ok()
    assert answer["position"] == answer["results"][0]["permit"]["position"]
    service.get(f"/v1/customers/{name}", after=answer["position"]).ok()
    assert int(service.post("/v1/permits/batch", {"requests": []}).ok()["position"]) >= 0
