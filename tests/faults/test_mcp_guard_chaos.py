"""MCP guards, agents and servers killed at each step, on a bad network: one mail at most.

The ledger is restarted under them. `make torture-gates` runs the same with many more sends, for
which two agents race, several calls at once.
"""

import json
import os
import random
import signal
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import cycle, islice
from pathlib import Path
from threading import Lock, Semaphore
from typing import Any

from clients.python.tests.chaos_network import harmful_proxy, receiver
from clients.python.tests.chaos_run import STEPS, Run, all_is_settled
from ledger.store.migrate import migrate
from tests.support.chaos_judge import judged
from tests.support.postgres import fresh_database
from tests.support.service import running_service
from tests.support.watched_ledger import watched_ledger

SENDS = int(os.environ.get("LEDGER_TEST_GATE_SENDS", "24"))
SEED = int(os.environ.get("LEDGER_TEST_GATE_SEED", "1"))
_AGENT = (sys.executable, "-m", "tests.support.chaos_mcp_agent")
_AGENTS = 2
_IS_SMALL = SENDS < 100
_CLOCK = "2026-12-01T00:00:00+00:00"
_VICTIMS = (("server",), ("guard",), ("agent",), ("guard", "agent"))
"""The first agent begins with the first of them, the second with the third."""
_PATHS = {"/permits": "ask", "/redeem": "redeem", "/outcome": "outcome"}
"""How the path ends of which the answer does not come to a guard that is killed."""


class Killer:
    """Kills an agent, its guard, both, or the e-mail server, where the agent's plan says so."""

    def __init__(self, watch: Path, number: int) -> None:
        self._watch, self._lock = watch, Lock()
        self._victims = islice(cycle(_VICTIMS), 2 * number, None)
        self._plan: dict[str, Any] = {}
        self._seen = 0
        self.kills: Counter[str] = Counter()

    def at(self, step: str) -> None:
        """A step was done."""
        with self._lock:
            plan = json.loads(self._watch.read_text(encoding="utf-8"))
            if plan != self._plan:
                self._plan, self._seen = plan, 0
            if step != plan["step"]:
                return
            self._seen += 1
            if self._seen == plan["after"]:
                victims = next(self._victims)
                self.kills[" and ".join(victims)] += 1
                for victim in victims:
                    with suppress(ProcessLookupError):
                        os.kill(plan[victim], signal.SIGKILL)


def _agent(
    stack: ExitStack, folder: Path, number: int, plan: dict[str, Any], handed_over: Semaphore
) -> tuple[Run, Killer]:
    """An agent whose ways to the ledger and to the receiver are watched.

    `handed_over` is released for each mail that the receiver answers for.
    """
    draw = random.Random(SEED + number)
    watch = folder / f"watch-{number}"
    killer = Killer(watch, number)
    ledger = stack.enter_context(watched_ledger(plan["ledger"]))
    ledger.on_answer = lambda path: killer.at(_PATHS[path[path.rindex("/") :]])
    out = stack.enter_context(watched_ledger(plan["receiver"]))

    def mailed(path: str) -> None:
        handed_over.release()
        killer.at("handed_over")

    out.on_answer = mailed
    own = {"ledger": ledger.url, "receiver": out.url, "watch": str(watch)}
    return Run(_AGENT, {**plan, **own, "done": str(folder / f"done-{number}")}, draw), killer


def test_killed_guards_and_agents_on_a_bad_network_mail_at_most_once(
    postgres: str, tmp_path: Path
) -> None:
    names, handed_over = [f"s{number}" for number in range(SENDS)], Semaphore(0)
    with ExitStack() as stack:
        conninfo = stack.enter_context(fresh_database(postgres))
        migrate(conninfo)
        mails = stack.enter_context(receiver(SEED, lost=0.03))
        pool = stack.enter_context(ThreadPoolExecutor(_AGENTS))
        agents, ends = [], []
        with running_service(conninfo, _CLOCK) as service:
            key, url = service.client("send"), service.http.base_url
            bad = stack.enter_context(harmful_proxy(str(url), SEED, harm=0.15))
            plan = {"key": key.key, "receiver": mails.url}
            for number in range(_AGENTS):
                # Many sends are raced for; few are shared out, so that each step is reached.
                own = names[number::_AGENTS] if _IS_SMALL else names
                steps = STEPS[number::_AGENTS] if _IS_SMALL else STEPS
                its = {**plan, "ledger": bad.url, "sends": own}
                agents.append(_agent(stack, tmp_path, number, its, handed_over))
                ends.append(pool.submit(agents[-1][0].to_the_end, SENDS, steps))
            assert all(handed_over.acquire(timeout=300) for _ in range(SENDS // 4))
        with running_service(conninfo, _CLOCK, port=url.port or 0) as service:
            for end in ends:
                end.result()
            service.advance(minutes=11)
            judged(service, key.name, mails.counts, names)
            its = {**plan, "ledger": str(url), "sends": names}
            last, _ = _agent(stack, tmp_path, _AGENTS, its, handed_over)
            assert last.process(step="none") == 0
            states = judged(service, key.name, mails.counts, names)
    all_is_settled(states, mails, names)
    steps_killed = sum((run.kills for run, _ in agents), Counter())
    assert set(steps_killed) == set(STEPS)
    victims = sum((killer.kills for _, killer in agents), Counter())
    permits = Counter(state for name in names for state in states[name])
    print(
        f"mcp: {SENDS} sends, {mails.counts.total()} mails, kills at {dict(steps_killed)}"
        f" of {dict(victims)}, {dict(bad.made)} requests, {dict(permits)} permits"
    )
