"""Runs the demo: a scripted scenario on a temporary ledger with a test clock, then serves it."""

import contextlib
import logging
import os
import shutil
import signal
import socket
import tempfile
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any

from rich.console import Console
from rich.table import Table

from api.demo.client import DemoClient
from api.process.serving import Started, serve
from api.settings.environment import load_settings

_SECRET = "whsec_demo"
_START = datetime.fromisoformat("2019-06-09T07:00:00+00:00")
_FIRST_INVOICE, _FIRST_AMOUNT = "in_1EjKuzHuGUuNWDDZmFUP3FxU", 3000
_SECOND_INVOICE = "in_example_0001"
_OPEN_INVOICE = "INV-TRY"
_FLOOD = 400


@dataclass
class Story:
    """The scenario: it calls the service over HTTP like any sender and prints what happens."""

    client: DemoClient
    console: Console = field(default_factory=lambda: Console(highlight=False))

    def tell(self) -> None:
        """Run all steps; takes a few seconds."""
        self._two_pollers()
        self._paid_and_reopened()
        self._mostly_paid()
        self._flood()
        self._leave_one_due()

    def _two_pollers(self) -> None:
        self._say("1. Two pollers ask twice a day, from day 1 to day 15 past due")
        self._replay("invoice.updated.opened.v2019", _START)
        due_on = datetime.fromisoformat("2019-07-09T08:00:00+00:00")
        table = Table("day", "date", "first run", "second run", box=None, pad_edge=False)
        repeats = 0
        for day in range(1, 16):
            morning = due_on + timedelta(days=day)
            pollers = ("poller-a", "poller-b") if day % 2 else ("poller-b", "poller-a")
            first = self._poll(morning, pollers[0]) + self._poll(morning, pollers[1])
            evening = morning + timedelta(hours=8)
            second = self._poll(evening, pollers[0]) + self._poll(evening, pollers[1])
            repeats += len(second)
            table.add_row(
                str(day), f"{morning:%Y-%m-%d}", ", ".join(first) or "-", ", ".join(second) or "-"
            )
        self.console.print(table)
        self._say(f"   grants on every second run: {repeats}")

    def _paid_and_reopened(self) -> None:
        self._say("2. Paid, it falls silent; taken back by the bank, it starts cycle 2")
        paid_at = datetime.fromisoformat("2019-07-26T10:00:00+00:00")
        self.client.set_clock(paid_at)
        self._payment("succeeded", paid_at)
        self._say(f"   after the payment: {self._ask(_FIRST_INVOICE)}")
        back_at = paid_at + timedelta(days=20)
        self.client.set_clock(back_at)
        self._payment("reversed", back_at)
        granted = self._poll(back_at + timedelta(days=3), "poller-a")
        again = self._poll(back_at + timedelta(days=3, hours=8), "poller-b")
        self._say(
            f"   3 days after the bank took it back: {', '.join(granted)}; again: {again or '-'}"
        )

    def _mostly_paid(self) -> None:
        self._say("3. A due date moved by the biller, and a customer who paid 80 %")
        for name, at in (
            ("invoice.overdue.constructed", "2026-10-22T14:13:30+00:00"),
            ("invoice.updated.due_date_changed.constructed", "2026-10-23T14:13:30+00:00"),
            ("invoice.updated.partially_paid.constructed", "2026-10-24T14:13:30+00:00"),
        ):
            self._replay(name, datetime.fromisoformat(at))
        due_on = datetime.fromisoformat("2026-11-05T08:00:00+00:00")
        granted: list[str] = []
        for day in range(1, 16):
            granted += self._poll(due_on + timedelta(days=day), "poller-a", _SECOND_INVOICE)
        self._say(
            f"   granted: {', '.join(granted)}; day-14: {self._ask(_SECOND_INVOICE, 'day-14')}"
        )

    def _flood(self) -> None:
        self._say(f"4. A bug asks for {_FLOOD} mails to one customer at once")
        self.client.set_clock(datetime.fromisoformat("2026-11-25T08:00:00+00:00"))
        requests = [
            {
                "kind": "notification",
                "customer_id": "cus_flooded",
                "event_type": "flood",
                "event_id": str(number),
            }
            for number in range(_FLOOD)
        ]
        _, answer = self.client.call("POST", "/v1/permits/batch", {"requests": requests})
        grants = sum(result["status"] == 201 for result in answer["results"])
        _, customer = self.client.call("GET", "/v1/customers/cus_flooded")
        _, alerts = self.client.call("GET", "/v1/alerts?kind=breaker_opened")
        mine = [a for a in alerts["items"] if a["customer_id"] == "cus_flooded"]
        self._say(f"   {grants} grants, breaker {customer['breaker']['state']}, {len(mine)} alert")

    def _leave_one_due(self) -> None:
        """Make an invoice without a permit, for the user to try."""
        snapshot = {
            "customer_id": "cus_try",
            "email": "pat@example.com",
            "currency": "USD",
            "total": 12_000,
            "amount_remaining": 12_000,
            "status": "open",
            "due_on": "2026-11-20",
        }
        self.client.call("PUT", f"/v1/invoices/{_OPEN_INVOICE}", snapshot)

    def _poll(self, at: datetime, poller: str, invoice_id: str = "") -> list[str]:
        """One run of a poller: claim, redeem, send, report; returns what was granted."""
        self.client.set_clock(at)
        _, claimed = self.client.call("POST", "/v1/due/claim", {"limit": 100})
        granted = []
        for permit in claimed["permits"]:
            path = f"/v1/permits/{permit['permit_id']}"
            status, _ = self.client.call("POST", f"{path}/redeem", {"attempt": poller})
            if status == 200:
                self.client.call("POST", f"{path}/outcome", {"outcome": "sent"})
                granted += [
                    f"{item['stage']} cycle {item['cycle']} ({poller})"
                    for item in permit["items"]
                    if item["invoice_id"].startswith(invoice_id)
                ]
        return granted

    def _ask(self, invoice_id: str, stage: str | None = None) -> str:
        body: dict[str, Any] = {"kind": "reminder", "invoices": [invoice_id]}
        if stage is not None:
            body["stage"] = stage
        status, answer = self.client.call("POST", "/v1/permits", body)
        return "granted" if status == 201 else f"denied ({answer['code']})"

    def _payment(self, state: str, at: datetime) -> None:
        data = {
            "invoice_id": _FIRST_INVOICE,
            "payment_id": "py_demo",
            "amount": _FIRST_AMOUNT,
            "state": state,
        }
        fact = {
            "id": f"demo-{state}",
            "source": "demo",
            "type": "invoice.payment",
            "time": at.isoformat(),
            "data": data,
        }
        self.client.call("POST", "/v1/facts", {"facts": [fact]})

    def _replay(self, name: str, at: datetime) -> None:
        body = (files("api.demo") / "bodies" / f"{name}.json").read_bytes()
        self.client.set_clock(at)
        status, answer = self.client.stripe(body, _SECRET, at)
        results = ", ".join(r["result"] for r in answer["results"]) if status == 200 else answer
        self._say(f"   Stripe webhook {name}: {status} {results or answer.get('ignored')}")

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)


def run_demo(port: int, once: bool) -> None:
    """Serve a temporary ledger, run the scenario, and keep serving until told to stop."""
    folder = tempfile.mkdtemp(prefix="send-ledger-demo-")
    environ = {
        "LEDGER_DATA_DIR": folder,
        "LEDGER_WEBHOOK_STRIPE_SECRET": _SECRET,
        "LEDGER_WEBHOOK_STRIPE_MODE": "test",
        "LEDGER_ANNOUNCE": os.environ.get("LEDGER_ANNOUNCE", ""),
    }
    console = Console(highlight=False)

    def when_ready(url: str, started: Started) -> None:
        assert started.first_key is not None
        # What the story shows is not told a second time, as lines of the log.
        logging.getLogger("ledger.watch").setLevel(logging.ERROR)
        client = DemoClient(url, started.first_key)
        try:
            Story(client, console).tell()
            if not once:
                _say_what_to_try(console, client)
        finally:
            if once:
                os.kill(os.getpid(), signal.SIGTERM)

    try:
        serve(
            load_settings(environ),
            "127.0.0.1",
            _free_or_any(port),
            1,
            _START,
            lambda text: console.print(text, markup=False, soft_wrap=True),
            when_ready,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _say_what_to_try(console: Console, client: DemoClient) -> None:
    url, header = client.url, f'-H "Authorization: Bearer {client.key}"'
    ask = f'{{"kind": "reminder", "invoices": ["{_OPEN_INVOICE}"]}}'
    lines = (
        "",
        "It serves on; stop it with Ctrl-C. Try what is due, ask for it twice (yes, then no), and",
        "look at the customer whose breaker is open:",
        f"  curl -s {header} {url}/v1/due",
        f"  curl -s {header} -H 'Content-Type: application/json' -d '{ask}' {url}/v1/permits",
        f"  curl -s {header} {url}/v1/customers/cus_flooded",
        "",
        f"All calls: {url}/docs    A ledger of your own: send-ledger serve (see README.md)",
    )
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _free_or_any(port: int) -> int:
    """The port if it is free, else 0: any free port."""
    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port
