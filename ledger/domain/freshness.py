"""How old the facts are that a reminder rests on: its invoice's snapshot, and who told it (D10)."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from ledger.domain.instants import told
from ledger.domain.invoice import Invoice
from ledger.domain.policy import Policy
from ledger.domain.reasons import Denial

OLD = timedelta(days=30)
"""From this age of its snapshot on a reminder is granted with a page to a human."""

_OFTEN = 6
"""Hours: the log has at least so often that an invoice is told of, where that is all there is."""


def noted_every(policy: Policy) -> timedelta:
    """How far the log's snapshot may be behind the latest that said the same.

    An hour for each day that a snapshot may be old, six at most: so much too early at most does a
    reminder hear that the facts are old. Never too late.
    """
    return timedelta(hours=min(_OFTEN, policy.snapshot_max_age or _OFTEN))


def is_old(invoice: Invoice, now: datetime) -> bool:
    """Is the invoice's snapshot old enough to tell a human of it, whatever the policy says?"""
    return invoice.snapshot is not None and invoice.snapshot.observed_at <= now - OLD


def stale_obstacle(
    invoice: Invoice, silent: Mapping[str, datetime], policy: Policy, now: datetime
) -> Denial | None:
    """Why the facts of the invoice are too old to remind anybody, None while they are not.

    `silent` are the sources that have fallen silent, and when each was last heard (UTC). Off where
    the policy has no `snapshot_max_age`.
    """
    snapshot = invoice.snapshot
    if snapshot is None or not policy.snapshot_max_age:
        return None
    if snapshot.observed_at <= now - timedelta(days=policy.snapshot_max_age):
        return Denial(
            "facts_stale",
            f"the latest snapshot of invoice {invoice.invoice_id} is of "
            f"{told(snapshot.observed_at)}, over {policy.snapshot_max_age} days ago",
        )
    heard_at = silent.get(snapshot.source)
    if heard_at is None:
        return None
    return Denial(
        "facts_stale",
        f"the source of invoice {invoice.invoice_id} was last heard at {told(heard_at)}",
    )
