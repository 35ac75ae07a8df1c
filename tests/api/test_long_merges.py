"""Chains of merges over HTTP: bounded in a post and in all, and nobody else waits for them."""

from typing import Any

from tests.support.service import Service


def merge(gone: str, into: str) -> dict[str, Any]:
    """A CloudEvent that makes two customers one."""
    data = {"from": gone, "into": into}
    return {"id": f"{gone}-{into}", "source": "crm", "type": "customer.merged", "data": data}


def test_a_post_merges_so_many_customers_and_refuses_the_rest(service: Service, name: str) -> None:
    facts = [merge(f"{name}-{n}", f"{name}-{n + 1}") for n in range(253)]
    hold = {"id": name, "source": "crm", "type": "customer.hold"}
    hold |= {"data": {"customer_id": name, "reason": "dispute"}}
    results = service.post("/v1/facts", {"facts": [*facts, hold]}).ok()["results"]
    assert [r["result"] for r in results] == ["applied"] * 250 + ["rejected"] * 3 + ["applied"]
    assert "250 merges" in results[250]["detail"]
    again = service.post("/v1/facts", {"facts": facts[250:]}).ok()["results"]
    assert [r["result"] for r in again] == ["applied"] * 3


def test_a_customer_of_many_ids_is_one_and_the_chain_ends(service: Service, name: str) -> None:
    facts = [merge(f"{name}-{n}", f"{name}-{n + 1}") for n in range(300)]
    told = [
        result["result"]
        for start in range(0, 300, 150)
        for result in service.post("/v1/facts", {"facts": facts[start : start + 150]}).ok()[
            "results"
        ]
    ]
    assert told == ["applied"] * 255 + ["rejected"] + ["applied"] * 44
    first = service.get(f"/v1/customers/{name}-0").ok()
    assert first["customer_id"] == f"{name}-255"
    assert service.get(f"/v1/customers/{name}-299").ok()["customer_id"] == f"{name}-300"
