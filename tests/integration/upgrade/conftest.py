"""A ledger of an older version, from its dump, and the same ledger after an upgrade under load."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.integration.upgrade.asking_on import AskingOn, free_port
from tests.support.postgres import fresh_database
from tests.support.service import Service, running_service

DUMP = Path(__file__).parents[2] / "old_databases" / "schema-0005.sql"
AT = "2026-11-30T12:00:00+00:00"
"""The time of the dumped ledger's test clock."""
KEY = "slk_the_first_key_of_a_service_under_test"
SHIPPED = {"kind": "notification", "event_type": "order.shipped", "event_id": "ord-1"}
USED: dict[str, dict[str, Any]] = {
    **{
        f"reminder of inv-{number:02}": {
            "kind": "reminder",
            "invoices": [f"inv-{number:02}"],
            "stage": "day-3",
        }
        for number in range(15)
    },
    "reply": {"kind": "reply", "thread_id": "thr-1", "in_reply_to": "<question@example.com>"},
    "message": {"kind": "message", "thread_id": "thr-1", "intent": "refund_notice"},
    "notification": SHIPPED | {"customer_id": "cus-ann"},
    "digest": {
        "kind": "digest",
        "inbox_id": "inb-1",
        "date": "2026-11-29",
        "customer_id": "cus-ann",
    },
}
"""Sends that the old program granted, by what they are; none of them may be granted again."""
FREE: dict[str, dict[str, Any]] = {
    f"reminder of inv-{number:02}": {
        "kind": "reminder",
        "invoices": [f"inv-{number:02}"],
        "stage": "day-3",
    }
    for number in range(15, 20)
}
"""Sends that are free: the first was refused by the provider, the others were never asked for."""


@dataclass(frozen=True)
class Upgraded:
    """The services after the upgrade, and what senders heard while it went on, by send."""

    first: Service
    second: Service
    codes: dict[str, list[str]]
    refused: int
    before: tuple[int, str]


def restore(database: str) -> None:
    """Put the old ledger into an empty database."""
    with psycopg.connect(database) as connection:
        connection.execute(DUMP.read_bytes())


def digest_of_log(database: str, upto: int | None = None) -> tuple[int, str]:
    """The last position up to that one, and one digest over all that is stored of these events."""
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "SELECT position, originator_id, originator_version, topic, state::text, recorded_at,"
            " hash FROM events WHERE position <= coalesce(%s, position) ORDER BY position",
            [upto],
        ).fetchall()
    return int(rows[-1][0]), hashlib.sha256(repr(rows).encode()).hexdigest()


@pytest.fixture
def old_database(empty_database: str) -> str:
    """The conninfo of a database as the older program left it."""
    restore(empty_database)
    return empty_database


@pytest.fixture(scope="module")
def upgraded(postgres: str) -> Iterator[Upgraded]:
    """Two processes of this version start at once on the old database, while senders ask both."""
    questions = [*USED.values(), *FREE.values()]
    with fresh_database(postgres) as database, ExitStack() as running:
        restore(database)
        before = digest_of_log(database)
        ports = [free_port(), free_port()]
        senders = [AskingOn(port, KEY, questions, rounds=2) for port in ports for _ in range(2)]
        for sender in senders:
            sender.begin()
        with ThreadPoolExecutor() as starters:
            contexts = [running_service(database, AT, port=port) for port in ports]
            first, second = starters.map(running.enter_context, contexts)
        heard = [sender.finished() for sender in senders]
        codes: dict[str, list[str]] = defaultdict(list)
        for each in heard:
            for name, number in zip([*USED, *FREE], range(len(questions)), strict=True):
                codes[name] += each.codes[number]
        yield Upgraded(first, second, codes, sum(each.refused for each in heard), before)
