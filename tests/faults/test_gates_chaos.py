"""Gates killed at each step on a network that drops, doubles and delays: at most one mail each.

The ledger is restarted under them. `make torture-gates` runs the same with many more sends.
"""

import os
import random
import smtplib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from clients.python.tests.chaos_network import harmful_proxy
from ledger.store.migrate import migrate
from tests.support.chaos_judge import HELD_AFTER, judged
from tests.support.gate_process import GateProcess
from tests.support.http_gate import http_gate_file, running_http_gate
from tests.support.mail_provider import KEY, mail_provider
from tests.support.postgres import fresh_database
from tests.support.service import Client, running_service
from tests.support.smtp_gate import (
    LOGIN,
    PASSWORD,
    gate_file,
    mail,
    running_gate,
    sends,
    upstream_server,
    written,
)
from tests.support.watched_ledger import WatchedLedger, watched_ledger

SENDS = int(os.environ.get("LEDGER_TEST_GATE_SENDS", "8"))
SEED = int(os.environ.get("LEDGER_TEST_GATE_SEED", "1"))
_CLOCK = "2026-12-01T00:00:00+00:00"
_PROGRAMS = 8
"""So many at once; each send is tried by two of them."""
_TRIES = 4
_IS_SMALL = SENDS < 100
_MOST_KILLS = 1 if _IS_SMALL else 100
_STEPS = ("handed over",) if _IS_SMALL else ("/permits", "/redeem", "/outcome", "handed over")
"""What a gate is killed after. The small run is for the network: each step has its own test."""
_HASTY = 5.0 if _IS_SMALL else 0.35
"""Seconds that a gate waits: in a long run less than the network delays, so that answers come late.

A small run is one of many tests on a busy machine, and must not depend on its speed.
"""
_DONE = ("sent", "already_sent")
Send = Callable[[int, str], str]
"""Hands the mail of a send to the gate at a port; `sent`, the ledger's code, or another word."""


@dataclass
class Stand:
    """One gate's surroundings: its upstream, and how it is started and talked to.

    `counts` are the mails of each send that the receiving side has; `on_mail` is called when it has
    got one. `file` is the gate's file for a ledger at an address, `direct` a gate without harm.
    """

    name: str
    file: Callable[[str, str], str]
    arguments: tuple[str, ...]
    send: Send
    counts: Callable[[], Counter[str]]
    when_mailed: Callable[[Callable[[], None]], None]
    direct: Callable[[str, str], AbstractContextManager[int]]


class Killer:
    """Kills the gate at random steps, each at least once, and starts it again."""

    def __init__(self, gate: GateProcess, draw: random.Random) -> None:
        self._gate, self._draw = gate, draw
        self._waiting = list(_STEPS)
        self._lock = threading.Lock()
        self.kills = 0
        self._is_over = False

    def at(self, step: str) -> None:
        """A step was done; the gate may not live on."""
        with self._lock:
            is_due = step in self._waiting
            if (
                self._is_over
                or self.kills >= _MOST_KILLS
                or not (is_due or (not self._waiting and self._draw.random() < 0.02))
            ):
                return
            if is_due:
                self._waiting.remove(step)
            self.kills += 1
            self._gate.kill()
            self._gate.ended()
            self._gate.start()

    @property
    def steps_left(self) -> list[str]:
        """The steps at which it was never killed."""
        return self._waiting

    def wait_until_up(self) -> None:
        """A gate that was killed is started again before anybody else gets the lock."""
        with self._lock:
            return

    def end(self) -> int:
        """Let the gate end in good order; its exit status."""
        with self._lock:
            self._is_over = True
            self._gate.process.terminate()
            return self._gate.ended()


@contextmanager
def _smtp() -> Iterator[Stand]:
    with upstream_server() as upstream:
        draw = random.Random(SEED)

        def file(ledger: str, key: str) -> str:
            bounds = f"[upstream]\nseconds = {_HASTY}\n[bounds]\nledger_seconds = {_HASTY}\n"
            login = f'username = "{LOGIN}"\npassword = "{PASSWORD}"\nkey = "{key}"\n'
            return f'ledger = "{ledger}"\n[[login]]\n{login}{bounds}'

        def send(port: int, name: str) -> str:
            message = mail(name, **{k.replace("-", "_"): v for k, v in _said(name).items()})
            try:
                code, text = sends(port, message, f"{name}@example.com")
            except (OSError, smtplib.SMTPException):
                return "broken"
            return "sent" if code == 250 else text.split(" ", 1)[1].partition(":")[0]

        def when_mailed(told: Callable[[], None]) -> None:
            def on_data() -> None:
                # What upstream says next: nothing, now and then, though it has the mail.
                is_lost = draw.random() < 0.05
                upstream.replies["data"] = None if is_lost else "250 2.0.0 queued"
                told()

            upstream.on_data = on_data

        def direct(ledger: str, key: str) -> AbstractContextManager[int]:
            upstream.on_data = lambda: None
            upstream.replies.clear()
            return running_gate(gate_file(ledger, key), upstream.port)

        def counts() -> Counter[str]:
            return Counter(str(one.message["Subject"]) for one in upstream.mails)

        arguments = ("--upstream", f"127.0.0.1:{upstream.port}")
        yield Stand("smtp", file, arguments, send, counts, when_mailed, direct)


@contextmanager
def _http() -> Iterator[Stand]:
    """Half of the mails go by Resend, on a network that doubles them, and half by Postmark.

    Resend has an idempotency key; Postmark has none, so there only answers are lost.
    """
    with mail_provider() as provider, harmful_proxy(provider.url, SEED, harm=0.1) as between:
        draw = random.Random(SEED)

        def file(ledger: str, key: str) -> str:
            url = f'{{resend = "{between.url}", postmark = "{provider.url}"}}'
            upstream = f"[upstream]\nseconds = {_HASTY}\nurl = {url}\n"
            bounds = f"[bounds]\nledger_seconds = {_HASTY}\n"
            return f'ledger = "{ledger}"\n[anonymous]\nkey = "{key}"\n{upstream}{bounds}'

        def send(port: int, name: str) -> str:
            path, call = _call(name)
            url = f"http://127.0.0.1:{port}{path}"
            headers = {"Authorization": f"Bearer {KEY}", "X-Postmark-Server-Token": KEY}
            try:
                answer = httpx.post(url, json=call, headers=headers | _said(name), timeout=30)
            except httpx.TransportError:
                return "broken"
            told = answer.json()
            word = told.get("name") or str(told.get("Message")).partition(":")[0]
            return "sent" if answer.is_success else str(word)

        def when_mailed(told: Callable[[], None]) -> None:
            provider.on_mail = lambda mail: told()
            provider.is_lost = lambda mail: mail.path == "/email" and draw.random() < 0.05

        @contextmanager
        def direct(ledger: str, key: str) -> Iterator[int]:
            provider.on_mail = lambda mail: None
            provider.is_lost = lambda mail: False
            with running_http_gate(http_gate_file(ledger, key, provider)) as gate:
                yield int(gate.rsplit(":", 1)[1])

        def counts() -> Counter[str]:
            resend = [one for one in provider.mails if one.path == "/emails"]
            # What comes twice under one idempotency key is one mail, as at Resend.
            once = {one.headers["idempotency-key"]: one.json["subject"] for one in resend}
            postmark = [one.json["Subject"] for one in provider.mails if one.path == "/email"]
            return Counter([*once.values(), *postmark])

        yield Stand("http", file, (), send, counts, when_mailed, direct)


def _call(name: str) -> tuple[str, dict[str, str]]:
    """The path and the body of a send's mail: the even ones go by Resend."""
    sender, to = "a@acme.example", f"{name}@example.com"
    if int(name[1:]) % 2 == 0:
        return "/resend/emails", {"from": sender, "to": to, "subject": name, "text": "Sent."}
    return "/postmark/email", {"From": sender, "To": to, "Subject": name, "TextBody": "Sent."}


def _said(name: str) -> dict[str, str]:
    return {
        "X-Ledger-Kind": "notification",
        "X-Ledger-Event-Type": "chaos",
        "X-Ledger-Event-Id": name,
        "X-Ledger-Customer": f"c-{name}",
    }


@pytest.mark.parametrize("gate", ["smtp", "http"])
def test_a_killed_gate_on_a_bad_network_mails_at_most_once(
    postgres: str, tmp_path: Path, gate: str
) -> None:
    names = [f"s{number}" for number in range(SENDS)]
    with ExitStack() as stack:
        conninfo = stack.enter_context(fresh_database(postgres))
        migrate(conninfo)
        stand = stack.enter_context(_smtp() if gate == "smtp" else _http())
        pool = stack.enter_context(ThreadPoolExecutor(1))
        with running_service(conninfo, _CLOCK) as first:
            direct, key = str(first.http.base_url), first.client("send")
            bad = stack.enter_context(harmful_proxy(direct, SEED, harm=0.15))
            ledger = stack.enter_context(watched_ledger(bad.url))
            running = pool.submit(_run, stand, ledger, key, tmp_path, names)
            _wait_for(lambda: stand.counts().total() >= SENDS // 4 or running.done())
        # The ledger is restarted under the gate: what comes meanwhile is refused for now.
        port = first.http.base_url.port or 0
        service = stack.enter_context(running_service(conninfo, _CLOCK, port=port))
        heard, killer = running.result()
        service.advance(minutes=11)
        judged(service, key.name, stand.counts(), names)
        with stand.direct(direct, key.key) as gate_port:
            with ThreadPoolExecutor(_PROGRAMS) as programs:
                words = programs.map(lambda n: stand.send(gate_port, n), names)
                last = dict(zip(names, words, strict=True))
            counts = stand.counts()
        service.advance(minutes=11)
        states = judged(service, key.name, counts, names)
    assert killer.kills >= len(_STEPS)
    for name in names:
        # What is neither in doubt nor held after three rejections has gone out by now.
        is_held = states[name].count("rejected") >= HELD_AFTER
        assert counts[name] == 1 or is_held or "unknown" in states[name], (name, states[name])
        if heard[name] & set(_DONE) or last[name] in _DONE:
            assert counts[name] == 1, (name, heard[name], last[name])
    ends = Counter(state for name in names for state in states[name])
    print(f"{gate}: {SENDS} sends, {killer.kills} kills, {dict(bad.made)} requests, {dict(ends)}")


def _wait_for(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < give_up, "the gate mails nothing"
        time.sleep(0.01)


def _run(
    stand: Stand, ledger: WatchedLedger, key: Client, folder: Path, names: list[str]
) -> tuple[dict[str, set[str]], Killer]:
    """What programs heard of each send, with the gate killed at every step."""
    file = written(folder, stand.file(ledger.url, key.key))
    process = GateProcess(stand.name, file, *stand.arguments)
    killer = Killer(process, random.Random(SEED))
    ledger.on_answer = lambda path: killer.at(path[path.rindex("/") :])
    stand.when_mailed(lambda: killer.at("handed over"))
    heard: dict[str, set[str]] = {name: set() for name in names}

    def program(name: str) -> None:
        for _ in range(_TRIES):
            word = stand.send(process.port, name)
            heard[name].add(word)
            if word in _DONE:
                return
            killer.wait_until_up()

    try:
        with ThreadPoolExecutor(_PROGRAMS) as pool:
            # Two programs have each send, the second of them a little later.
            list(pool.map(program, [name for pair in _pairs(names) for name in pair]))
        assert killer.steps_left == []
    finally:
        status = killer.end()
    assert status == 0
    return heard, killer


def _pairs(names: list[str]) -> Iterator[list[str]]:
    """The sends in small groups, each group twice."""
    for at in range(0, len(names), 4):
        yield names[at : at + 4] * 2
