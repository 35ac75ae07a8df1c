"""API keys: made by an admin, shown once, listed without secrets, revoked at once."""

from typing import Any

import psycopg
import pytest

from tests.support.service import Service


def test_a_key_is_shown_once(service: Service, name: str) -> None:
    body = {
        "name": name,
        "scopes": ["send", "facts"],
        "redeem": "optional",
        "intents": ["refund_notice"],
        "class": "transactional",
    }
    made = service.post("/v1/keys", body).ok(201)
    assert {field: made[field] for field in body} == body
    assert made["key"].startswith("slk_")
    listed = [k for k in service.get("/v1/keys", limit=1000).ok()["items"] if k["name"] == name]
    (key,) = listed
    assert key["key_id"] == made["key_id"]
    assert {field: key[field] for field in body} == body
    assert key["revoked_at"] is None
    assert made["key"] not in str(listed)


def test_the_limits_of_a_key_are_shown(service: Service, name: str) -> None:
    limits = {
        "kinds": ["reminder", "message"],
        "stages": ["day-3"],
        "intents": ["refund_notice"],
        "customers": ["cus_1", "eu_*"],
        "addresses": False,
        "riding": "none",
    }
    made = service.post("/v1/keys", {"name": name, "scopes": ["send"]} | limits).ok(201)
    assert {field: made[field] for field in limits} == limits
    (key,) = [k for k in service.get("/v1/keys", limit=1000).ok()["items"] if k["name"] == name]
    assert {field: key[field] for field in limits} == limits


@pytest.mark.parametrize(("scopes", "riding"), [(["send"], "own"), (["send", "facts"], "all")])
def test_what_a_key_without_limits_shows(
    scopes: list[str], riding: str, service: Service, name: str
) -> None:
    made = service.post("/v1/keys", {"name": name, "scopes": scopes}).ok(201)
    shown = (made["kinds"], made["stages"], made["customers"], made["addresses"], made["riding"])
    assert shown == (None, None, None, True, riding)


def test_a_key_of_before_the_limits_has_none(service: Service, name: str) -> None:
    """The columns of migration 9 are empty for it, as they are where an older version adds one."""
    made = service.post("/v1/keys", {"name": name, "scopes": ["send"]}).ok(201)
    with psycopg.connect(service.database) as db:
        row = db.execute(
            "SELECT kinds, stages, customers, reads_addresses, riding FROM keys WHERE key_id = %s",
            [made["key_id"]],
        ).fetchone()
    assert row == (None, None, None, True, None)


def test_keys_are_hashed_at_rest(service: Service, name: str) -> None:
    made = service.post("/v1/keys", {"name": name, "scopes": ["send"]}, key=name).ok(201)
    with psycopg.connect(service.database) as db:
        for table in ("keys", "idempotency"):
            rows = db.execute(f"SELECT t::text FROM {table} t").fetchall()
            assert rows
            assert not [row for row in rows if made["key"] in row[0]]
            assert not [row for row in rows if made["key"].encode().hex() in row[0]]


def test_redeem_is_required_and_outreach_meant_where_nothing_is_said(
    service: Service, name: str
) -> None:
    made = service.post("/v1/keys", {"name": name, "scopes": ["send"]}).ok(201)
    fields = (made["redeem"], made["class"], made["intents"])
    assert fields == ("required", "outreach", None)


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "x" * 256},
        {"name": None},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"scopes": "send"},
        {"scopes": ["send"] * 6},
        {"redeem": "sometimes"},
        {"class": "marketing"},
        {"intents": "refund_notice"},
        {"intents": [""]},
        {"key": "slk_chosen"},
        {"kinds": []},
        {"kinds": ["newsletter"]},
        {"stages": []},
        {"customers": []},
        {"customers": ["*"]},
        {"customers": [""]},
        {"customers": "cus_1"},
        {"addresses": "no"},
        {"riding": "some"},
        {"riding": "all"},
        {"scopes": ["send", "audit"], "customers": ["cus_1"]},
        {"scopes": ["send", "operate"], "kinds": ["reply"]},
        {"scopes": ["send", "admin"], "stages": ["day-3"]},
        {"scopes": ["send", "audit"], "addresses": False},
        {"scopes": ["send", "facts"], "customers": ["cus_1"]},
    ],
    ids=str,
)
def test_a_key_that_cannot_be_made_is_422(
    change: dict[str, Any], service: Service, name: str
) -> None:
    body = {"name": name, "scopes": ["send"]} | change
    service.post("/v1/keys", body).no(422, "invalid_request")


def test_a_revoked_key_stays_listed(service: Service, name: str) -> None:
    client = service.client("send", name=name)
    service.call("DELETE", f"/v1/keys/{client.key_id}").ok(204)
    service.call("DELETE", f"/v1/keys/{client.key_id}").no(404, "not_found")
    service.call("DELETE", "/v1/keys/key_none").no(404, "not_found")
    (key,) = [k for k in service.get("/v1/keys", limit=1000).ok()["items"] if k["name"] == name]
    assert key["revoked_at"] is not None


def test_keys_come_in_pages(service: Service, name: str) -> None:
    made = {service.client("send", name=name).key_id for _ in range(5)}
    seen: list[str] = []
    cursor = None
    while True:
        page = service.get("/v1/keys", limit=2, cursor=cursor).ok()
        seen += [k["key_id"] for k in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert made <= set(seen)


def test_two_keys_of_one_name_are_two_keys(service: Service, name: str) -> None:
    first, second = (service.client("send", name=name) for _ in range(2))
    fields = {"thread_id": name, "intent": "x", "customer_id": name}
    permit = first.ask("message", **fields).ok(201)["permit_id"]
    second.redeem(permit).no(403, "forbidden")
    second.report(permit, "sent").no(403, "forbidden")
    first.redeem(permit).ok()
