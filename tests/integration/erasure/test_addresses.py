"""No address outside `contacts` and kept bodies, whatever is asked; none there once erased."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict

from api.cli.main import main
from ledger.store.looking_back.audit import verify
from tests.support.addresses import dumped, holding, tables_holding
from tests.support.postgres import superuser
from tests.support.service import Service, fresh_service

DUE = "2026-11-20"
AT = "2026-12-01T00:00:00Z"
_BASIC = {"authorization": "Basic " + base64.b64encode(b"u:p").decode()}
_KEPT = {"contacts", "rejected_bodies"}
_FORMS = (
    "pat.{}@customer.example",
    "Kim+{}@Mixed.Example",
    "jürgen.{}@bücher.example",
    "ox-{}@sub.domain.example",
    "{}@x.example",
)


class Addresses:
    """Makes addresses, each for one use, and remembers them all."""

    def __init__(self) -> None:
        self.used: list[str] = []

    def new(self) -> str:
        """An address that nobody has used."""
        number = len(self.used)
        address = _FORMS[number % len(_FORMS)].format(f"a{number:03d}")
        self.used.append(address)
        return address

    def text(self) -> str:
        """What a person might write, with an address in it."""
        return f"wrote to <{self.new()}>, also {self.new()} and mailto:{self.new()}"


@pytest.fixture(scope="module")
def run(postgres: str) -> Iterator[tuple[Service, Addresses]]:
    """A service that has been asked for everything, and the addresses that were used."""
    env = {"LEDGER_WEBHOOK_POSTMARK_SECRET": "u:p", "LEDGER_ALERT_URLS": "json://127.0.0.1:9/x"}
    with fresh_service(postgres, AT, env=env) as service:
        addresses = Addresses()
        tell_facts(service, addresses)
        ask_for_permits(service, addresses)
        act_as_people(service, addresses)
        ask_what_is_refused(service, addresses)
        post_webhooks(service, addresses)
        read_everything(service)
        service.advance(hours=1)
        yield service, addresses


def said(number: int, addresses: Addresses, **more: Any) -> dict[str, Any]:
    """A message of a thread."""
    return {
        "thread_id": f"thr-{number}",
        "message_id": f"<m{number}@mail.invalid>",
        "direction": "inbound",
        "from": addresses.new(),
        "to": addresses.new(),
        "at": AT,
        "headers": {"From": addresses.new(), "Reply-To": addresses.new()},
    } | more


def tell_facts(service: Service, addresses: Addresses) -> None:
    for number in range(4):
        fields = {"customer_id": f"cus-{number}", "due_on": DUE, "email": addresses.new()}
        meant = {"metadata": {"trace": addresses.text()}}
        service.put_invoice(f"inv-{number}", idem=f"put-{number}", **fields, **meant).ok()
        service.put_invoice(f"inv-{number}", idem=f"put-{number}", **fields, **meant).ok()
    emails = [addresses.new() for _ in range(3)]
    service.fact("customer.observed", {"customer_id": "cus-0", "emails": emails})
    service.fact("customer.observed", {"customer_id": "cus-9", "emails": emails[:1]})
    service.fact("thread.message", said(0, addresses, customer_id="cus-0"))
    service.fact("thread.message", said(1, addresses))
    outbound = said(2, addresses, direction="outbound")
    service.fact("thread.message", outbound)
    service.fact("invoice.hold", {"invoice_id": "inv-3", "reason": addresses.new()})
    held = {"customer_id": "cus-3", "reason": f"see {addresses.new()}"}
    service.fact("customer.hold", held)
    service.fact("customer.unhold", held)
    service.fact("customer.merged", {"from": "cus-1", "into": "cus-0"})
    service.post("/v1/facts", {"facts": [{"id": addresses.new(), "type": addresses.new()}]}).ok()


def ask_for_permits(service: Service, addresses: Addresses) -> None:
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("reminder", {"invoices": ["inv-0"]}),
        ("payment_failed", {"invoice_id": "inv-2", "event_id": "e1"}),
        ("notification", {"to": addresses.new(), "event_type": "x", "event_id": "1"}),
        ("digest", {"to": addresses.new(), "inbox_id": "i", "date": "2026-12-01"}),
        ("follow_up", {"thread_id": "up-1", "step": 1, "to": addresses.new()}),
        ("message", {"thread_id": "say-1", "intent": "hello", "to": addresses.new()}),
        ("reply", {"thread_id": "thr-1", "in_reply_to": "<m1@mail.invalid>"}),
    ]
    for number, (kind, fields) in enumerate(kinds):
        meant = {"metadata": {"trace": addresses.text(), "to": addresses.new()}}
        granted = service.ask(kind, idem=f"k{number}", **fields, **meant).ok(201)
        assert "@" in granted["to"]
        service.ask(kind, idem=f"other-{number}", **fields, **meant)
        permit_id = granted["permit_id"]
        attempt = {"attempt": f"try-{number}", "metadata": {"by": addresses.new()}}
        service.post(f"/v1/permits/{permit_id}/redeem", attempt).ok()
        detail = {"detail": f"550 5.1.1 <{addresses.new()}>: no such user"}
        outcome = ("sent", "rejected", "unknown")[number % 3]
        service.report(permit_id, outcome, **detail, metadata={"to": addresses.new()}).ok()
    riding = {"customer_id": "cus-r", "currency": "USD", "total": 5, "amount_remaining": 5}
    riding |= {"status": "open", "due_on": DUE, "email": addresses.new()}
    service.ask("reminder", invoices=["inv-r"], facts={"inv-r": riding}).ok(201)
    message = said(5, addresses)
    reply = {"thread_id": "thr-5", "in_reply_to": message["message_id"], "message": message}
    service.ask("reply", **reply, to=addresses.new()).ok(201)
    repeat = {"action_id": "a1", "by": addresses.new(), "reason": addresses.text()}
    service.ask("reminder", invoices=["inv-2"], override=repeat).ok(201)
    batch = {"kind": "notification", "event_type": "x", "event_id": "b"}
    both = [batch | {"to": addresses.new()}, batch | {"to": addresses.new()[:-8] + "@@"}]
    service.post("/v1/permits/batch", {"requests": both}, key="batch").ok()
    service.put_invoice("inv-c", customer_id="cus-c", due_on=DUE, email=addresses.new()).ok()
    for _ in range(2):
        service.post("/v1/due/claim", {"limit": 10}, key="claim").ok()


def act_as_people(service: Service, addresses: Addresses) -> None:
    why = {"reason": addresses.text(), "by": addresses.new(), "metadata": {"x": addresses.new()}}
    for number in range(3):
        service.ask("notification", customer_id="cus-0", event_type="y", event_id=f"{number}")
    service.post("/v1/customers/cus-0/breaker/reset", why, key="reset").ok()
    service.post("/v1/breakers/reset", why | {"customer_ids": ["cus-0"]}).ok()
    bounce = {"provider": "resend", "event": "bounced", "provider_message_id": "pm"}
    permit = service.send("notification", customer_id="cus-2", event_type="z", event_id="1")
    service.report(permit, "sent", provider_message_id="pm").ok()
    service.fact("delivery", bounce)
    service.post("/v1/customers/cus-2/addresses/release", why).ok()
    service.post("/v1/control/pause", why | {"scope": "kind:digest"}).ok()
    service.post("/v1/control/guard-check").ok()
    service.post("/v1/control/resume", why | {"scope": "kind:digest", "guard_check_id": "no"})
    incident = why | {"title": addresses.text(), "cause": addresses.text()}
    incident |= {"from": "2026-11-30T00:00:00Z", "to": AT}
    del incident["reason"]
    made = service.post("/v1/incidents", incident).ok(201)["incident_id"]
    service.ask("apology", incident_id=made, customer_id="cus-2").ok(201)
    service.post(f"/v1/incidents/{made}/close", {"by": addresses.new()}).ok()
    alert = service.alerts("breaker_opened")[0]["alert_id"]
    service.post(f"/v1/alerts/{alert}/ack", {"by": addresses.new()}).ok()


def ask_what_is_refused(service: Service, addresses: Addresses) -> None:
    """Bodies, paths, queries and headers that are wrong, each with an address in it."""
    for body in (
        {"kind": "notification", "to": addresses.new(), "event_type": "x"},
        {"kind": addresses.new()},
        {"kind": "reminder", "invoices": ["inv-0"], addresses.new(): 1},
        {
            "kind": "digest",
            "to": f"two {addresses.new()}",
            "inbox_id": "i",
            "date": addresses.new(),
        },
    ):
        service.post("/v1/permits", body).no(422, "invalid_request")
    service.post("/v1/permits", content=f'{{"to": "{addresses.new()}"').no(422, "invalid_request")
    service.get(f"/v1/customers/{addresses.new()}").no(404, "unknown_customer")
    service.get(f"/v1/nothing/{addresses.new()}").no(404, "not_found")
    service.get("/v1/decisions", customer_id=addresses.new(), cursor=addresses.new())
    service.call("GET", "/v1/due", headers={"authorization": f"Bearer {addresses.new()}"})
    service.ask("reminder", invoices=["inv-0"], idem=f"key of {addresses.new()}")
    service.put_invoice("inv-bad", email=f"not {addresses.new()}").no(422, "invalid_request")


def post_webhooks(service: Service, addresses: Addresses) -> None:
    bounce: dict[str, Any] = {"RecordType": "Bounce", "Type": "HardBounce", "MessageID": "pm-1"}
    bounce |= {"Email": addresses.new(), "From": addresses.new(), "BouncedAt": AT, "ID": 1}
    inbound: dict[str, Any] = {"From": addresses.new(), "To": addresses.new(), "Headers": []}
    for body in (bounce, inbound, {"RecordType": addresses.new()}):
        text = json.dumps(body)
        service.call("POST", "/v1/webhooks/postmark", content=text, headers=_BASIC).ok()
    broken = f"{addresses.new()} is no JSON"
    service.call("POST", "/v1/webhooks/postmark", content=broken, headers=_BASIC).ok()
    wrong = {"authorization": "Basic " + base64.b64encode(addresses.new().encode()).decode()}
    service.call("POST", "/v1/webhooks/postmark", content="{}", headers=wrong).no(
        400, "bad_signature"
    )


def read_everything(service: Service) -> None:
    for path in ("due", "decisions", "events", "alerts", "permits", "customers/cus-0"):
        service.get(f"/v1/{path}").ok()
    service.get("/v1/customers/cus-0/timeline", limit=1000).ok()
    service.get("/metrics").ok()


def logs_of(service: Service) -> dict[str, str]:
    """Everything that the service and its database server wrote."""
    folder = Path(str(conninfo_to_dict(service.database)["host"])).parent
    files = {
        "service": Path(f"/proc/{service.pid}/fd/2"),
        "output": Path(f"/proc/{service.pid}/fd/1"),
        "postgres": folder / "postgres.log",
    }
    return {name: path.read_text(errors="replace") for name, path in files.items()}


def answers_of_audits(service: Service) -> str:
    """What those who look back may read."""
    paths = ("/v1/decisions", "/v1/events", "/v1/alerts", "/v1/incidents")
    told = [service.get(path, limit=1000).ok().text for path in paths]
    told += [
        service.get(f"/v1/customers/cus-{number}/timeline", limit=1000).ok().text
        for number in (0, 2, 3)
    ]
    for row in service.get("/v1/decisions", limit=1000).ok()["items"]:
        told.append(service.get(f"/v1/decisions/{row['decision_id']}").ok().text)
    return "\n".join(told)


def test_an_address_is_found_wherever_it_is_put(run: tuple[Service, Addresses]) -> None:
    """The search itself: a plain one, one in bytes, and one in base64, in other tables."""
    service, _ = run
    told = base64.b64encode(b'{"to": "somebody.else@x.example"}')
    with psycopg.connect(service.database) as connection:
        for name, value in (("a", "Somebody.Else@x.example"), ("b", told.decode())):
            connection.execute("INSERT INTO settings VALUES (0, %s, %s)", [name, value])
        connection.execute(
            "INSERT INTO idempotency (partition, scope, fingerprint, body, created_at)"
            " VALUES (0, 'x', 'x', %s, now())",
            [b"to somebody.else@x.example"],
        )
        connection.commit()
        try:
            found = tables_holding(service.database, ["somebody.else@x.example"])
        finally:
            connection.execute("DELETE FROM settings WHERE name IN ('a', 'b')")
            connection.execute("DELETE FROM idempotency WHERE scope = 'x'")
    assert set(found) == {"settings", "idempotency"}


def test_only_contacts_and_kept_bodies_hold_an_address(run: tuple[Service, Addresses]) -> None:
    service, addresses = run
    assert len(addresses.used) > 100
    found = tables_holding(service.database, addresses.used)
    assert set(found) == _KEPT, {name: held for name, held in found.items() if name not in _KEPT}
    assert len(found["contacts"]) > 15
    assert len(found["rejected_bodies"]) >= 2


def test_the_planner_keeps_no_address_as_a_sample(run: tuple[Service, Addresses]) -> None:
    """Its samples outlive the rows, and PostgreSQL 18 writes them into dumps."""
    service, addresses = run
    with superuser(service.database, str(conninfo_to_dict(service.database)["dbname"])) as db:
        db.execute("ANALYZE")
        samples = dumped(db, "pg_catalog", "pg_statistic")
        analysed = db.execute(
            "SELECT count(*) FROM pg_stats WHERE tablename = 'contacts' AND attname = 'customer_id'"
        ).fetchone()
    assert analysed == (1,)
    assert holding(samples, addresses.used) == set()


def test_no_log_and_no_audit_tells_an_address(run: tuple[Service, Addresses]) -> None:
    service, addresses = run
    logs = logs_of(service)
    assert "database system is ready" in logs["postgres"]
    for name, text in logs.items():
        assert holding(text, addresses.used) == set(), name
    assert holding(answers_of_audits(service), addresses.used) == set()


def test_erasure_takes_addresses_away_and_nothing_else(run: tuple[Service, Addresses]) -> None:
    """By HTTP and the command line; under a merged id too; the log, counts and windows stay."""
    service, addresses = run
    before = kept_of(service)
    assert service.get("/v1/customers/cus-0").ok()["addresses"]
    windows = service.get("/v1/customers/cus-0").ok()["windows"]
    erased = service.post("/v1/customers/cus-1/erase", {"by": "ann"}, key="erase").ok()
    assert (erased["customer_id"], erased["customers"]) == ("cus-0", ["cus-0", "cus-1"])
    again = service.post("/v1/customers/cus-1/erase", {"by": "ann"}, key="erase").ok()
    assert again.body == erased.body
    customer = service.get("/v1/customers/cus-0").ok()
    assert (customer["addresses"], customer["windows"]) == ([], windows)

    for customer_id in customers_with_contacts(service):
        done = CliRunner().invoke(main, ["erase", customer_id, "--by", "ann"], env=env_of(service))
        assert done.exit_code == 0, done.output
    found = tables_holding(service.database, addresses.used)
    assert set(found) == {"rejected_bodies"}

    after = kept_of(service)
    assert after["events"][: len(before["events"])] == before["events"]
    new = after["events"][len(before["events"]) :]
    assert {topic for _, _, topic in new} == {"ledger:Customer.Erased"}
    assert after["counts"] == before["counts"]
    assert verify(service.database).ok
    granted = service.ask("notification", customer_id="cus-new", event_type="x", event_id="1")
    assert granted.ok(201)["to"] is None


def test_somebody_who_is_not_known_cannot_be_erased(run: tuple[Service, Addresses]) -> None:
    service, _ = run
    service.post("/v1/customers/nobody/erase").no(404, "unknown_customer")
    done = CliRunner().invoke(main, ["erase", "nobody"], env=env_of(service))
    assert done.exit_code == 1
    assert "customer nobody is not known" in done.output


def env_of(service: Service) -> dict[str, str]:
    folder = Path(f"/proc/{service.pid}/fd/2").readlink().parent
    return {
        "LEDGER_DATABASE_URL": service.database,
        "LEDGER_DATA_DIR": str(folder),
        "LEDGER_SECRET": "the secret of every service under test",
        "LEDGER_CONFIG": "",
    }


def customers_with_contacts(service: Service) -> list[str]:
    with psycopg.connect(service.database) as connection:
        rows = connection.execute("SELECT DISTINCT customer_id FROM contacts").fetchall()
    return [row[0] for row in rows]


def kept_of(service: Service) -> dict[str, Any]:
    """What an erasure must leave as it is."""
    tables = ("decisions", "permits", "names", "invoice_owners", "alerts", "idempotency")
    with psycopg.connect(service.database) as connection:
        events = connection.execute(
            "SELECT position, hash, topic FROM events ORDER BY position"
        ).fetchall()
        counts = {}
        for table in tables:
            row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            counts[table] = row[0] if row else None
    # Its own answer is kept under the Idempotency-Key that it came with.
    del counts["idempotency"]
    return {"events": events, "counts": counts}
