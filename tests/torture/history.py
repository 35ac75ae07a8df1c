"""What the clients of a torture run heard, and what the log holds: all that the judge looks at."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psycopg

from ledger.application.clock import process_time

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)

Send = tuple[str, ...]
"""A real-world send as a client means it, for example ('notification', 'cus_1', 'evt_7')."""

_EVENTS = """
SELECT e.position, e.recorded_at, e.topic, e.state, i.state ->> 'invoice_id'
FROM events e
LEFT JOIN events i ON i.partition = e.partition AND i.originator_id = e.originator_id
    AND i.topic = 'ledger:Invoice.Created'
WHERE e.topic IN (
    'ledger:Customer.MailPermitted', 'ledger:Customer.MailSettled', 'ledger:Customer.MailRedeemed',
    'ledger:Invoice.MoneyMoved'
)
ORDER BY e.position
"""


@dataclass(frozen=True, slots=True)
class Heard:
    """One call of a client: what it was about, and the answer; `status` 0 is no answer at all.

    `permit_id` is the permit that the call or the answer names. `committed` is what a 503 says of
    its effect. `replayed` tells that an Idempotency-Key brought an earlier answer again; all tries
    of one call have the same `call`.
    """

    act: str
    send: Send
    status: int
    permit_id: str | None = None
    code: str | None = None
    committed: str | None = None
    replayed: bool = False
    call: str = ""
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Granted:
    """A grant in the log, with its time there; `invoices` are those that a reminder names."""

    position: int
    permit_id: str
    customer_id: str
    lane: str
    invoices: tuple[str, ...] = ()
    recorded_at: datetime = LONG_AGO


@dataclass(frozen=True, slots=True)
class Ended:
    """A permit got a new state in the log: sent, rejected, unknown, revoked or expired."""

    position: int
    permit_id: str
    state: str


@dataclass(slots=True)
class Log:
    """What the event log says, in its order; `paid` is the position of each invoice's payment.

    It was read at `read_at`, by the clock of who judges (UTC).
    """

    granted: list[Granted] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    redeemed: set[str] = field(default_factory=set)
    paid: dict[str, int] = field(default_factory=dict)
    read_at: datetime = field(default_factory=process_time)

    def with_those_of(self, other: "Log") -> "Log":
        """What either of two primaries' logs holds; what both hold is there once."""
        return Log(
            sorted({*self.granted, *other.granted}, key=lambda grant: grant.position),
            sorted({*self.ended, *other.ended}, key=lambda end: end.position),
            self.redeemed | other.redeemed,
            other.paid | self.paid,
            max(self.read_at, other.read_at),
        )


def read_log(conninfo: str) -> Log:
    """The grants, ends and payments of the event log, read by plain SQL."""
    log = Log()
    with psycopg.connect(conninfo) as db:
        for row in db.execute(_EVENTS):
            _note(log, *row)
    log.read_at = process_time()
    return log


def _note(
    log: Log,
    position: int,
    recorded_at: datetime,
    topic: str,
    state: dict[str, Any],
    invoice_id: str,
) -> None:
    if topic == "ledger:Customer.MailPermitted":
        permit = state["permit"]
        invoices = tuple(item["invoice_id"] for item in permit.get("items", ()))
        id_, customer, lane = permit["permit_id"], permit["customer_id"], permit["lane"]
        log.granted.append(Granted(position, id_, customer, lane, invoices, recorded_at))
    elif topic == "ledger:Customer.MailSettled":
        log.ended.append(Ended(position, state["permit_id"], state["state"]))
    elif topic == "ledger:Customer.MailRedeemed":
        log.redeemed.add(state["permit_id"])
    else:
        log.paid.setdefault(invoice_id, position)
