"""Inserts alerts as the writer does, and moves time as a test needs it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

START = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


def raise_alerts(
    conninfo: str,
    *keys: str,
    kind: str = "breaker_opened",
    customer_id: str | None = "cus_1",
    drill: bool = False,
) -> None:
    """Write alerts with these dedupe keys in one transaction, by the writer's own function."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        row = connection.execute("SELECT ledger_now()").fetchone()
        assert row is not None
        alerts = [
            {
                "k": key,
                "n": kind,
                "s": f"the breaker of customer {customer_id} opened for outreach: {key}",
                "c": customer_id,
                "p": None,
                "d": drill,
                "a": row[0].isoformat(),
            }
            for key in keys
        ]
        connection.execute("SELECT append_batch(rest => %s)", [json.dumps({"alerts": alerts})])


def set_test_clock(conninfo: str, now: datetime) -> None:
    """Stop the ledger's clock at this time."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("UPDATE clock SET test_now = %s", [now])


def let_real_time_pass(conninfo: str, **span: float) -> None:
    """Make everything in the outbox that long older by real time (arguments of timedelta)."""
    past = timedelta(**span)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            "UPDATE pages SET"
            " taken_at = taken_at - %(past)s,"
            " left_at = left_at - %(past)s,"
            " claimed_until = claimed_until - %(past)s,"
            " next_attempt_at = next_attempt_at - %(past)s",
            {"past": past},
        )
        connection.execute("UPDATE alerts SET noted_at = noted_at - %s", [past])


def rows_of(conninfo: str, query: str) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()
