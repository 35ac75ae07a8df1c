"""Runs senders that are killed, for the chaos tests of every client."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clients.python.tests.chaos_network import Mails
from tests.support.chaos_judge import HELD_AFTER
from tests.support.service import ROOT

STEPS = ("ask", "redeem", "handed_over", "outcome")
_FEW = 100
"""With fewer sends a worker is killed soon, and no more than once at each step."""


@dataclass
class Run:
    """The sends of one worker, and where its processes keep what they know."""

    command: Sequence[str]
    plan: dict[str, Any]
    draw: random.Random
    kills: Counter[str] = field(default_factory=Counter)

    def process(self, **more: Any) -> int:
        """Run one process; its exit status, -9 where it was killed."""
        ran = subprocess.run(
            self.command,
            input=json.dumps({**self.plan, **more}),
            text=True,
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        assert ran.returncode in (0, -9), ran.stderr[-2000:]
        if ran.returncode == -9:
            self.kills[more["step"]] += 1
        return ran.returncode

    def to_the_end(self, sends: int, steps: Sequence[str] = STEPS) -> None:
        """Killed at each step once, the last first, then at random, until the sends are through.

        `sends`: so many are there in all.
        """
        waiting = list(steps)
        most = 3 if sends < _FEW else 20
        while True:
            step = waiting.pop() if waiting else self.draw.choice(STEPS)
            if not waiting and sends < _FEW and self.kills.total() >= len(steps):
                step = "none"
            if self.process(step=step, after=self.draw.randint(1, most)) == 0:
                return


def all_is_settled(states: dict[str, list[str]], mails: Mails, sends: list[str]) -> None:
    """Fails for a send that has not gone out by now and is neither in doubt nor held."""
    for name in sends:
        is_held = states[name].count("rejected") >= HELD_AFTER
        went_out = mails.counts[name] == 1
        assert went_out or is_held or "unknown" in states[name], (name, states[name])
