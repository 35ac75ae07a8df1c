"""The kind of every case: two processes behind one port answer as one."""

from dataclasses import replace

import pytest

from tests.support.service import Client, Service


def _doors(service: Service, client: Client) -> list[Client]:
    """The same key over each of the service's connections."""
    return [replace(client, http=next(service.connections)) for _ in range(6)]


@pytest.mark.starts("2026-03-01T00:00:00Z")
def test_a_revoked_key_is_nobodys_in_every_process(service: Service) -> None:
    client = service.client("audit", "send")
    doors = _doors(service, client)
    for door in doors:
        door.get("/v1/control").ok()
    service.call("DELETE", f"/v1/keys/{client.key_id}").ok(204)
    for door in doors:
        door.get("/v1/control").no(401, "unauthorized")
        door.get("/v1/policy").no(401, "unauthorized")
        door.remind("none").no(401, "unauthorized")
        door.redeem("none").no(401, "unauthorized")


@pytest.mark.starts("2026-03-01T00:00:00Z")
def test_what_one_process_was_told_the_other_knows(service: Service, name: str) -> None:
    doors = _doors(service, service.client("send", "facts", "audit"))
    for number, door in enumerate(doors):
        id_ = f"{name}-{number}"
        told = door.put_invoice(id_, customer_id=id_, due_on="2026-02-25").ok()
        for other in doors:
            assert other.get(f"/v1/invoices/{id_}").ok()["stages"][0]["state"] == "due"
            due = other.get("/v1/due", limit=1000, after=told["position"]).ok()["items"]
            assert id_ in {item["customer_id"] for item in due}
        codes = [other.remind(id_).code for other in doors]
        assert sorted(str(code) for code in codes) == ["None"] + ["permit_held"] * 5
