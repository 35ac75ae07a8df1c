"""The sends that the clients of a torture run fight for: few at a time, and new ones all along."""

import random
import uuid
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import httpx

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


_KINDS = (
    "reminder",
    "payment_failed",
    "notification",
    "digest",
    "message",
    "follow_up",
    "reply",
    "apology",
)
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
    """Draws what to ask for; `untold` are the invoices that the ledger must hear of first.

    Apologies are asked for in the name of an incident that was declared before.
    """

    def __init__(self, seed: int, now: datetime, incident_id: str) -> None:
        self._incident_id = incident_id
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

    def to_a_stranger(self) -> Wanted:
        """A notification to a customer whom nobody asks about but who calls this."""
        self._made += 1
        id_ = f"cus-{self._run}-{self._made}"
        body = {"customer_id": id_, "event_type": "torture", "event_id": "last"}
        return Wanted(("notification", id_, "last"), {"kind": "notification", **body})

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
        elif kind == "follow_up":
            thread, step = f"silent-{id_}", number + 1
            send = ("follow_up", thread, str(step))
            body = {"thread_id": thread, "customer_id": id_, "step": step}
        elif kind == "reply":
            message = self._question(id_, number)
            send = ("reply", message["thread_id"], message["message_id"])
            body = {"thread_id": send[1], "in_reply_to": send[2], "message": message}
        elif kind == "apology":
            send = ("apology", self._incident_id, id_)
            body = {"incident_id": self._incident_id, "customer_id": id_}
        else:
            send = ("message", thread, f"intent-{number}")
            body = {"thread_id": thread, "customer_id": id_, "intent": f"intent-{number}"}
        return Wanted(send, {"kind": kind, **body})

    def _question(self, customer_id: str, number: int) -> dict[str, Any]:
        """A message of the customer, in a thread of its own."""
        return {
            "thread_id": f"asks-{number}-{customer_id}",
            "message_id": f"<{number}.{customer_id}@example.com>",
            "direction": "inbound",
            "from": f"{customer_id}@example.com",
            "to": "billing@example.net",
            "at": self._observed_at,
            "customer_id": customer_id,
        }


class Footing(NamedTuple):
    """What the clients need before they start: their key, and an incident to apologise for."""

    key: str
    incident_id: str


async def footing(http: httpx.AsyncClient, url: str, key: str) -> Footing:
    """Make a key that must redeem, declare an incident, and call a pause that binds no client.

    Only to a key that must redeem a grant is given again under its Idempotency-Key; without a pause
    in force there is no apology.
    """
    now = datetime.now(UTC)
    seen = {"from": (now - timedelta(days=1)).isoformat(), "to": now.isoformat()}
    bodies: dict[str, dict[str, Any]] = {
        "keys": {"name": "torture", "scopes": ["send", "facts"]},
        "control/pause": {"scope": "sender:the one that looped", "reason": "a flood", "by": "ann"},
        "incidents": {"title": "A flood", "cause": "a loop", **seen},
    }
    made: dict[str, Any] = {}
    for path, body in bodies.items():
        headers = {"Authorization": f"Bearer {key}"}
        answer = await http.post(f"{url}/v1/{path}", json=body, headers=headers, timeout=30)
        answer.raise_for_status()
        made |= answer.json()
    return Footing(made["key"], made["incident_id"])
