"""An unchanged snapshot: only its time is stored, beside the log, and no event (D10).

The log has such news a few times a day only, but no later fact may be judged as if it had not come:
when the invoice was seen so last is a look-up that each replaces, and counts in every comparison.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.invoices import confirm_snapshot
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.balance import Snapshot
from ledger.domain.freshness import noted_every
from ledger.domain.invoice import Invoice
from ledger.domain.payments import in_flight_until

CONFIRMED = "confirmed"
_VERSION = " v"
"""Stands before the version in the look-up's text, where the snapshot has one."""


def load_confirmation(walk: Walk, invoice_id: str) -> None:
    """Note when the invoice was seen so last."""
    walk.name(CONFIRMED, invoice_id)


def latest_snapshot(world: World, invoice: Invoice | None) -> Snapshot | None:
    """The snapshot on record, as of when its source said the same for the last time."""
    if invoice is None or invoice.snapshot is None:
        return None
    return as_confirmed(invoice.snapshot, world.name(CONFIRMED, invoice.invoice_id))


def as_confirmed(snapshot: Snapshot, told: str | None) -> Snapshot:
    """The snapshot as of the later time at which it was told once more, by the look-up's text.

    What was told of another version is of a snapshot that is not the latest any more, though its
    time may be later: the provider's version orders before the time.
    """
    if told is None:
        return snapshot
    of, _, version = told.partition(_VERSION)
    observed_at, _, settled_before = of.partition(" ")
    at = datetime.fromisoformat(observed_at)
    if at <= snapshot.observed_at or version != _version_of(snapshot):
        return snapshot
    if settled_before:
        settled = datetime.fromisoformat(settled_before)
        return replace(snapshot, observed_at=at, settled_before=settled)
    return replace(snapshot, observed_at=at)


def note_confirmed(world: World, outcome: Outcome, invoice: Invoice | None) -> None:
    """Put the latest confirmation into the log: news comes that is judged by it."""
    latest = latest_snapshot(world, invoice)
    if invoice is not None and latest is not None and latest is not invoice.snapshot:
        confirm_snapshot(world, outcome, invoice, latest)


def confirms(world: World, invoice: Invoice, told: Snapshot, outcome: Outcome) -> bool:
    """Does the snapshot say just what is on record, so that the log can do without it?

    `outcome` is what it would do. Not where the log's own snapshot becomes so old that a guard
    might look at it, where its source is silent by now or is another whose silence counts from now
    on, or where money moved that only the new snapshot has in its amounts.
    """
    recorded, latest = invoice.snapshot, latest_snapshot(world, invoice)
    if recorded is None or latest is None:
        return False
    if invoice.beside or outcome.names or outcome.alerts:
        return False
    since = told.observed_at - recorded.observed_at
    if not timedelta() < since < noted_every(world.policy):
        return False
    if recorded.source in world.control.silent_feeds or len(outcome.changes) != 1:
        return False
    if world.policy.snapshot_max_age and told.source != recorded.source:
        return False
    fields = outcome.changes[0].fields
    same = replace(
        told,
        observed_at=latest.observed_at,
        includes=latest.includes,
        settled_before=latest.settled_before,
    )
    return (
        same == latest
        and fields.get("standing") == invoice.standing
        and not _moves(world, latest, told, invoice)
    )


def confirm(outcome: Outcome, invoice_id: str, told: Snapshot) -> None:
    """Keep that the invoice was seen so, in place of the event."""
    outcome.changes.clear()
    times = [told.observed_at, *([told.settled_before] if told.settled_before else [])]
    text = " ".join(time.isoformat() for time in times)
    if told.version is not None:
        text += _VERSION + _version_of(told)
    outcome.names.append(NameClaim(CONFIRMED, invoice_id, text, replaces=True))


def _version_of(snapshot: Snapshot) -> str:
    return "" if snapshot.version is None else str(snapshot.version)


def _moves(world: World, latest: Snapshot, told: Snapshot, invoice: Invoice) -> bool:
    """Has money moved that is not in both, or does the new one end what is in flight?"""
    known, flight = invoice.money.values(), timedelta(days=world.policy.payment_in_flight_days)
    ends = (in_flight_until(known, flight, s.settled_before) for s in (latest, told))
    return len(set(ends)) > 1 or not all(latest.holds(f) and told.holds(f) for f in known)
