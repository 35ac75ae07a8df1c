"""Senders of the TypeScript client, killed at each step on a network that does them harm.

Two and eight run at once, and each send is tried by two of them: at most one mail each.
`make test-clients` runs it; `make torture-clients-typescript` does with many more sends.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clients.python.tests.chaos_network import FAULTS, harmful_proxy, receiver
from clients.python.tests.chaos_run import STEPS, Run, all_is_settled
from tests.support.chaos_judge import judged
from tests.support.service import Service

SENDS = int(os.environ.get("LEDGER_TEST_CLIENT_SENDS", "60"))
SEED = int(os.environ.get("LEDGER_TEST_CLIENT_SEED", "2"))
SENDER = ("node", str(Path(__file__).with_name("chaos_sender.mjs")))
AFTER = {"ask": "expired", "redeem": "unknown", "handed_over": "unknown", "outcome": "sent"}
"""What a kill right after a step leaves of the permit, once its time is over."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a name that is short enough for a socket in it."""
    made = Path(tempfile.mkdtemp(prefix="sl-"))
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("workers", [2, 8])
def test_killed_senders_on_a_bad_network_send_each_mail_at_most_once(
    service: Service, folder: Path, workers: int
) -> None:
    # Half of all sends for each number of workers.
    sends = [f"w{workers}-{number}" for number in range(SENDS // 2)]
    direct = str(service.http.base_url)
    with receiver(SEED, lost=0.03) as mails, harmful_proxy(direct, SEED, harm=0.25) as proxy:
        key = service.client("send")
        common = {"key": key.key, "receiver": mails.url, "spool": str(folder / "spool")}
        pairs = workers // 2
        runs = [
            Run(
                SENDER,
                {
                    **common,
                    "ledger": proxy.url,
                    "hasty": True,
                    "sends": sends[worker % pairs :: pairs],
                    "done": str(folder / f"done-{worker}"),
                },
                random.Random(SEED + worker),
            )
            for worker in range(workers)
        ]
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda run: run.to_the_end(SENDS, run.draw.sample(STEPS, 4)), runs))
        kills = sum((run.kills for run in runs), Counter[str]())
        assert set(kills) == set(STEPS)
        assert set(FAULTS) <= set(proxy.made)
        service.advance(minutes=11)
        judged(service, key.name, mails.counts, sends)
        rest = {**common, "ledger": direct, "sends": sends, "done": str(folder / "d")}
        assert Run(SENDER, rest, random.Random(SEED)).process() == 0
        states = judged(service, key.name, mails.counts, sends)
    all_is_settled(states, mails, sends)
    assert list((folder / "spool").iterdir()) == []
    ends = Counter(state for name in sends for state in states[name])
    told = f"{dict(kills)} kills, {dict(proxy.made)} requests, {dict(ends)} permits"
    print(f"{workers} senders, {len(sends)} sends, {told}")


@pytest.mark.parametrize("step", STEPS)
def test_what_a_kill_at_each_step_leaves(service: Service, folder: Path, step: str) -> None:
    name = f"k-{step}"
    went_out = step in ("handed_over", "outcome")
    with receiver(SEED, lost=0) as mails:
        key = service.client("send")
        plan = {
            "key": key.key,
            "receiver": mails.url,
            "spool": str(folder / "spool"),
            "ledger": str(service.http.base_url),
            "sends": [name],
            "done": str(folder / "done"),
        }
        run = Run(SENDER, plan, random.Random(SEED))
        assert run.process(step=step) == -9
        assert mails.counts[name] == int(went_out)
        service.advance(minutes=11)
        assert judged(service, key.name, mails.counts, [name])[name] == [AFTER[step]]
        assert run.process() == 0
        assert mails.counts[name] == int(went_out or step == "ask")
