"""Bodies that could not be used: kept, alerted on once per kind, listed, replayed, dismissed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ledger.store.migrate import migrate
from tests.api.webhooks.posting import environment, signed
from tests.api.webhooks.renaming import Renamed
from tests.support.postgres import fresh_database
from tests.support.service import Service, fresh_service, running_service

ROOT = Path(__file__).resolve().parents[3]
STREAM = "commune/stream.email_sent.constructed.json"


def rejected(service: Service, **params: Any) -> list[dict[str, Any]]:
    """Kept bodies, oldest first."""
    items: list[dict[str, Any]] = service.get("/v1/webhooks/rejected", **params).ok()["items"]
    return items


def teleported(mark: str) -> bytes:
    """An event of a type near money that nobody knows."""
    event = {"id": f"evt_{mark}", "type": "invoice.teleported", "created": 1700000000}
    return json.dumps(event).encode()


def test_an_episode_of_a_kind_is_alerted_on_once(postgres: str) -> None:
    with fresh_service(postgres, "2026-12-01T00:00:00Z", env=environment()) as service:
        clock = service.clock

        def alerts() -> list[str]:
            return [alert["dedupe_key"] for alert in service.alerts("ingest_rejected")]

        for mark in ("a", "b", "a"):
            signed("stripe", teleported(mark), clock).to(service).ok()
        signed("stripe", b"{", clock).to(service).ok()
        rows = rejected(service)
        assert [(row["copies"], row["reasons"][0]["kind"]) for row in rows] == [
            (2, "unknown_money_event"),
            (1, "unknown_money_event"),
            (1, "malformed_json"),
        ]
        first = "ingest_rejected:stripe:unknown_money_event:1"
        malformed = "ingest_rejected:stripe:malformed_json:1"
        assert alerts() == [malformed, first]
        for row in rows[:2]:
            service.post(f"/v1/webhooks/rejected/{row['rejected_id']}/dismiss").ok()
        signed("stripe", teleported("a"), clock).to(service).ok()
        assert [row["reasons"][0]["kind"] for row in rejected(service)] == ["malformed_json"]
        assert alerts() == [malformed, first]
        signed("stripe", teleported("c"), clock).to(service).ok()
        assert alerts() == [first[:-1] + "2", malformed, first]


def test_a_replay_is_judged_by_what_the_ledger_knows_now(hooks: Service, mark: str) -> None:
    names = Renamed(STREAM, mark)
    signed("commune", names.body, hooks.clock).to(hooks).ok()
    kept = rejected(hooks, provider="commune", limit=1000)[-1]
    where = f"/v1/webhooks/rejected/{kept['rejected_id']}"
    again = hooks.post(f"{where}/replay").ok()
    assert (again["used"], again["reasons"][0]["kind"]) == (False, "rejected_fact")
    assert hooks.get(where).ok()["replayed_at"] is not None
    thread = {"thread_id": names.id("thread_2f1c7b0e-example"), "message_id": f"<{mark}@x.example>"}
    hooks.fact("thread.message", thread | {"direction": "inbound", "customer_id": f"cus-{mark}"})
    used = hooks.post(f"{where}/replay").ok()
    assert (used["used"], used["reasons"], used["results"][0]["result"]) == (True, [], "applied")
    assert hooks.get(where).ok()["resolution"] == "replayed"
    assert kept["rejected_id"] not in {row["rejected_id"] for row in rejected(hooks, limit=1000)}
    done = rejected(hooks, limit=1000, resolved="true")
    assert kept["rejected_id"] in {row["rejected_id"] for row in done}
    gone = hooks.get(where).ok()
    assert (gone["body"], gone["headers"], gone["size"]) == ("", {}, 0)
    hooks.post(f"{where}/replay").no(404, "not_found")
    assert signed("commune", names.body, hooks.clock).to(hooks).ok()["results"][0]["result"] == (
        "duplicate"
    )
    reply = {"thread_id": thread["thread_id"], "in_reply_to": names.id(MESSAGE)}
    hooks.ask("reply", **reply).no(409, "outbound_message")


MESSAGE = "msg_0123456789abcdef0123456789abcdef"


def test_good_parts_of_a_list_are_applied_beside_the_kept_body(hooks: Service, mark: str) -> None:
    good = {
        "event": "delivered",
        "sg_event_id": f"sg-{mark}",
        "timestamp": 1700000000,
        "sg_message_id": f"m-{mark}.filter1",
    }
    body = json.dumps([good, {"event": "delivered"}, 5, good]).encode()
    post = signed("sendgrid", body, hooks.clock)
    answer = post.to(hooks).ok()
    assert [result["result"] for result in answer["results"]] == ["applied", "duplicate"]
    assert answer["rejected"] == 2
    kept = rejected(hooks, provider="sendgrid", limit=1000)[-1]
    assert {reason["kind"] for reason in kept["reasons"]} == {"missing_field", "wrong_type"}
    again = post.to(hooks).ok()
    assert [result["result"] for result in again["results"]] == ["duplicate", "duplicate"]
    assert rejected(hooks, provider="sendgrid", limit=1000)[-1]["copies"] == 2


def test_what_is_older_than_the_policys_days_is_swept(postgres: str) -> None:
    with fresh_database(postgres) as conninfo:
        migrate(conninfo)
        env = environment()
        with running_service(conninfo, "2026-12-01T00:00:00+00:00", env=env) as service:
            signed("stripe", teleported("old"), service.clock).to(service).ok()
            service.advance(days=29)
            signed("stripe", teleported("young"), service.clock).to(service).ok()
        with running_service(conninfo, "2026-12-31T00:00:00+00:00", env=env) as service:
            give_up = time.monotonic() + 30
            while len(rejected(service)) > 1:
                assert time.monotonic() < give_up
                time.sleep(0.05)
            assert [row["received_at"] for row in rejected(service)] == ["2026-12-30T00:00:00Z"]


def test_the_list_pages_and_filters(hooks: Service, mark: str) -> None:
    kinds = (b'{"type": 1, "%s": 1}', b'{"%s": 1}', b'{"type": 2, "%s": 2}')
    for text in kinds:
        signed("stripe", text % mark.encode(), hooks.clock).to(hooks).ok()
    everything = rejected(hooks, provider="stripe", limit=1000)
    pages: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = hooks.get("/v1/webhooks/rejected", provider="stripe", limit=2, cursor=cursor).ok()
        assert len(page["items"]) <= 2
        pages += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert pages == everything
    missing = rejected(hooks, provider="stripe", kind="missing_field", limit=1000)
    assert [r for r in everything if r["reasons"][0]["kind"] == "missing_field"] == missing
    others = rejected(hooks, provider="mailgun", limit=1000)
    assert {row["provider"] for row in others} <= {"mailgun"}
    assert rejected(hooks, provider="stripe", kind="another_reason", limit=1000) == []


def test_only_those_who_look_after_the_ledger_see_them(hooks: Service, mark: str) -> None:
    signed("stripe", b'{"who": "%s"}' % mark.encode(), hooks.clock).to(hooks).ok()
    row = rejected(hooks, provider="stripe", limit=1000)[-1]
    where = f"/v1/webhooks/rejected/{row['rejected_id']}"
    auditor, sender = hooks.client("audit"), hooks.client("send", "facts")
    nobody = hooks.without_key()
    assert auditor.get("/v1/webhooks/rejected").status == 200
    assert auditor.get("/v1/webhooks/refresh").status == 200
    for method, path in [
        ("GET", where),
        ("POST", f"{where}/replay"),
        ("POST", f"{where}/dismiss"),
        ("POST", "/v1/webhooks/refresh/1/done"),
    ]:
        auditor.call(method, path).no(403, "forbidden")
    for path in ("/v1/webhooks/rejected", "/v1/webhooks/refresh", where):
        sender.get(path).no(403, "forbidden")
        nobody.get(path).no(401, "unauthorized")
    for missing in ("2147483648", "9223372036854775807"):
        hooks.get(f"/v1/webhooks/rejected/{missing}").no(404, "not_found")
        hooks.post(f"/v1/webhooks/rejected/{missing}/replay").no(404, "not_found")
        hooks.post(f"/v1/webhooks/rejected/{missing}/dismiss").no(404, "not_found")
        hooks.post(f"/v1/webhooks/refresh/{missing}/done").no(404, "not_found")


def command(service: Service, folder: Path, *words: str, code: int = 0) -> str:
    """What the command line says on the service's ledger, while that runs."""
    env = {
        "LEDGER_DATABASE_URL": service.database,
        "LEDGER_DATA_DIR": str(folder),
        "LEDGER_SECRET": "the secret of every service under test",
        "COLUMNS": "200",
    }
    done = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "webhooks", *words],
        cwd=ROOT,
        env=os.environ | environment() | env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def test_the_command_line_lists_and_replays(hooks: Service, mark: str, tmp_path: Path) -> None:
    names = Renamed(STREAM, mark)
    signed("commune", names.body, hooks.clock).to(hooks).ok()
    signed("stripe", teleported(mark), hooks.clock).to(hooks).ok()
    mine = rejected(hooks, provider="commune", limit=1000)[-1]["rejected_id"]
    other = rejected(hooks, provider="stripe", limit=1000)[-1]["rejected_id"]
    listed = command(hooks, tmp_path, "list", "--provider", "commune", "--limit", "1000")
    assert f"{mine} " in listed
    assert "rejected_fact: the thread is new" in listed
    assert "unknown_money_event" not in listed
    thread = {"thread_id": names.id("thread_2f1c7b0e-example"), "message_id": f"<{mark}@x.example>"}
    hooks.fact("thread.message", thread | {"direction": "inbound", "customer_id": f"cus-{mark}"})
    said = command(hooks, tmp_path, "replay", str(mine), str(other), "99999999", code=1)
    assert f"{mine}: applied" in said
    assert f"{other}: unknown_money_event: an event type of the family invoice" in said
    assert "99999999: there is no kept body 99999999" in said
    assert said.endswith("1 used, 2 still of no use\n")
    assert hooks.get(f"/v1/webhooks/rejected/{mine}").ok()["resolution"] == "replayed"
    assert command(hooks, tmp_path, "dismiss", str(other), "99999999", code=1) == "1 dismissed\n"
    assert hooks.get(f"/v1/webhooks/rejected/{other}").ok()["resolution"] == "dismissed"
    reply = {"thread_id": thread["thread_id"], "in_reply_to": names.id(MESSAGE)}
    hooks.ask("reply", **reply).no(409, "outbound_message")
