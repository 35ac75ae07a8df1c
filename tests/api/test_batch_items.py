"""Each item of a batch answers for itself, whatever JSON it is: it never spoils the others."""

import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.service import Service

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
TYPES = st.sampled_from(["invoice.observed", "invoice.payment", "customer.hold", "x.payment"])
ENVELOPES = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("id", "source", "type", "time", "data", "specversion"), JSON)
)


def good_fact() -> dict[str, Any]:
    """A snapshot of an invoice of its own."""
    name = uuid.uuid4().hex
    money = {"currency": "USD", "total": 30_000, "amount_remaining": 30_000, "status": "open"}
    data = {"invoice_id": name, "customer_id": f"cus-{name}", **money}
    return {"id": name, "source": "tests", "type": "invoice.observed", "data": data}


@given(items=st.lists(JSON | ENVELOPES, max_size=5), kind=st.none() | TYPES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_item_of_a_batch_answers_for_itself_whatever_it_is(
    service: Service, items: list[Any], kind: str | None
) -> None:
    """Given JSON of any shape beside a good fact, when told, each item has a result of its own."""
    if kind is not None:
        items = [item | {"type": kind} if isinstance(item, dict) else item for item in items]
    good = good_fact()
    results = service.post("/v1/facts", {"facts": [*items, good]}).ok()["results"]
    assert [r["result"] for r in results] == ["rejected"] * len(items) + ["applied"]


@given(items=st.lists(JSON | ENVELOPES, min_size=1, max_size=5))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_request_of_a_batch_of_permits_answers_for_itself(
    service: Service, items: list[Any]
) -> None:
    """Given JSON of any shape beside a good request, when asked, each has a status of its own."""
    thread = uuid.uuid4().hex
    good = {"kind": "message", "thread_id": thread, "intent": "offer", "customer_id": thread}
    results = service.post("/v1/permits/batch", {"requests": [*items, good]}).ok()["results"]
    assert [r["status"] for r in results] == [422] * len(items) + [201]


@pytest.mark.parametrize("type_", [{}, [], {"a": 1}, 7, None, True])
def test_a_type_that_is_no_text_is_rejected_and_the_others_are_taken(
    service: Service, type_: Any
) -> None:
    facts = [good_fact(), good_fact() | {"type": type_}]
    results = service.post("/v1/facts", {"facts": facts}).ok()["results"]
    assert [r["result"] for r in results] == ["applied", "rejected"]
