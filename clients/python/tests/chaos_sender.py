"""A sender that is killed: run as a process of its own, with its plan as JSON on standard input.

It goes through its sends from where the process before it stopped, a few earlier ones again, as a
queue would. At the step that the plan names it kills itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from sendledger import (
    CallRecord,
    Denied,
    InDoubt,
    Ledger,
    OutcomeRecord,
    Pace,
    Permit,
    Unavailable,
    kinds,
)
from sendledger.adapters.http_mailer import HttpMailer, Mail, Request, member

AGAIN = 3
"""So many finished sends are asked for again after a restart."""
HASTY = Pace(deadline=4.0, report_deadline=2.0, per_call=0.3, first_pause=0.005, most_pause=0.05)
"""Gives up a try before the network lets it go, so that it arrives after its repetition."""


class Killer:
    """A hook that kills the process when a step has come so many times."""

    def __init__(self, step: str | None, after: int) -> None:
        self._step, self._left = step, after

    def at(self, step: str) -> None:
        """A step was done."""
        if step == self._step:
            self._left -= 1
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def on_call(self, record: CallRecord) -> None:
        """An answer of the ledger has come."""
        if record.status in (200, 201):
            self.at(record.operation)

    def on_outcome(self, record: OutcomeRecord) -> None:
        """Outcomes are calls, too."""


class Receiver:
    """The provider of the counting receiver."""

    name = "receiver"

    def __init__(self, url: str) -> None:
        self._url = url

    def request(self, permit: Permit, to: str, mail: Mail, headers: Mapping[str, str]) -> Request:
        """The mail is the name of its send."""
        return Request(f"{self._url}/{mail.subject}", dict(headers), json={"to": to})

    def provider_message_id(self, answer: httpx.Response) -> str | None:
        """The receiver's id."""
        return member(answer, "id")


def main(plan: Mapping[str, Any]) -> None:
    """Send what the plan names."""
    killer = Killer(plan.get("step"), plan.get("after", 1))
    mailer = HttpMailer(Receiver(plan["receiver"]), timeout=5.0)
    done = Path(plan["done"])
    finished = len(done.read_text(encoding="utf-8").splitlines()) if done.exists() else 0
    pace = HASTY if plan.get("hasty") else Pace()
    with Ledger(plan["ledger"], plan["key"], spool=plan["spool"], pace=pace, hooks=[killer]) as led:
        for name in plan["sends"][max(0, finished - AGAIN) :]:
            _send(led, mailer, killer, name)
            with done.open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
    mailer.close()


def _send(ledger: Ledger, mailer: HttpMailer, killer: Killer, name: str) -> None:
    ask = kinds.notification(
        event_type="chaos", event_id=name, customer_id=f"c-{name}", to=f"{name}@example.com"
    )

    def hand_over(permit: Permit) -> Any:
        delivered = mailer.send(permit, Mail("a@acme.example", name, text="hello"))
        killer.at("handed_over")
        return delivered

    with contextlib.suppress(Denied, InDoubt, Unavailable):
        ledger.send_once(ask, send=hand_over)


if __name__ == "__main__":
    main(json.load(sys.stdin))
