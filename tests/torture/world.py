"""The sends that the clients of a torture run fight for: few at a time, and new ones all along."""

import random
import uuid
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.torture.history import Send

_OPEN = 24
"""So many customers are asked about at a time, by all clients."""
_ASKS = 12
"""After so many requests a customer makes room for a new one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request for a permit, and the real-world send that it is for."""

    send: Send
    body: dict[str, Any]


_KINDS = ("reminder", "payment_failed", "notification", "digest", "message")
_SENDS = 3
"""So many sends are asked for again and again of one customer: one more than a day allows."""


@dataclass(slots=True)
class _Customer:
    customer_id: str
    sends: list[tuple[str, int]]
    asks_left: int = _ASKS

    @property
    def invoice_id(self) -> str:
        """Its one invoice, past due for eight days."""
        return f"inv-{self.customer_id}"


class World:
    """Draws what to ask for; `untold` are the invoices that the ledger must hear of first."""

    def __init__(self, seed: int, now: datetime) -> None:
        self.untold: deque[tuple[str, dict[str, Any]]] = deque()
        self._random = random.Random(seed)
        self._due_on = (now.date() - timedelta(days=8)).isoformat()
        self._observed_at = now.isoformat()
        self._run = uuid.UUID(int=self._random.getrandbits(128)).hex[:8]
        self._made = 0
        self._open = [self._new() for _ in range(_OPEN)]

    def wanted(self) -> Wanted:
        """A request for one of a handful of sends of a customer whom others ask about too."""
        place = self._random.randrange(_OPEN)
        customer = self._open[place]
        customer.asks_left -= 1
        if customer.asks_left == 0:
            self._open[place] = self._new()
        return self._request(customer)

    def invoice_to_pay(self) -> str:
        """An invoice that was asked about."""
        return self._random.choice(self._open).invoice_id

    def chance(self, share: float) -> bool:
        """True in that share of the calls."""
        return self._random.random() < share

    def _new(self) -> _Customer:
        self._made += 1
        customer = _Customer(f"cus-{self._run}-{self._made}", self._sends())
        money = {"currency": "USD", "total": 9_000, "amount_remaining": 9_000, "status": "open"}
        seen = {"due_on": self._due_on, "observed_at": self._observed_at}
        snapshot = {"customer_id": customer.customer_id, **seen, **money}
        self.untold.append((customer.invoice_id, snapshot))
        return customer

    def _sends(self) -> list[tuple[str, int]]:
        every = [(kind, number) for kind in _KINDS for number in range(2)]
        return self._random.sample(every, _SENDS)

    def _request(self, customer: _Customer) -> Wanted:
        kind, number = self._random.choice(customer.sends)
        id_, invoice = customer.customer_id, customer.invoice_id
        thread = f"thr-{id_}"
        send: Send
        body: dict[str, Any]
        if kind == "reminder":
            send, body = ("reminder", invoice, "day-7"), {"invoices": [invoice], "stage": "day-7"}
        elif kind == "payment_failed":
            send = ("payment_failed", invoice, f"evt-{number}")
            body = {"invoice_id": invoice, "event_id": f"evt-{number}"}
        elif kind == "notification":
            send = ("notification", id_, f"evt-{number}")
            body = {"customer_id": id_, "event_type": "torture", "event_id": f"evt-{number}"}
        elif kind == "digest":
            send = ("digest", id_, self._due_on)
            body = {"customer_id": id_, "inbox_id": id_, "date": self._due_on}
        else:
            send = ("message", thread, f"intent-{number}")
            body = {"thread_id": thread, "customer_id": id_, "intent": f"intent-{number}"}
        return Wanted(send, {"kind": kind, **body})
