"""Every decision is explained: the guards come to the same answer on the facts as they stood."""

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.support.service import Answer, Client, Service, fresh_service

DUE = "2026-11-26"
"""Five days overdue on the day of the shared service."""
ORDER = [
    "caller",
    "final_duplicate",
    "live_permit",
    "too_late",
    "outside_facts",
    "customer_hold",
    "unsubscribed",
    "thread_hold",
    "recovery",
    "pause",
    "address_hold",
    "breaker",
    "reminder_gap",
    "cap",
    "copies",
]


@pytest.fixture(scope="module")
def shared_service(postgres: str) -> Iterator[Service]:
    """A service of this file's own: its clock is moved by nobody else, and DUE stays near."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00") as service:
        yield service


def explained(service: Service, answer: Answer | str) -> Answer:
    """The decision of an answer, whose explanation must come to what was answered."""
    decision_id = answer if isinstance(answer, str) else answer["decision_id"]
    found = service.get(f"/v1/decisions/{decision_id}").ok()
    assert found["explanation"]["reproduced"] is True, found.body
    return found


def verdicts(found: Answer) -> dict[str, str]:
    return {g["guard"]: g["verdict"] for g in found["explanation"]["guards"]}


def denial(found: Answer) -> tuple[str, str | None]:
    """The guard that denied, and the code that it gave."""
    denied = [g for g in found["explanation"]["guards"] if g["verdict"] == "denied"]
    assert len(denied) == 1
    return denied[0]["guard"], denied[0]["code"]


def latest(service: Service, **wanted: Any) -> str:
    """The newest decision: for answers that do not name theirs."""
    items = service.get("/v1/decisions", limit=1, **wanted).ok()["items"]
    decision_id: str = items[0]["decision_id"]
    return decision_id


def test_a_grant_passed_every_guard_in_order(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=DUE, customer_id=f"cus-{name}").ok()
    granted = service.remind(name).ok(201)
    service.put_invoice(name, due_on=DUE, amount_remaining=0, status="paid").ok()
    found = explained(service, granted)
    assert [g["guard"] for g in found["explanation"]["guards"]] == ORDER
    assert set(verdicts(found).values()) == {"passed"}
    assert found["code"] is None
    assert found["policy_text"]["outreach_per_day"] == 2
    state = found["explanation"]["state"]
    invoice = state["invoices"][0]
    assert (invoice["status"], invoice["amount_remaining"]) == ("open", 30_000)
    assert {s["stage"]: s["state"] for s in invoice["stages"]}["day-3"] == "due"
    assert state["customer"]["windows"]["outreach_24h"]["used"] == 0
    assert int(found["explanation"]["position"]) < int(found["position"])


def test_the_guard_that_denied_is_named_and_those_behind_it_were_not_judged(
    service: Service, name: str
) -> None:
    service.put_invoice(name, due_on=DUE).ok()
    permit = service.send("reminder", invoices=[name])
    found = explained(service, service.remind(name).no(409, "already_sent"))
    assert denial(found) == ("final_duplicate", "already_sent")
    told = verdicts(found)
    assert told["caller"] == "passed"
    assert {told[guard] for guard in ORDER[2:]} == {"not_judged"}
    stages = found["explanation"]["state"]["invoices"][0]["stages"]
    assert [s["permit_id"] for s in stages if s["stage"] == "day-3"] == [permit]


def test_facts_that_changed_later_change_no_explanation(service: Service, name: str) -> None:
    customer = f"cus-{name}"
    service.put_invoice(name, due_on=DUE).ok()
    service.fact("customer.hold", {"customer_id": customer, "reason": "promised"})
    held = service.remind(name).no(409, "on_hold")
    service.fact("customer.unhold", {"customer_id": customer, "reason": "promised"})
    pause = {"scope": f"sender:{service.name}-{name}", "reason": "a test"}
    service.post("/v1/control/pause", pause).ok()
    granted = service.remind(name).ok(201)
    gone = service.remind(name).no(409, "permit_held")
    service.advance(minutes=30)
    assert denial(explained(service, held)) == ("customer_hold", "on_hold")
    assert set(verdicts(explained(service, granted)).values()) == {"passed"}
    assert denial(explained(service, gone)) == ("live_permit", "permit_held")


def test_a_cap_that_opened_the_breaker_and_what_it_held_back(service: Service, name: str) -> None:
    customer = f"cus-{name}"
    for number in range(2):
        service.send("notification", customer_id=customer, event_type="x", event_id=f"{number}")
    asked = {"customer_id": customer, "event_type": "x"}
    capped = service.ask("notification", event_id="2", **asked).no(429, "cap_reached")
    closed = service.ask("notification", event_id="3", **asked).no(409, "breaker_open")
    service.post(f"/v1/customers/{customer}/breaker/reset", {"reason": "a test"}).ok()
    found = explained(service, capped)
    assert denial(found) == ("cap", "cap_reached")
    assert found["explanation"]["state"]["customer"]["windows"]["outreach_24h"]["used"] == 2
    assert found["explanation"]["state"]["customer"]["breaker"]["state"] == "closed"
    found = explained(service, closed)
    assert denial(found) == ("breaker", "breaker_open")
    assert found["explanation"]["state"]["customer"]["breaker"]["state"] == "open"


def test_each_invoice_of_a_reminder_has_verdicts_of_its_own(service: Service, name: str) -> None:
    paid, due = f"{name}-paid", f"{name}-due"
    for invoice in (paid, due):
        service.put_invoice(invoice, customer_id=f"cus-{name}", due_on=DUE).ok()
    service.put_invoice(
        paid, customer_id=f"cus-{name}", due_on=DUE, amount_remaining=0, status="paid"
    ).ok()
    found = explained(service, service.ask("reminder", invoices=[paid, due]).ok(201))
    about = {
        g["about"]: (g["verdict"], g["code"])
        for g in found["explanation"]["guards"]
        if g["guard"] == "outside_facts"
    }
    assert about == {paid: ("denied", "nothing_owed"), due: ("passed", None)}
    assert verdicts(found)["cap"] == "passed"
    assert [i["invoice_id"] for i in found["explanation"]["state"]["invoices"]] == [paid, due]


def test_mail_of_every_kind_is_explained(service: Service, name: str) -> None:
    customer, to = f"cus-{name}", f"{name}@example.com"
    said = {"thread_id": f"thr-{name}", "message_id": f"<{name}@x>", "direction": "inbound"}
    people = {"from": to, "to": "us@example.org", "at": "2026-12-01T00:00:00Z"}
    service.put_invoice(name, due_on=DUE, customer_id=f"owes-{name}").ok()
    mails: list[tuple[str, dict[str, Any]]] = [
        ("notification", {"to": to, "event_type": "shipped", "event_id": "1"}),
        ("digest", {"customer_id": f"dig-{name}", "inbox_id": "i", "date": "2026-12-01"}),
        ("follow_up", {"thread_id": f"up-{name}", "step": 1, "customer_id": f"up-{name}"}),
        ("message", {"thread_id": f"say-{name}", "intent": "hello", "to": f"new-{to}"}),
        ("payment_failed", {"invoice_id": name, "event_id": "e", "attempt_id": "a"}),
        (
            "reply",
            {
                "thread_id": said["thread_id"],
                "in_reply_to": said["message_id"],
                "message": said | people | {"customer_id": customer},
            },
        ),
    ]
    for kind, fields in mails:
        granted = service.ask(kind, **fields).ok(201)
        found = explained(service, granted)
        assert set(verdicts(found).values()) == {"passed"}, kind
        again = service.ask(kind, **fields).no(409, "permit_held")
        assert denial(explained(service, again)) == ("live_permit", "permit_held"), kind
        service.report(granted["permit_id"], "sent").ok()
        code = {"reply": "already_replied", "message": "duplicate_intent"}.get(kind, "already_sent")
        final = service.ask(kind, **fields).no(409, code)
        assert denial(explained(service, final)) == ("final_duplicate", code), kind
    assert to not in str(service.get("/v1/decisions", limit=200).ok().body)


def test_a_loop_is_explained(service: Service, name: str) -> None:
    thread = f"thr-{name}"
    answers = []
    for number in range(7):
        said = {
            "thread_id": thread,
            "message_id": f"<{number}-{name}@x>",
            "direction": "inbound",
            "customer_id": f"cus-{name}",
            "from": f"{name}@example.com",
            "to": "us@example.org",
            "at": "2026-12-01T00:00:00Z",
        }
        fields: dict[str, Any] = {"thread_id": thread, "in_reply_to": said["message_id"]}
        fields["message"] = said
        answers.append(service.ask("reply", **fields))
    assert [a.status for a in answers] == [201] * 5 + [429] * 2
    for looping in answers[5:]:
        found = explained(service, looping)
        assert denial(found) == ("cap", "loop_guard")
        assert len(found["explanation"]["state"]["thread"]["sends"]) == 5


def test_who_asked_is_part_of_the_explanation(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=DUE).ok()
    job = f"job-{name}"
    lease = {"holder": "me", "ttl_seconds": 60}
    token = service.post(f"/v1/jobs/{job}/lease", lease).ok()["token"]
    late = service.remind(name, job={"name": job, "token": token + 1}).no(409, "not_owner")
    found = explained(service, late)
    assert denial(found) == ("caller", "not_owner")
    service.send("reminder", invoices=[name], job={"name": job, "token": token})
    override = {"action_id": f"a-{name}", "by": "ann", "reason": f"ask {name}@example.com"}
    once = service.remind(name, override=override).ok(201)
    assert explained(service, once)["request"]["override"]["reason"] == "ask [address]"
    twice = service.remind(name, override=override).no(409, "already_sent")
    assert denial(explained(service, twice)) == ("caller", "already_sent")


def test_the_limits_of_a_key_are_part_of_the_explanation(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=DUE).ok()
    agent = service.client("send", kinds=["reply"])
    found = explained(service, agent.remind(name).no(403, "key_limit"))
    assert denial(found) == ("caller", "key_limit")
    others = service.client("send", customers=["somebody"])
    found = explained(service, others.remind(name).no(403, "key_limit"))
    assert denial(found) == ("key_limits", "key_limit")
    late = service.client("send", stages=["day-30"])
    found = explained(service, late.remind(name).no(403, "key_limit"))
    assert denial(found) == ("key_limits", "key_limit")
    explained(service, service.client("send", stages=["day-3"]).remind(name).ok(201))


def test_facts_that_were_forgotten_explain_the_answer(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=DUE).ok()
    sender = service.client("send")
    less = {"customer_id": f"cus-{name}", "currency": "USD", "total": 30_000, "status": "open"}
    refused = sender.remind(name, facts={name: less | {"amount_remaining": 100}})
    found = explained(service, refused.no(403, "riding_facts_refused"))
    assert denial(found) == ("riding_facts", "riding_facts_refused")
    paid = less | {"amount_remaining": 0, "status": "paid"}
    denied = sender.remind(name, facts={name: paid}).no(409, "nothing_owed")
    assert denied["riding_facts"] == "not_kept"
    assert denial(explained(service, denied)) == ("riding_facts", "nothing_owed")
    mute = service.client("send", riding="none")
    found = explained(service, mute.remind(name, facts={name: paid}))
    assert denial(found) == ("riding_facts", "riding_facts_refused")
    explained(service, sender.remind(name, facts={name: less | {"amount_remaining": 30_000}}))
    again = sender.remind(name, facts={name: less | {"amount_remaining": 30_000}})
    assert denial(explained(service, again.no(409, "permit_held")))[0] == "live_permit"


def test_answers_of_an_idempotency_key_are_explained_by_it(service: Service, name: str) -> None:
    sender = service.client("send")
    service.put_invoice(name, due_on=DUE).ok()
    granted = sender.remind(name, idem=f"k-{name}").ok(201)
    service.advance(seconds=1)
    sender.remind(name, idem=f"k-{name}").ok(200)
    replayed = explained(service, latest(service, sender=sender.name))
    assert denial(replayed) == ("idempotency_key", None)
    assert replayed["replayed"] is True
    other = sender.remind(name, "day-7", idem=f"k-{name}").no(422, "key_conflict")
    assert denial(explained(service, other)) == ("idempotency_key", "key_conflict")
    assert set(verdicts(explained(service, granted)).values()) == {"passed"}


def test_a_redeem_is_explained_step_by_step(service: Service, name: str) -> None:
    sender = service.client("send")
    for number in range(2):
        service.put_invoice(f"{name}-{number}", due_on=DUE).ok()
    first, second = (sender.remind(f"{name}-{n}").ok(201)["permit_id"] for n in range(2))
    service.advance(seconds=1)
    sender.redeem(first, attempt="once").ok()
    found = explained(service, latest(service, sender=sender.name))
    assert found["operation"] == "redeem"
    assert set(verdicts(found).values()) == {"passed"}
    assert list(verdicts(found)) == ["known", "granting_key", "state", "recovery", "facts_since"]
    assert found["explanation"]["state"]["permit"]["state"] == "granted"
    again = sender.redeem(first, attempt="twice").no(409, "already_redeemed")
    assert denial(explained(service, again)) == ("state", "already_redeemed")
    service.put_invoice(f"{name}-1", due_on=DUE, amount_remaining=0, status="paid").ok()
    revoked = sender.redeem(second).no(409, "revoked")
    found = explained(service, revoked)
    assert denial(found) == ("facts_since", "revoked")
    assert found["explanation"]["state"]["permit"]["state"] == "granted"
    later = sender.redeem(second).no(409, "revoked")
    assert denial(explained(service, later)) == ("state", "revoked")
    nobody = sender.redeem(str(uuid.uuid4())).no(404, "unknown_permit")
    assert denial(explained(service, nobody)) == ("known", "unknown_permit")
    service.advance(seconds=1)
    service.client("send").redeem(first).no(403, "forbidden")
    found = explained(service, latest(service))
    assert denial(found) == ("granting_key", "forbidden")


def test_claims_and_batches_are_explained(service: Service, name: str) -> None:
    for number in range(3):
        service.put_invoice(f"{name}-{number}", due_on="2026-11-20").ok()
    claimed = service.post("/v1/due/claim", {"limit": 1000}).ok()["permits"]
    mine = [p for p in claimed if p["items"][0]["invoice_id"].startswith(name)]
    assert len(mine) == 3
    for permit in mine:
        explained(service, permit["decision_id"])
    requests = [{"kind": "reminder", "invoices": [f"{name}-{n}"]} for n in range(3)]
    results = service.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    for result in results:
        found = explained(service, result["problem"]["decision_id"])
        assert denial(found) == ("live_permit", "permit_held")


def test_after_a_merge_decisions_of_before_are_explained(service: Service, name: str) -> None:
    old, new = f"old-{name}", f"new-{name}"
    mail = {"event_type": "x", "event_id": "1"}
    granted = service.ask("notification", customer_id=old, **mail).ok(201)
    service.report(granted["permit_id"], "sent").ok()
    service.fact("customer.observed", {"customer_id": new, "emails": []})
    service.fact("customer.merged", {"from": old, "into": new})
    final = service.ask("notification", customer_id=old, **mail).no(409, "already_sent")
    assert set(verdicts(explained(service, granted)).values()) == {"passed"}
    found = explained(service, final)
    assert denial(found) == ("final_duplicate", "already_sent")
    assert found["explanation"]["state"]["customer"]["merged"] == [old]


def test_a_person_reads_it_on_the_command_line(
    service: Service, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    service.put_invoice(name, due_on=DUE).ok()
    service.send("reminder", invoices=[name])
    denied = service.remind(name).no(409, "already_sent")
    env = {
        "LEDGER_DATABASE_URL": service.database,
        "LEDGER_DATA_DIR": str(tmp_path_factory.mktemp("cli")),
        "LEDGER_SECRET": "the secret of every service under test",
        "COLUMNS": "200",
    }
    done = CliRunner().invoke(main, ["explain", denied["decision_id"]], env=env)
    assert done.exit_code == 0, done.output
    for text in ("409 already_sent", f'"invoices": ["{name}"]', "final_duplicate", "DENIED"):
        assert text in done.output
    assert "does NOT" not in done.output
    assert '"amount_remaining"' not in done.output
    assert len(done.output.splitlines()) < 45
    whole = CliRunner().invoke(main, ["explain", denied["decision_id"], "--facts"], env=env)
    assert '"amount_remaining"' in whole.output
    missing = CliRunner().invoke(main, ["explain", str(uuid.uuid4())], env=env)
    assert missing.exit_code == 1
    assert "there is no decision" in missing.output


def test_a_decision_that_is_not_there(service: Service) -> None:
    service.get(f"/v1/decisions/{uuid.uuid4()}").no(404, "not_found")
    service.get("/v1/decisions/nothing").no(404, "not_found")


def test_every_decision_of_this_service_is_explained(shared_service: Service) -> None:
    """Whatever the tests of this file and others asked of it."""
    with psycopg.connect(shared_service.database) as connection:
        rows = connection.execute(
            "SELECT decision_id::text FROM decisions"
            " WHERE customer_id IS NULL OR customer_id NOT LIKE 'ledger-probe-%%'"
            " ORDER BY decision_id LIMIT 300"
        ).fetchall()
    assert len(rows) > 20
    reader: Client = shared_service
    wrong = []
    for (decision_id,) in rows:
        found = reader.get(f"/v1/decisions/{decision_id}").ok()
        if found["explanation"]["reproduced"] is not True:
            wrong.append((found["operation"], found["status"], found["code"], found["request"]))
    assert wrong == []
