"""Senders that ask on and on while services come up: what each of their questions was answered."""

import socket
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

_PAUSE = 0.02
_PATIENCE = 120.0


@dataclass
class Heard:
    """The codes of all answers by question; `granted` stands for a permit."""

    codes: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    refused: int = 0


class AskingOn:
    """One sender: it asks all questions, one after the other, until each had so many answers."""

    def __init__(self, port: int, key: str, questions: Sequence[dict[str, Any]], rounds: int):
        self._port, self._key = port, key
        self._questions, self._rounds = questions, rounds
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.heard = Heard()

    def begin(self) -> None:
        """Begin to ask, whether or not there is a service yet."""
        self._thread.start()

    def finished(self) -> Heard:
        """What it heard, once every question had its answers."""
        self._thread.join(_PATIENCE)
        assert not self._thread.is_alive(), f"no answers within {_PATIENCE:.0f} s"
        return self.heard

    def _run(self) -> None:
        headers = {"authorization": f"Bearer {self._key}"}
        url = f"http://127.0.0.1:{self._port}"
        with httpx.Client(base_url=url, headers=headers, timeout=30) as http:
            for _ in range(self._rounds):
                for number, question in enumerate(self._questions):
                    self.heard.codes[number].append(self._ask(http, question))

    def _ask(self, http: httpx.Client, question: dict[str, Any]) -> str:
        give_up = time.monotonic() + _PATIENCE
        while time.monotonic() < give_up:
            try:
                answer = http.post("/v1/permits", json=question)
            except httpx.ConnectError:
                self.heard.refused += 1
            else:
                if answer.status_code != 503:
                    return "granted" if answer.status_code == 201 else str(answer.json()["code"])
            time.sleep(_PAUSE)
        return "no answer"


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
