"""One mail of each kind is lost in a restore: the guide is followed, and none goes out again (D13).

In three ways: the fields of each mail imported, delivery webhooks that know our Message-ID alone,
and the tokens that the mails carried.
"""

import csv
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from api.cli.main import main
from ledger.store.migrate import migrate
from tests.api.webhooks.posting import environment, signed_json
from tests.support.backups import dump, restore_dump
from tests.support.postgres import fresh_database, running_postgres
from tests.support.service import Answer, Service, running_service

BACKED_UP = "2026-03-30T07:30:00+00:00"
SENT = "2026-03-30T08:00:00+00:00"
RESTORED = "2026-03-30T09:00:00+00:00"
SECRET = "the secret of a ledger that is restored"
INCIDENT = {
    "title": "F1",
    "from": "2026-03-29T00:00:00Z",
    "to": "2026-03-30T00:00:00Z",
    "cause": "a loop",
}
FIELDS: dict[str, dict[str, Any]] = {
    "reminder": {"invoice_id": "inv-a", "stage": "day-3"},
    "payment_failed": {"invoice_id": "inv-b", "event_id": "evt-1", "attempt_id": "att-1"},
    "reply": {"thread_id": "thr-c", "in_reply_to": "<question@example.com>"},
    "notification": {"event_type": "shipped", "event_id": "ord-9"},
    "digest": {"inbox_id": "inb-1", "date": "2026-03-30"},
    "follow_up": {"thread_id": "thr-f", "step": 1},
    "message": {"thread_id": "thr-g", "intent": "welcome"},
    "apology": {},
}
CODES = dict.fromkeys(FIELDS, "already_sent") | {
    "reply": "already_replied",
    "message": "duplicate_intent",
    "apology": "apology_already_sent",
}
TOLD_BY_ITSELF = frozenset({"reminder", "payment_failed", "reply"})
"""Kinds whose request names no customer: the ledger knows whom the mail is for."""
Way = Callable[[Service, Path, dict[str, Answer]], None]


@dataclass(frozen=True)
class Lost:
    """A database with its backup, the grants that are not in it, and the witness that saw them."""

    database: str
    backup: Path
    witness: Path
    incident: str
    grants: dict[str, Answer]


def customer_of(kind: str) -> str:
    return f"cus-{kind}"


def ask(service: Service, kind: str, incident: str) -> Answer:
    """The request for the mail of that kind."""
    fields = dict(FIELDS[kind])
    if kind == "reminder":
        fields = {"invoices": [fields["invoice_id"]], "stage": fields["stage"]}
    elif kind == "apology":
        fields = {"incident_id": incident}
    if kind not in TOLD_BY_ITSELF:
        fields["customer_id"] = customer_of(kind)
    return service.ask(kind, **fields)


def tell(service: Service) -> str:
    """What the ledger knew before the backup; returns the incident's id."""
    for invoice_id, kind in (("inv-a", "reminder"), ("inv-b", "payment_failed")):
        service.put_invoice(
            invoice_id, customer_id=customer_of(kind), due_on="2026-03-26", total=10_000
        ).ok()
    question = {
        "thread_id": "thr-c",
        "message_id": "<question@example.com>",
        "direction": "inbound",
        "from": "pat@example.com",
        "customer_id": customer_of("reply"),
        "at": "2026-03-30T07:00:00Z",
    }
    service.fact("thread.message", question)
    service.fact("customer.observed", {"customer_id": customer_of("apology"), "emails": []})
    incident: str = service.post("/v1/incidents", INCIDENT).ok(201)["incident_id"]
    pause = {"scope": "sender:the-flood", "reason": "F1", "by": "ann"}
    service.post("/v1/control/pause", pause).ok()
    return incident


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lost]:
    """Backed up, then one mail of each kind sent. The server is durable: the guard check looks."""
    folder = tmp_path_factory.mktemp("lost")
    backup, witness = folder / "0730.dump", folder / "witness.json"
    env = {"LEDGER_WITNESS": str(witness), "LEDGER_SECRET": SECRET}
    with running_postgres() as server, fresh_database(server) as database:
        migrate(database)
        with running_service(database, BACKED_UP, env=env) as service:
            incident = tell(service)
            dump(database, backup)
            service.move_clock(SENT)
            grants = {kind: ask(service, kind, incident).ok(201) for kind in FIELDS}
            for grant in grants.values():
                service.report(grant["permit_id"], "sent").ok()
        yield Lost(database, backup, witness, incident, grants)


def import_the_fields(service: Service, folder: Path, grants: dict[str, Answer]) -> None:
    """By a log of what was sent that knows of each mail what its sender knows."""
    columns = {
        "kind": "kind", "invoice": "invoice_id", "stage": "stage", "event": "event_id",
        "event-type": "event_type", "attempt": "attempt_id", "inbox": "inbox_id", "date": "date",
        "thread": "thread_id", "step": "step", "intent": "intent", "in-reply-to": "in_reply_to",
        "incident": "incident_id", "customer": "customer_id", "at": "at", "id": "id",
    }  # fmt: skip
    path = folder / "sent.csv"
    incident = {"incident_id": service.get("/v1/incidents").ok()["items"][0]["incident_id"]}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns.values()))
        writer.writeheader()
        for kind, fields in FIELDS.items():
            told = fields | (incident if kind == "apology" else {})
            row = {"kind": kind, "customer_id": customer_of(kind), "at": SENT, "id": f"m-{kind}"}
            writer.writerow(row | told)
    options = [part for flag, name in columns.items() for part in (f"--{flag}", name)]
    env = {
        "LEDGER_DATABASE_URL": service.database,
        "LEDGER_SECRET": SECRET,
        "LEDGER_DATA_DIR": str(folder / "data"),
        "LEDGER_CONFIG": "",
        "LEDGER_WITNESS": str(folder / "witness.json"),
    }
    done = CliRunner().invoke(main, ["sends", "import", str(path), *options], env=env)
    assert done.exit_code == 0, done.output


def report_by_message_id(service: Service, folder: Path, grants: dict[str, Answer]) -> None:
    """By delivery webhooks of providers in turn that know the Message-ID and nothing else."""
    for number, grant in enumerate(grants.values()):
        mine = grant["message_id"]
        by_provider = {
            "mailgun": {
                "event-data": {
                    "event": "delivered",
                    "id": f"e{number}",
                    "timestamp": 1774857700.5,
                    "recipient": f"{number}@example.com",
                    "message": {"headers": {"message-id": mine.strip("<>")}},
                }
            },
            "sendgrid": [
                {
                    "event": "delivered",
                    "sg_event_id": f"e{number}",
                    "timestamp": 1774857700,
                    "email": f"{number}@example.com",
                    "smtp-id": mine,
                }
            ],
            "resend": {
                "type": "email.delivered",
                "created_at": "2026-03-30T08:01:40Z",
                "data": {"email_id": f"re_{number}", "message_id": mine, "to": ["x@example.com"]},
            },
        }
        post_in_turn(service, by_provider, number)


def report_by_token(service: Service, folder: Path, grants: dict[str, Answer]) -> None:
    """By delivery webhooks that hand back what the sender gave the provider with the mail."""
    for number, grant in enumerate(grants.values()):
        token = {"X-Ledger-Send": grant["send_token"]}
        by_provider = {
            "postmark": {
                "RecordType": "Delivery",
                "MessageID": f"pm-{number}",
                "Recipient": f"{number}@example.com",
                "DeliveredAt": "2026-03-30T08:01:40Z",
                "Metadata": token,
            },
            "resend": {
                "type": "email.delivered",
                "created_at": "2026-03-30T08:01:40Z",
                "data": {"email_id": f"re_{number}", "to": ["x@example.com"], "tags": token},
            },
            "sendgrid": [
                {
                    "event": "delivered",
                    "sg_event_id": f"e{number}",
                    "timestamp": 1774857700,
                    "sg_message_id": f"sg-{number}",
                }
                | token
            ],
            "mailgun": {
                "event-data": {
                    "event": "delivered",
                    "id": f"e{number}",
                    "timestamp": 1774857700.5,
                    "recipient": f"{number}@example.com",
                    "message": {"headers": {"message-id": f"{number}@mailgun.example"}},
                    "user-variables": token,
                }
            },
        }
        post_in_turn(service, by_provider, number)


def observe_tokens(service: Service, folder: Path, grants: dict[str, Answer]) -> None:
    """By facts of somebody who read the header of each mail in the folder of sent mail."""
    for kind, grant in grants.items():
        data = {"customer_id": customer_of(kind), "at": SENT, "send_token": grant["send_token"]}
        service.fact("send.observed", data)


def post_in_turn(service: Service, by_provider: dict[str, Any], number: int) -> None:
    provider = list(by_provider)[number % len(by_provider)]
    post = signed_json(provider, by_provider[provider], service.clock, f"d{number}")
    results = post.to(service).ok()["results"]
    assert [result["result"] for result in results] == ["applied"]


def resume(service: Service) -> None:
    """A human declares the gap filled, after a guard check."""
    check = service.post("/v1/control/guard-check").ok()
    assert check["passed"] is True, check.body
    proven = {"scope": "recovery", "guard_check_id": check["id"], "reason": "done", "by": "ann"}
    assert service.post("/v1/control/resume", proven).ok()["recovery"] is None


@pytest.mark.parametrize(
    "way",
    [import_the_fields, report_by_message_id, report_by_token, observe_tokens],
    ids=["import with fields", "Message-IDs", "tokens in webhooks", "tokens observed"],
)
def test_none_of_the_eight_kinds_goes_out_again(lost: Lost, tmp_path: Path, way: Way) -> None:
    restore_dump(lost.database, lost.backup)
    witness = tmp_path / "witness.json"
    shutil.copy(lost.witness, witness)
    env = environment() | {"LEDGER_WITNESS": str(witness), "LEDGER_SECRET": SECRET}
    with running_service(lost.database, RESTORED, env=env) as service:
        codes = {kind: ask(service, kind, lost.incident).code for kind in FIELDS}
        assert codes == dict.fromkeys(FIELDS, "recovery_mode")
        way(service, tmp_path, lost.grants)
        codes = {kind: ask(service, kind, lost.incident).code for kind in FIELDS}
        assert codes == CODES
        resume(service)
        codes = {kind: ask(service, kind, lost.incident).code for kind in FIELDS}
        assert codes == CODES
        service.advance(days=1)
        codes = {kind: ask(service, kind, lost.incident).code for kind in FIELDS}
        assert codes == CODES
        other = {"event_type": "shipped", "event_id": "another", "customer_id": "cus-other"}
        service.ask("notification", **other).ok(201)


def test_what_is_on_record_of_a_lost_mail_is_its_original(lost: Lost, tmp_path: Path) -> None:
    restore_dump(lost.database, lost.backup)
    witness = tmp_path / "witness.json"
    shutil.copy(lost.witness, witness)
    env = environment() | {"LEDGER_WITNESS": str(witness), "LEDGER_SECRET": SECRET}
    with running_service(lost.database, RESTORED, env=env) as service:
        grant = lost.grants["digest"]
        told = {"provider": "ses", "event": "delivered", "provider_message_id": "pm-1"}
        service.fact("delivery", told | {"send_token": grant["send_token"]}, time=SENT)
        denied = ask(service, "digest", lost.incident).no(409, "already_sent")
        assert denied["original"] == {
            "permit_id": grant["permit_id"],
            "sender": "observed:tests",
            "sent_at": "2026-03-30T08:00:00Z",
            "provider_message_id": "pm-1",
        }
        assert denied["permit_id"] == grant["permit_id"]
        resume(service)
        lost_reminder = lost.grants["reminder"]
        before = ask(service, "reminder", lost.incident).ok(201)["decision_id"]
        service.advance(minutes=1)
        service.fact("send.observed", observed(lost_reminder, "provider_idempotency_key"))
        service.report(before, "rejected").ok()
        after = ask(service, "reminder", lost.incident).no(409, "already_sent")["decision_id"]
        for decision_id, code in (
            (denied["decision_id"], "already_sent"),
            (before, None),
            (after, "already_sent"),
        ):
            told = service.get(f"/v1/decisions/{decision_id}").ok()["explanation"]
            assert told["reproduced"] is True, told
            assert [g["code"] for g in told["guards"] if g["verdict"] == "denied"] == (
                [code] if code else []
            )


def observed(grant: Answer, *names: str) -> dict[str, Any]:
    """The mail of a grant by what it carried under these names."""
    carried = {name: grant[name] for name in names}
    return {"customer_id": "cus-reminder", "at": SENT} | carried
