"""The table of rows: what is measured, the baseline, and the goal of the ratio."""

from collections.abc import Callable
from dataclasses import dataclass

from bench import (
    bulk_rows,
    client_rows,
    due_rows,
    history_rows,
    memory_row,
    permit_rows,
    report_rows,
)
from bench.ratio import Comparison, Goal
from bench.stand import Stand

EMPTY = "an empty FastAPI endpoint, same models and server settings"
BY_HAND = "hand-written SQL by psycopg, one transaction per send, 32 connections"
BY_PGBENCH = "the same SQL by pgbench, no service around it"

BARE = "the same three requests by http.client"
PERMITS = "permits of the same service, 64 connections"
AS_FAST = Goal(must=0.50, aim=0.75, more=True)
NO_SLOWER = Goal(must=1.5, aim=1.1, more=False)
LATER = Goal(must=0.95, aim=1.2, more=True)
BULK = Goal(must=1.5, aim=3.0, more=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `unit` applies to ours and to the baseline.

    A row without a goal has no verdict.
    """

    name: str
    what: str
    baseline: str
    unit: str
    goal: Goal | None
    measure: Callable[[Stand], Comparison]
    judged_when_quick: bool = True
    """False where a quick run measures another size, so that the goal does not apply."""


ROWS: tuple[Row, ...] = (
    Row("permits", "permits, 64 connections", EMPTY, "1/s", AS_FAST, permit_rows.permits),
    Row(
        "latency",
        "permit p50, 1 connection",
        EMPTY,
        "ms",
        Goal(must=6.0, aim=4.0, more=False),
        permit_rows.latency,
    ),
    Row(
        "denials",
        "denials of repeats, 64 connections",
        EMPTY,
        "1/s",
        Goal(must=0.85, aim=1.0, more=True),
        permit_rows.denials,
    ),
    Row("batch", "permits/batch, 500 a call", BY_HAND, "1/s", BULK, bulk_rows.batch),
    Row("claim", "due/claim, 500 a call", BY_HAND, "1/s", BULK, bulk_rows.claim),
    Row("claim-alone", "due/claim, one connection", BY_HAND, "1/s", None, bulk_rows.claim_alone),
    Row(
        "due",
        "first page of due, 1,000,000 open",
        "the same with 10,000 open invoices",
        "ms",
        NO_SLOWER,
        due_rows.first_page,
        judged_when_quick=False,
    ),
    Row(
        "due-last",
        "last page of due, 1,000,000 open",
        "the same with 10,000 open invoices",
        "ms",
        NO_SLOWER,
        due_rows.last_page,
        judged_when_quick=False,
    ),
    Row(
        "history",
        "permit after 100,000 past sends",
        "a permit for a new customer",
        "ms",
        NO_SLOWER,
        history_rows.warm,
        judged_when_quick=False,
    ),
    Row(
        "history-cold",
        "the same, nothing in memory",
        "a permit for a new customer, nothing in memory",
        "ms",
        NO_SLOWER,
        history_rows.cold,
        judged_when_quick=False,
    ),
    Row(
        "memory",
        "memory after 300,000 decisions",
        "after 50,000 decisions",
        "MiB",
        NO_SLOWER,
        memory_row.memory,
        judged_when_quick=False,
    ),
    Row("replies", "reply permits", EMPTY, "1/s", None, permit_rows.replies),
    Row("mixed", "a mix of kinds, 1/4 denied", EMPTY, "1/s", None, permit_rows.mixed),
    Row(
        "permits-keyed",
        "permits with Idempotency-Key",
        EMPTY,
        "1/s",
        None,
        permit_rows.permits_keyed,
    ),
    Row("permits-cold", "permits, cold memory", EMPTY, "1/s", None, permit_rows.permits_cold),
    Row("outcome", "outcomes, 64 connections", PERMITS, "1/s", LATER, report_rows.outcome),
    Row("redeem", "redeems, 64 connections", PERMITS, "1/s", LATER, report_rows.redeem),
    Row("client", "a send by the Python client, p50", BARE, "ms", None, client_rows.client),
    Row("batch-pgbench", "batch against pgbench", BY_PGBENCH, "1/s", None, bulk_rows.batch_pgbench),
)
