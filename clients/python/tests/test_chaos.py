"""Senders killed at each step, on a network that drops, doubles and delays: at most one mail each.

`make torture-clients` runs the same with many more sends and kills at random.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from clients.python.tests.chaos_network import FAULTS, harmful_proxy, receiver
from tests.support.chaos_judge import HELD_AFTER, judged
from tests.support.service import ROOT, Service

SENDS = int(os.environ.get("LEDGER_TEST_CLIENT_SENDS", "20"))
SEED = int(os.environ.get("LEDGER_TEST_CLIENT_SEED", "2"))
SENDER = Path(__file__).with_name("chaos_sender.py")
STEPS = ("ask", "redeem", "handed_over", "outcome")
WORKERS = 2


@dataclass
class Run:
    """The sends of one worker, and where its processes keep what they know."""

    plan: dict[str, Any]
    draw: random.Random
    kills: int = 0

    def process(self, **more: Any) -> int:
        """Run one process; its exit status, -9 where it was killed."""
        ran = subprocess.run(
            [sys.executable, str(SENDER)],
            input=json.dumps({**self.plan, **more}),
            text=True,
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        assert ran.returncode in (0, -9), ran.stderr[-2000:]
        self.kills += ran.returncode == -9
        return ran.returncode

    def to_the_end(self) -> None:
        """Killed at each step once, then at random, until the sends are through."""
        waiting = list(STEPS)
        while True:
            step = waiting.pop() if waiting else self.draw.choice(STEPS)
            most = 3 if SENDS < 100 else 20
            if not waiting and SENDS < 100 and self.kills >= len(STEPS):
                step = "none"
            if self.process(step=step, after=self.draw.randint(1, most)) == 0:
                return


def test_a_killed_sender_on_a_bad_network_sends_each_mail_at_most_once(
    service: Service, tmp_path: Path
) -> None:
    sends = [f"s{number}" for number in range(SENDS)]
    direct = str(service.http.base_url)
    with receiver(SEED, lost=0.03) as mails, harmful_proxy(direct, SEED, harm=0.25) as proxy:
        key = service.client("send")
        common = {"key": key.key, "receiver": mails.url, "spool": str(tmp_path / "spool")}
        runs = [
            Run(
                {
                    **common,
                    "ledger": proxy.url,
                    "hasty": True,
                    "sends": sends[worker::WORKERS],
                    "done": str(tmp_path / f"done-{worker}"),
                },
                random.Random(SEED + worker),
            )
            for worker in range(WORKERS)
        ]
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(Run.to_the_end, runs))
        assert sum(run.kills for run in runs) >= len(STEPS) * WORKERS
        assert set(FAULTS) <= set(proxy.made)
        service.advance(minutes=11)
        judged(service, key.name, mails.counts, sends)
        last = Run({**common, "ledger": direct, "sends": sends, "done": str(tmp_path / "d")}, SEED)
        assert last.process() == 0
        states = judged(service, key.name, mails.counts, sends)
    for name in sends:
        # What is neither in doubt nor held after three rejections has gone out by now.
        is_held = states[name].count("rejected") >= HELD_AFTER
        went_out = mails.counts[name] == 1
        assert went_out or is_held or "unknown" in states[name], (name, states[name])
    assert list((tmp_path / "spool").iterdir()) == []
    ends = Counter(state for name in sends for state in states[name])
    kills = sum(run.kills for run in runs)
    print(f"{SENDS} sends, {kills} kills, {dict(proxy.made)} requests, {dict(ends)} permits")


@pytest.mark.parametrize("step", STEPS)
def test_what_a_kill_at_each_step_leaves(service: Service, tmp_path: Path, step: str) -> None:
    name = f"k-{step}"
    after = {"ask": "expired", "redeem": "unknown", "handed_over": "unknown", "outcome": "sent"}
    went_out = step in ("handed_over", "outcome")
    with receiver(SEED, lost=0) as mails:
        key = service.client("send")
        plan = {
            "key": key.key,
            "receiver": mails.url,
            "spool": str(tmp_path / "spool"),
            "ledger": str(service.http.base_url),
            "sends": [name],
            "done": str(tmp_path / "done"),
        }
        run = Run(plan, random.Random(SEED))
        assert run.process(step=step) == -9
        assert mails.counts[name] == int(went_out)
        service.advance(minutes=11)
        assert judged(service, key.name, mails.counts, [name])[name] == [after[step]]
        assert run.process() == 0
        assert mails.counts[name] == int(went_out or step == "ask")
