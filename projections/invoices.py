"""The read model `invoices`: the state of each invoice, and the time it becomes newly due (D7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from ledger.domain.policy import Policy
from projections.generations import entered
from projections.read_model import ReadModel
from projections.statements import statement


def stage_settings(policy: Policy) -> dict[str, Any]:
    """The part of the policy that decides when an invoice is newly due."""
    return {
        "time_zone": policy.time_zone,
        "stage_names": [stage.name for stage in policy.stages],
        "stage_days": [stage.days for stage in policy.stages],
        "stage_floors": [stage.floor_percent for stage in policy.stages],
        "gap_days": policy.days_between_reminders,
        "catch_up": policy.catch_up,
        "adopt_before": policy.adopt_before,
        "rejections_before_hold": policy.rejections_before_hold,
        "smallest_amounts": dict(policy.smallest_amount_to_dun),
        "snapshot_max_age": policy.snapshot_max_age,
        "remind_after_subscription_end": policy.remind_after_subscription_end,
    }


INVOICES = ReadModel(
    name="invoices",
    version=4,
    tables=("invoices", "merged", "policy", "silent_feeds"),
    steps=("merges", "parted", "owners", "feeds", "fold", "probes"),
    settings=stage_settings,
)


@dataclass(frozen=True, slots=True)
class InvoiceRow:
    """An invoice as a list shows it; amounts in minor units, times UTC."""

    originator_id: str
    invoice_id: str
    customer_id: str | None
    currency: str | None
    total: int | None
    balance: int
    status: str
    issued_on: date | None
    due_on: date | None
    cycle: int
    observed_at: datetime | None
    source: str | None


async def list_invoices(
    connection: AsyncConnection[Any],
    limit: int,
    after: str,
    *,
    status: str | None = None,
    customers: Sequence[str] | None = None,
    ids: Sequence[UUID] = (),
) -> list[InvoiceRow]:
    """Invoices after that id, of a status; or those that name one of these customers now.

    With `customers` go the `ids` of the invoices that ever named them. Raises psycopg.Error.
    """
    name = "list" if customers is None else "list_named"
    values: dict[str, Any] = {"limit": limit, "after": UUID(after), "status": status}
    values |= {"ids": list(ids), "customers": list(customers or ())}
    async with entered(connection):
        cursor = await connection.execute(statement("invoices", name), values)
        return [InvoiceRow(*row) for row in await cursor.fetchall()]
