"""Senders killed at each step, on a network that drops, doubles and delays: at most one mail each.

`make torture-clients` runs the same with many more sends and kills at random.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from clients.python.tests.chaos_network import FAULTS, harmful_proxy, receiver
from clients.python.tests.chaos_run import STEPS, Run, all_is_settled
from tests.support.chaos_judge import judged
from tests.support.service import Service

SENDS = int(os.environ.get("LEDGER_TEST_CLIENT_SENDS", "20"))
SEED = int(os.environ.get("LEDGER_TEST_CLIENT_SEED", "2"))
SENDER = (sys.executable, str(Path(__file__).with_name("chaos_sender.py")))
WORKERS = 2


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
                SENDER,
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
            list(pool.map(lambda run: run.to_the_end(SENDS), runs))
        assert sum(run.kills.total() for run in runs) >= len(STEPS) * WORKERS
        assert set(FAULTS) <= set(proxy.made)
        service.advance(minutes=11)
        judged(service, key.name, mails.counts, sends)
        rest = {**common, "ledger": direct, "sends": sends, "done": str(tmp_path / "d")}
        last = Run(SENDER, rest, random.Random(SEED))
        assert last.process() == 0
        states = judged(service, key.name, mails.counts, sends)
    all_is_settled(states, mails, sends)
    assert list((tmp_path / "spool").iterdir()) == []
    ends = Counter(state for name in sends for state in states[name])
    kills = sum(run.kills.total() for run in runs)
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
        run = Run(SENDER, plan, random.Random(SEED))
        assert run.process(step=step) == -9
        assert mails.counts[name] == int(went_out)
        service.advance(minutes=11)
        assert judged(service, key.name, mails.counts, [name])[name] == [after[step]]
        assert run.process() == 0
        assert mails.counts[name] == int(went_out or step == "ask")
