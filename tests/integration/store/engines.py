"""Engines on a test's own ledger, and builders of commands for them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import AsyncConnection

from ledger.application.answers import Answer
from ledger.application.caller import SYSTEM, Caller
from ledger.application.commands import ApplyFact, Idempotency, RequestPermit
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.unset import UNSET
from ledger.application.kinds.reminder import Reminder
from ledger.application.limits import Limits
from ledger.application.world import Identity
from ledger.domain.balance import Status
from ledger.domain.identity import Address, fingerprint
from ledger.domain.policy import Policy
from ledger.store.keys import KeyRules, create_key, find_key
from ledger.store.log.timeouts import Timeouts
from ledger.store.log.writer import PostgresWriter

IDENTITY = Identity(b"0123456789abcdef0123456789abcdef", "ledger.example")
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
"""Where tests with a test clock begin."""
WRITER = "send-ledger writer"


@asynccontextmanager
async def engine_on(
    database: str,
    *,
    timeouts: Timeouts | None = None,
    limits: Limits | None = None,
    policy: Policy | None = None,
) -> AsyncIterator[Engine]:
    """A running engine with a writer of its own, that sends batches of three and more in parts."""
    writer = PostgresWriter(database, timeouts)
    engine = Engine(writer, policy or Policy(), IDENTITY, limits or Limits(part=2))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()
        await writer.close()


async def new_sender(database: str, name: str, *, redeem_required: bool = True) -> Caller:
    """A key of its own for a sender."""
    async with await AsyncConnection.connect(database, autocommit=True) as connection:
        _, secret = await create_key(
            connection, name, ["send", "facts"], KeyRules(redeem_required=redeem_required)
        )
        found = await find_key(connection, secret)
    assert found is not None
    return found


def set_clock(database: str, now: datetime) -> None:
    """Sets the test clock of a ledger."""
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE clock SET test_now = %s", [now])


def invoice(
    invoice_id: str,
    customer_id: str | None = None,
    *,
    due: datetime | None = None,
    remaining: int = 30_000,
    email: str | None = None,
    observed_at: datetime | None = None,
    caller: Caller = SYSTEM,
) -> ApplyFact:
    """A snapshot of an open invoice: of a customer of its own, four days overdue, if not told."""
    due = due or datetime.now(UTC) - timedelta(days=4)
    data = InvoiceObserved(
        invoice_id,
        customer_id or f"customer of {invoice_id}",
        "USD",
        30_000,
        remaining,
        Status.OPEN,
        email=address(email) if email else UNSET,
        due_on=due.date(),
        observed_at=observed_at,
    )
    return ApplyFact(Fact(data), caller, answer_with_state=True)


def address(text: str) -> Address:
    """An address as the ledger takes it."""
    return Address(text, fingerprint(IDENTITY.secret, text))


def ask(
    *invoice_ids: str, stage: str | None = None, caller: Caller = SYSTEM, key: str | None = None
) -> RequestPermit:
    """A request for a reminder, with an Idempotency-Key where one is given."""
    request = json.dumps({"kind": "reminder", "invoices": invoice_ids}).encode()
    idempotency = Idempotency(key.encode(), b"fingerprint of " + request) if key else None
    return RequestPermit(
        Reminder(invoice_ids, stage), caller, str(uuid4()), request, idempotency=idempotency
    )


def body(answer: Answer) -> dict[str, Any]:
    """The JSON of an answer."""
    found: dict[str, Any] = json.loads(answer.body)
    return found


def codes(answers: Sequence[Answer]) -> list[str]:
    """`granted`, or the code of the denial, of each."""
    return ["granted" if a.status == 201 else body(a).get("code", str(a.status)) for a in answers]


async def rows(database: str, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
    """What a query finds, over a connection of its own."""
    async with await AsyncConnection.connect(database, autocommit=True) as connection:
        cursor = await connection.execute(query.encode(), arguments or None)
        return await cursor.fetchall()


async def granted(database: str) -> list[str]:
    """The invoices for which the events tell of a permitted reminder, once for each event."""
    found = await rows(
        database,
        "SELECT c.state ->> 'invoice_id' FROM events e JOIN events c"
        " ON c.originator_id = e.originator_id AND c.originator_version = 1"
        " WHERE e.topic = 'ledger:Invoice.ReminderPermitted' ORDER BY e.position",
    )
    return [row[0] for row in found]


async def until(database: str, query: str, *arguments: Any, seconds: float = 20) -> Any:
    """Asks again until the query finds something true, and answers it."""
    async with asyncio.timeout(seconds):
        async with await AsyncConnection.connect(database, autocommit=True) as connection:
            while True:
                cursor = await connection.execute(query.encode(), arguments or None)
                row = await cursor.fetchone()
                if row is not None and row[0]:
                    return row[0]
                await asyncio.sleep(0.005)


WAITING_FOR_THE_LOCK = f"""
    SELECT count(*) >= %s FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = '{WRITER}'
        AND wait_event_type = 'Lock' AND cardinality(pg_blocking_pids(pid)) > 0
"""
"""Are this many writers held up by another session's lock?"""


async def all_of(engine: Engine, make: Callable[[int], Any], count: int) -> list[Answer]:
    """The answers to `count` commands given at once."""
    return await engine.submit_all([make(number) for number in range(count)])
