"""The story that the ledger was built for: a flood past it, and everything that cures it (D14)."""

import csv
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests.support.service import Answer, Client, Service, fresh_service

ROOT = Path(__file__).resolve().parents[2]
SECRET = "the secret of the founding story"
FLOOD_FROM = datetime(2026, 7, 14, 8, tzinfo=UTC)
FLOODED, MAILS = "C31", 400
DUE = {
    "INV-31a": ("C31", "2026-07-07", 12_000),
    "INV-31b": ("C31", "2026-07-05", 30_000),
    "INV-40": ("C40", "2026-07-10", 5_000),
    "INV-41": ("C41", "2026-07-14", 7_000),
}
"""Each invoice: whose it is, when it fell due, and its total."""


@pytest.fixture
def service(durable_postgres: str) -> Iterator[Service]:
    """A service of two workers, on the day before the flood."""
    env = {"LEDGER_SECRET": SECRET}
    with fresh_service(durable_postgres, "2026-07-13T09:00:00Z", workers=2, env=env) as service:
        yield service


@dataclass
class Poller:
    """A dunning program that asks first, mails what it may, and says what became of it."""

    client: Client
    mailed: list[tuple[str, str, str]] = field(default_factory=list)
    denied: list[tuple[str, str]] = field(default_factory=list)

    def run(self) -> None:
        """One cycle: every invoice, whatever happened before."""
        for invoice_id in DUE:
            answer = self.client.remind(invoice_id)
            if answer.status == 201:
                self.client.redeem(answer["permit_id"]).ok()
                self.client.report(answer["permit_id"], "sent").ok()
                stages = [(i["invoice_id"], i["stage"]) for i in answer["items"]]
                self.mailed += [(answer["customer_id"], *pair) for pair in stages]
            else:
                self.denied.append((invoice_id, str(answer.code)))


def imported(service: Service, log: Path) -> str:
    """Take the provider's sent log in, on the command line, beside the running service."""
    columns = ["--customer", "customer", "--invoice", "invoice", "--at", "sent", "--id", "id"]
    done = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "sends", "import", str(log), *columns],
        cwd=ROOT,
        env=os.environ
        | {
            "LEDGER_DATABASE_URL": service.database,
            "LEDGER_SECRET": SECRET,
            "LEDGER_DATA_DIR": str(log.parent),
            "LEDGER_CONFIG": "",
        },
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent_log(path: Path) -> Path:
    """What the provider says it sent: one customer, the same mail every 216 seconds for a day."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "customer", "invoice", "sent"])
        for number in range(MAILS):
            at = FLOOD_FROM + timedelta(seconds=216 * number)
            writer.writerow([f"pm_{number}", FLOODED, "INV-31a", at.isoformat()])
    return path


def race(service: Service, senders: list[Client], incident_id: str, tries: int) -> list[Answer]:
    """Every sender asks for the apology several times at once, each time on its own connection."""
    answers: list[Answer] = []
    start = threading.Barrier(len(senders) * tries)

    def ask(sender: Client, number: int) -> None:
        with httpx.Client(base_url=service.http.base_url, timeout=30) as http:
            client = Client(http, sender.key)
            http.get("/healthz")
            start.wait(30)
            asked = {"incident_id": incident_id, "customer_id": FLOODED}
            answers.append(client.ask("apology", idem=f"{sender.name}-{number}", **asked))

    threads = [
        threading.Thread(target=ask, args=(sender, n)) for sender in senders for n in range(tries)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(answers) == len(threads)
    return answers


def test_a_flood_and_its_cure(service: Service, tmp_path: Path) -> None:
    senders = [service.client("send", name=f"worker-{n}") for n in (1, 2)]
    pollers = [Poller(sender) for sender in senders]
    for invoice_id, (customer_id, due_on, total) in DUE.items():
        service.put_invoice(
            invoice_id, customer_id=customer_id, due_on=due_on, total=total, currency="EUR"
        ).ok()
    for poller in pollers:
        poller.run()
    mailed = pollers[0].mailed + pollers[1].mailed
    assert sorted(mailed) == [
        ("C31", "INV-31a", "day-3"),
        ("C31", "INV-31b", "day-7"),
        ("C40", "INV-40", "day-3"),
    ]

    # A bug in another program: 400 mails in a day, past the ledger.
    service.move_clock("2026-07-15T08:05:00Z")
    log = sent_log(tmp_path / "sent.csv")
    assert re.search(rf"mails past the ledger +{MAILS}\b", imported(service, log))
    again = imported(service, log)
    assert re.search(rf"known already +{MAILS}\b", again)
    assert service.breaker(FLOODED) == "open"
    assert service.stages("INV-31a") == {"day-3": "sent", "day-7": "sent", "day-14": "pending"}
    assert len(service.alerts("breaker_opened", FLOODED)) == 1
    window = service.get(f"/v1/customers/{FLOODED}").ok()["windows"]["outreach_24h"]
    assert window["used"] > 390

    service.move_clock("2026-07-15T08:10:00Z")
    pause = {"scope": "all", "reason": "a flood of reminders", "by": "ann"}
    service.post("/v1/control/pause", pause).ok()
    declared = {
        "title": "Customers got reminders again and again",
        "cause": "an exception in the dunning run sent it back to its start",
        "from": "2026-07-14T00:00:00Z",
        "to": "2026-07-15T08:10:00Z",
    }
    incident_id = service.post("/v1/incidents", declared).ok(201)["incident_id"]
    path = f"/v1/incidents/{incident_id}"
    affected = service.get(f"{path}/affected").ok()["items"]
    assert [(a["customer_id"], a["mails"], a["observed"]) for a in affected] == [
        (FLOODED, MAILS, MAILS)
    ]

    # A part payment comes in before the apology: its statement must know.
    service.move_clock("2026-07-15T08:20:00Z")
    payment = {"invoice_id": "INV-31b", "payment_id": "p", "amount": 25_000, "state": "succeeded"}
    service.fact("invoice.payment", payment)
    service.move_clock("2026-07-15T08:30:00Z")
    answers = race(service, senders, incident_id, 8)
    assert Counter(a.code or "granted" for a in answers) == {"granted": 1, "permit_held": 15}
    apology = next(a for a in answers if a.status == 201)
    assert apology["statement"]["owed"] == [
        {"currency": "EUR", "amount": 17_000, "formatted": "€170.00"}
    ]
    assert [
        (line["invoice_id"], line["amount_remaining"])
        for line in apology["statement"]["open_invoices"]
    ] == [("INV-31a", 12_000), ("INV-31b", 5_000)]
    service.redeem(apology["permit_id"]).ok()
    service.report(apology["permit_id"], "sent").ok()

    # Everything else waits for a human.
    service.move_clock("2026-07-15T08:31:00Z")
    pollers[0].denied.clear()
    pollers[0].run()
    assert pollers[0].mailed + pollers[1].mailed == mailed
    assert dict(pollers[0].denied) == {
        "INV-31a": "already_sent",
        "INV-31b": "already_sent",
        "INV-40": "already_sent",
        "INV-41": "not_reached",
    }
    blocked = {"event_type": "receipt", "event_id": "1", "customer_id": "C40"}
    senders[0].ask("notification", **blocked).no(409, "paused")
    service.move_clock("2026-07-16T09:00:00Z")
    asked = {"incident_id": incident_id, "customer_id": FLOODED}
    senders[1].ask("apology", **asked).no(409, "apology_already_sent")

    check = service.post("/v1/control/guard-check").ok()
    assert check["passed"] is True, check["checks"]
    resume = {"scope": "all", "reason": "the bug is mended", "guard_check_id": check["id"]}
    service.post("/v1/control/resume", resume | {"by": "bob"}).ok()
    reset = {"reason": "they had their apology", "by": "bob"}
    service.post(f"/v1/customers/{FLOODED}/breaker/reset", reset).ok()
    service.post(f"{path}/close", {"by": "bob"}).ok()

    # Half a month on: the normal stages, each once, and not one more apology. The flood's mails
    # stand for day-7 of the invoice that they were about.
    for _ in range(15):
        service.advance(days=1)
        for poller in pollers:
            poller.run()
    everything = pollers[0].mailed + pollers[1].mailed
    assert sorted(everything) == [
        ("C31", "INV-31a", "day-14"),
        ("C31", "INV-31a", "day-3"),
        # A sixth of it is still owed: too little for day-14.
        ("C31", "INV-31b", "day-7"),
        ("C40", "INV-40", "day-14"),
        ("C40", "INV-40", "day-3"),
        ("C40", "INV-40", "day-7"),
        ("C41", "INV-41", "day-14"),
        ("C41", "INV-41", "day-3"),
        ("C41", "INV-41", "day-7"),
    ]
    for sender in senders:
        sender.ask("apology", **asked).no(409, "apology_already_sent")
    permits = service.get("/v1/permits", state="sent", limit=1000).ok()["items"]
    apologies = [p["customer_id"] for p in permits if p["kind"] == "apology"]
    assert apologies == [FLOODED]

    report = service.call("GET", f"{path}/report", headers={"accept": "text/markdown"}).ok().text
    told = [line for line in report.splitlines() if line.startswith("| 2026")]
    story = (
        "The first mail too many went out, to customer C31",
        "A breaker opened (customer C31)",
        "ann paused all: a flood of reminders",
        "first declared the incident",
        "The first apology was made",
        "A guard check passed",
        "bob resumed all: the bug is mended",
        "bob closed the incident",
    )
    found = [next(i for i, line in enumerate(told) if text in line) for text in story]
    assert found == sorted(found)
