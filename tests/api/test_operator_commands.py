"""An operator's night by commands alone: stop, look, mend, apologise, prove, go on."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from api.cli.terminal import console
from tests.support.receivers import webhook
from tests.support.service import Service, fresh_service

Command = Callable[..., Result]
_START = "2026-12-01T00:00:00+00:00"
_WHY = ("--reason", "the poller is fixed", "--by", "ann")


@pytest.fixture(scope="module")
def operated(durable_postgres: str) -> Iterator[Service]:
    """A service that this file pauses, with a place for its alerts."""
    with webhook() as target:
        env = {"LEDGER_ALERT_URLS": target.url}
        with fresh_service(durable_postgres, _START, env=env) as service:
            yield service


@pytest.fixture
def service(operated: Service) -> Service:
    """The service, a minute on."""
    operated.advance(minutes=1)
    return operated


@pytest.fixture
def run(service: Service, tmp_path: Path) -> Command:
    """`run("pause", "all")`: send-ledger against that service, as a user who has its key."""

    def work(*words: str, stdin: str | None = None, **env: str) -> Result:
        given = {
            "LEDGER_URL": str(service.http.base_url),
            "LEDGER_KEY": service.key,
            "LEDGER_DATA_DIR": str(tmp_path),
            "LEDGER_ANNOUNCE": "",
            "COLUMNS": "200",
        } | env
        # The width is that of the terminal in which the console was made: of an earlier test.
        console.width = int(given["COLUMNS"])
        return CliRunner().invoke(main, words, input=stdin, env=given)

    return work


def _json(done: Result) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def _flood(service: Service, customer: str) -> None:
    for number in range(3):
        service.ask("notification", customer_id=customer, event_type="t", event_id=str(number))
    assert service.breaker(customer) == "open"


def test_pause_guard_check_and_resume(run: Command, service: Service) -> None:
    paused = run("pause", "outreach", "--reason", "a flood", "--by", "ann")
    assert (paused.exit_code, paused.stderr) == (0, "")
    assert re.search(r"^sending +PAUSED outreach by ann: a flood *$", paused.stdout, re.MULTILINE)
    proved = run("guard-check")
    assert proved.exit_code == 0
    assert re.search(r"^flood_stopped +yes ", proved.stdout, re.MULTILINE)
    check = re.search(r"^guard check (\S+) passed$", proved.stdout, re.MULTILINE)
    assert check is not None
    nobody = run("resume", "outreach", *_WHY, "--guard-check", check[1])
    assert (nobody.exit_code, nobody.stderr.splitlines()[-1]) == (
        1,
        "Error: nobody said yes: give --yes where nobody is asked",
    )
    no = run("resume", "outreach", *_WHY, "--guard-check", check[1], stdin="n\n")
    assert (no.exit_code, no.stderr.splitlines()[-1]) == (1, "Error: nothing was done")
    assert service.get("/v1/control").ok()["paused"] is True
    done = run("resume", "outreach", *_WHY, "--guard-check", check[1], stdin="y\n")
    assert re.search(r"^sending +on *$", done.stdout, re.MULTILINE)
    assert service.get("/v1/control").ok()["paused"] is False


def test_resume_runs_a_guard_check_of_its_own(run: Command, service: Service) -> None:
    assert _json(run("pause", "all", "--reason", "a flood", "--json"))["paused"] is True
    answer = _json(run("resume", "all", *_WHY, "--yes", "--json"))
    assert answer["paused"] is False
    assert answer["guard_checks"][-1]["passed"] is True


def test_a_denial_is_one_line_with_its_code(run: Command) -> None:
    assert run("pause", "kind:digest", "--reason", "r").exit_code == 0
    done = run("resume", "kind:digest", *_WHY, "--yes", "--guard-check", "none")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: no guard check that started since ")
    assert done.stderr.endswith(" (guard_not_proven)\n")
    assert len(done.stderr.splitlines()) == 1
    assert run("resume", "kind:digest", *_WHY, "--yes").exit_code == 0


def test_a_scope_that_does_not_exist_is_told_by_the_service(run: Command) -> None:
    done = run("pause", "everything", "--reason", "r")
    assert (done.exit_code, done.stderr.splitlines()[1:]) == (1, [])
    assert done.stderr.startswith("Error: body.scope: String should match pattern ")
    assert done.stderr.endswith(" (invalid_request)\n")


def test_breakers_are_shown_before_all_are_closed(
    run: Command, service: Service, name: str
) -> None:
    for letter in "ab":
        _flood(service, f"{name}-{letter}")
    listed = run("breakers", "list").stdout
    assert re.search(rf"^{name}-a +outreach +2026-12-01 ", listed, re.MULTILINE)
    one = run("breakers", "reset", f"{name}-a", "no-such", *_WHY)
    assert (one.exit_code, one.stdout) == (1, "1 breaker closed\n")
    assert one.stderr == "no-such: no such customer is known\n"
    refused = run("breakers", "reset", "--all", *_WHY, stdin="n\n")
    assert refused.exit_code == 1
    assert f"{name}-b" in refused.stdout
    assert service.breaker(f"{name}-b") == "open"
    done = _json(run("breakers", "reset", "--all", *_WHY, "--yes", "--json"))
    assert f"{name}-b" in done["reset"]
    assert run("breakers", "list").stdout == "no breaker is open\n"
    assert run("breakers", "reset", *_WHY).exit_code == 2
    assert run("breakers", "reset", "x", "--all", *_WHY).exit_code == 2


def test_alerts_are_listed_and_acknowledged(run: Command, service: Service, name: str) -> None:
    _flood(service, name)
    [alert] = service.alerts("breaker_opened", name)
    row = rf"^{alert['alert_id']} +breaker_opened "
    assert re.search(row, run("alerts", "list").stdout, re.MULTILINE)
    one = run("alerts", "ack", str(alert["alert_id"]), "--by", "ann")
    assert one.stdout == "1 alert acknowledged by ann\n"
    assert service.alerts("breaker_opened", name)[0]["acked_by"] == "ann"
    _flood(service, f"{name}-2")
    rest = run("alerts", "ack", "--all", "--by", "bob", "--yes")
    assert re.search(r"^\d+ alerts? acknowledged by bob$", rest.stdout, re.MULTILINE)
    assert _json(run("alerts", "list", "--json")) == []
    again = run("alerts", "ack", "--all", "--by", "bob")
    assert again.stdout == "0 alerts acknowledged by bob\n"
    missed = run("alerts", "ack", "999999", "--by", "bob")
    assert missed.stdout == "0 alerts acknowledged by bob\n"
    assert missed.stderr == "1 of those named: no such alert, or seen before\n"
    assert run("alerts", "ack").exit_code == 2
    assert run("alerts", "ack", "1", "--kind", "x").exit_code == 2


def test_the_denials_of_a_customer_are_listed(run: Command, service: Service, name: str) -> None:
    asked = {"customer_id": name, "event_type": "t", "event_id": "1"}
    sender = service.client("send", name=f"s-{name}")
    first = sender.ask("notification", **asked).ok(201)["decision_id"]
    service.advance(minutes=1)
    second = sender.ask("notification", **asked).no(409, "permit_held")["decision_id"]
    rows = _json(run("decisions", "--customer", name, "--json"))
    assert [(row["decision_id"], row["code"]) for row in rows] == [
        (second, "permit_held"),
        (first, None),
    ]
    [denied] = _json(run("decisions", "--sender", f"s-{name}", "--code", "permit_held", "--json"))
    assert denied["decision_id"] == second
    assert second in run("decisions", "--customer", name, COLUMNS="300").stdout
    assert run("decisions", "--customer", f"{name}-x").stdout == "nothing was asked for\n"


def test_an_unknown_permit_is_found_and_settled(run: Command, service: Service, name: str) -> None:
    service.fact("customer.observed", {"customer_id": name, "emails": [f"{name}@example.com"]})
    sender = service.client("send", redeem="optional", name=f"s-{name}")
    asked = {"customer_id": name, "event_type": "t", "event_id": "1"}
    granted = sender.ask("notification", **asked).ok(201)
    permit = granted["permit_id"]
    sender.report(permit, "unknown").ok()
    query = ("permits", "--state", "unknown", "--sender", sender.name)
    [row] = _json(run(*query, "--json"))
    assert (row["permit_id"], row["to"]) == (permit, f"{name}@example.com")
    assert permit in run(*query, COLUMNS="300").stdout
    narrow = run(*query, COLUMNS="80").stdout
    assert re.search(rf"^permit +{permit} *$", narrow, re.MULTILINE)
    assert re.search(rf"^to +{name}@example\.com *$", narrow, re.MULTILINE)
    assert run("outcome", permit, "rejected", stdin="n\n").exit_code == 1
    known = ("--provider-message-id", f"re_{name}", "--reason", "it is in their log")
    done = run("outcome", permit, "sent", *known, "--by", "ann")
    assert re.search(r"^state +sent *$", done.stdout, re.MULTILINE)
    assert run(*query).stdout == "there is no such permit\n"
    gone = run("outcome", "00000000-0000-4000-8000-000000000000", "sent")
    assert gone.stderr == "Error: there is no such permit (unknown_permit)\n"
    for text, kind in (
        (f"{name}@example.com", "customer"),
        (granted["message_id"], "permit"),
        (granted["send_token"], "permit"),
        (f"re_{name}", "permit"),
        (permit, "permit"),
        (permit, "decision"),
        (name, "customer"),
        (sender.key_id, "key"),
    ):
        found = {row["what"]: row["id"] for row in _json(run("find", text, "--json"))}
        expected = {"customer": name, "key": sender.key_id}.get(kind, permit)
        assert found.get(kind) == expected, (text, found)


def test_find_knows_threads_invoices_incidents_and_alerts(
    run: Command, service: Service, name: str
) -> None:
    service.put_invoice(f"inv/{name}", customer_id=name).ok()
    service.fact("customer.observed", {"customer_id": f"{name}-old", "emails": []})
    service.fact("customer.merged", {"from": f"{name}-old", "into": name})
    [merged] = _json(run("find", f"{name}-old", "--json"))
    assert (merged["what"], merged["customer_id"]) == ("customer", name)
    message = {
        "thread_id": f"thr-{name}",
        "message_id": f"<m.{name}@example.com>",
        "direction": "inbound",
        "from": f"{name}@example.com",
        "to": "desk@example.net",
    }
    service.fact("thread.message", message)
    window = {"from": "2026-11-01T00:00:00Z", "to": "2026-11-02T00:00:00Z"}
    incident = service.post("/v1/incidents", {"title": "t", "cause": "c"} | window).ok(201)
    _flood(service, f"{name}-f")
    alert = service.alerts("breaker_opened", f"{name}-f")[0]["alert_id"]
    for text, kind, id_ in (
        (f"inv/{name}", "invoice", f"inv/{name}"),
        (f"m.{name}@example.com", "thread", f"thr-{name}"),
        (f"thr-{name}", "thread", f"thr-{name}"),
        (incident["incident_id"], "incident", incident["incident_id"]),
        (str(alert), "alert", str(alert)),
    ):
        found = {row["what"]: row["id"] for row in _json(run("find", text, "--json"))}
        assert found.get(kind) == id_, (text, found)
    nothing = run("find", f"no-{name}")
    assert (nothing.exit_code, nothing.stdout) == (1, "nothing goes by that\n")


def test_a_hold_is_placed_and_lifted(run: Command, service: Service, name: str) -> None:
    service.put_invoice(f"inv/{name}", customer_id=name).ok()
    hold = ("hold", "customer", name, "--reason", "promised to pay", "--by", "ann")
    until = ("--until", "2026-12-24T00:00:00Z")
    placed = run(*hold, *until)
    assert (placed.stdout, placed.stderr) == ("the hold is placed\n", "")
    typo = run("hold", "invoice", f"inv/{name}x", "--reason", "a dispute")
    told = f"the ledger had not heard of the invoice inv/{name}x: is it spelt so?\n"
    assert (typo.exit_code, typo.stderr) == (0, told)
    assert run(*hold, "--kind", "digest").exit_code == 0
    shown = run("customer", name).stdout
    assert re.search(r"^on_hold +reason promised to pay, until 2026-12-24 ", shown, re.MULTILINE)
    assert re.search(r"^breaker +closed *$", shown, re.MULTILINE)
    assert re.search(r"^window outreach_24h +0 of 2 *$", shown, re.MULTILINE)
    assert run(*hold, "--lift").stdout == "the hold is lifted\n"
    assert service.get(f"/v1/customers/{name}").ok()["on_hold"] is None
    assert run("hold", "invoice", f"inv/{name}", "--reason", "a dispute").exit_code == 0
    invoice = run("invoice", f"inv/{name}").stdout
    assert re.search(r"^amount_remaining +30000 *$", invoice, re.MULTILINE)
    assert _json(run("invoice", f"inv/{name}", "--json"))["customer_id"] == name
    wrong = run("hold", "address", "no address", "--reason", "blocked")
    assert wrong.exit_code == 1
    assert len(wrong.stderr.splitlines()) == 1
    assert run(*hold[:-1], "ann@example.com").exit_code == 2
    unknown = run("customer", f"no-{name}")
    assert unknown.stderr == f"Error: customer no-{name} is not known (unknown_customer)\n"


def test_addresses_are_released_after_a_bounce(run: Command, service: Service, name: str) -> None:
    address = f"{name}@example.com"
    service.fact("customer.observed", {"customer_id": name, "emails": [address]})
    service.fact("address.hold", {"address": address, "reason": "bounced"})
    assert service.get(f"/v1/customers/{name}").ok()["addresses_on_hold"] == 1
    done = run("release", name, "--address", address, "--reason", "a typo at their provider")
    assert (done.exit_code, done.stdout) == (0, "released\n")
    assert service.get(f"/v1/customers/{name}").ok()["addresses_on_hold"] == 0
    gone = run("release", f"no-{name}", "--reason", "x")
    assert gone.stderr == f"Error: customer no-{name} is not known (unknown_customer)\n"


def test_what_waits_to_be_fetched_is_listed_and_ended(run: Command, service: Service) -> None:
    with psycopg.connect(service.database, autocommit=True) as db:
        db.execute(
            "INSERT INTO refresh_work (partition, provider, object_kind, object_id,"
            " first_hinted_at, last_hinted_at) VALUES (0, 'resend', 'email', 're_1', now(), now())"
        )
    [row] = _json(run("webhooks", "waiting", "--json"))
    assert (row["provider"], row["object_id"], row["fetched_by"]) == ("resend", "re_1", "you")
    shown = run("webhooks", "waiting").stdout
    assert re.search(rf"^{row['refresh_id']} +resend +email +re_1 +you ", shown, re.MULTILINE)
    assert run("webhooks", "done", str(row["refresh_id"])).stdout == "done\n"
    assert run("webhooks", "waiting").stdout == "nothing waits to be fetched\n"
    assert run("webhooks", "done", str(row["refresh_id"])).exit_code == 1


def test_an_incident_from_its_declaration_to_its_report(
    run: Command, service: Service, name: str, tmp_path: Path
) -> None:
    service.fact("customer.observed", {"customer_id": name, "emails": [f"{name}@example.com"]})
    for hour in (8, 9, 10):
        at = f"2026-11-20T{hour:02}:00:00Z"
        service.fact("send.observed", {"customer_id": name, "at": at})
    window = ("--from", "2026-11-20T00:00:00Z", "--to", "2026-11-21T00:00:00Z")
    told = ("--title", "Too many mails", "--cause", "a loop", "--by", "ann", *window)
    incident = _json(run("incident", "declare", *told, "--json"))["incident_id"]
    assert incident in run("incident", "list", COLUMNS="200").stdout
    [row] = _json(run("incident", "affected", incident, "--json"))
    assert (row["customer_id"], row["mails"], row["apology"]) == (name, 3, None)
    assert re.search(rf"^{name} +3 +3 ", run("incident", "affected", incident).stdout, re.MULTILINE)
    early = run("incident", "apologise", incident, "--all", "--yes")
    assert (early.exit_code, "pause" in early.stdout) == (1, True)
    assert run("pause", "all", "--reason", "a loop").exit_code == 0
    [made] = _json(run("incident", "apologise", incident, "--all", "--yes", "--json"))
    assert made["permit"]["to"] == f"{name}@example.com"
    assert made["permit"]["statement"]["owed"] == []
    assert run("outcome", made["permit"]["permit_id"], "sent").exit_code == 0
    again = run("incident", "apologise", incident, "--all", "--yes")
    assert again.stderr == "Error: every affected customer has an apology\n"
    assert run("resume", "all", *_WHY, "--yes").exit_code == 0
    closed = run("incident", "close", incident, "--by", "bob", "--yes")
    assert re.search(r"^closed_by +bob *$", closed.stdout, re.MULTILINE)
    assert run("incident", "report", incident).stdout.startswith("# ")
    file = tmp_path / "report.html"
    assert run("incident", "report", incident, "--format", "html", "--to", str(file)).exit_code == 0
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_doctor_says_what_waits_and_what_to_do(run: Command, service: Service, name: str) -> None:
    run("breakers", "reset", "--all", *_WHY, "--yes")
    run("alerts", "ack", "--all", "--yes")
    healthy = run("doctor")
    assert healthy.exit_code == 0, healthy.stdout
    assert "nothing is wrong" in healthy.stdout
    assert "NOTE  test_clock: the ledger goes by a test clock" in healthy.stdout
    assert re.search(r"^ledger \S+, postgresql \d+\.\d+, python 3\.", healthy.stdout, re.MULTILINE)
    _flood(service, name)
    assert run("pause", "kind:digest", "--reason", "a loop", "--by", "ann").exit_code == 0
    sender = service.client("send", redeem="optional")
    asked = {"customer_id": f"{name}-u", "event_type": "t", "event_id": "1"}
    permit = sender.ask("notification", **asked).ok(201)["permit_id"]
    sender.report(permit, "unknown").ok()
    service.advance(hours=3)
    ill = run("doctor", "--json")
    assert ill.exit_code == 1
    found = {finding["code"]: finding for finding in json.loads(ill.stdout)["findings"]}
    assert {"paused", "breaker_open", "permit_unknown", "alerts_unseen"} <= set(found)
    assert found["paused"]["what"].endswith(" by ann: a loop")
    assert found["paused"]["advice"].endswith("send-ledger resume kind:digest --reason TEXT")
    assert "1 breaker open" in found["breaker_open"]["what"]
    unsaid = r"of \d+ mails? nobody has said whether it went out, the oldest since 2026-12-01 "
    assert re.match(unsaid, found["permit_unknown"]["what"])
    assert "WRONG paused: kind:digest is paused since " in run("doctor").stdout
    run("resume", "kind:digest", *_WHY, "--yes")


def test_nobody_there_no_key_and_a_lesser_key_are_one_line_each(
    run: Command, service: Service
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        dead = run("doctor", LEDGER_URL=url)
    assert (dead.exit_code, dead.stderr.splitlines()[1:]) == (1, [])
    assert dead.stderr.startswith(f"Error: no ledger answers at {url}: ")
    lost = run("doctor", LEDGER_URL="", LEDGER_KEY="")
    assert lost.stderr.startswith("Error: there is no key to act with: set LEDGER_KEY")
    for url in ("ftp://x.example", "127.0.0.1:8080", "http://127.0.0.1:port"):
        wrong = run("doctor", LEDGER_URL=url)
        assert (wrong.exit_code, wrong.stderr[:18]) == (1, "Error: LEDGER_URL:")
    lesser = run("breakers", "list", LEDGER_KEY=service.client("send").key)
    assert lesser.stderr == "Error: this needs the scope audit or operate (forbidden)\n"
    unknown = run("breakers", "list", LEDGER_KEY="slk_wrong")
    assert unknown.stderr.endswith("(unauthorized)\n")


def test_the_announced_service_is_found(run: Command, service: Service, tmp_path: Path) -> None:
    announced = tmp_path / "announced.json"
    said = {"url": str(service.http.base_url), "key": service.key, "pid": service.pid}
    announced.write_text(json.dumps(said), encoding="utf-8")
    env = {"LEDGER_URL": "", "LEDGER_KEY": ""}
    assert run("breakers", "list", **env, LEDGER_ANNOUNCE=str(announced)).exit_code == 0
    announced.rename(tmp_path / "service.json")
    assert run("breakers", "list", **env).exit_code == 0
    said["pid"] = 2**22 + 1
    (tmp_path / "service.json").write_text(json.dumps(said), encoding="utf-8")
    assert run("breakers", "list", **env).exit_code == 1
