"""Chargebee's transactions, refunds and credit notes as facts."""

from collections import Counter
from datetime import datetime

from api.webhooks.bodies.invoices import Event
from api.webhooks.bodies.moments import rfc3339
from api.webhooks.bodies.record import Record
from api.webhooks.provider import Fact, Translation

_STATES = {
    "in_progress": "pending",
    "needs_attention": "pending",
    "success": "succeeded",
    "failure": "failed",
    "timeout": "failed",
    "voided": "failed",
    "late_failure": "reversed",
}
_MOVE = frozenset({"succeeded", "reversed"})
_BY_CHANGE = frozenset({"pending", "failed", "reversed"})


def transaction_facts(
    event: Event, transaction: Record, occurred: datetime, already_in: datetime | None = None
) -> tuple[Fact, ...]:
    """A payment as one `invoice.payment` for each invoice it pays.

    Beside an invoice the money is in the snapshot (of `already_in`) already: what moves a balance
    is told again only where its own date is in the snapshot's second or earlier, which ends a
    payment in flight and counts nothing twice. What is under way (again), failed or was taken back
    after all (`late_failure`) is dated by its change: one id may be presented several times.
    """
    state = _STATES.get(transaction.optional_text("status") or "")
    if transaction.optional_text("type") != "payment" or state is None:
        return ()
    if transaction.flag("deleted"):
        state = "failed"
    changed = transaction.optional_unix("updated_at") or occurred
    facts = []
    for link in transaction.records("linked_invoices"):
        applied = link.optional_unix("applied_at")
        at = changed if state in _BY_CHANGE or applied is None else applied
        if already_in and at.timestamp() >= int(already_in.timestamp()) + 1 and state in _MOVE:
            continue
        data: dict[str, object] = {
            "invoice_id": event.own(link.text("invoice_id")),
            "payment_id": transaction.text("id"),
            "amount": link.amount("applied_amount"),
            "state": state,
        }
        part = f"payment:{link.text('invoice_id')}"
        facts.append(event.fact("invoice.payment", at, data, part))
    return tuple(facts)


def refund_facts(event: Event, transaction: Record, occurred: datetime) -> tuple[Fact, ...]:
    """A refund, noted for each invoice that it belongs to; no balance changes."""
    if transaction.optional_text("type") != "refund":
        return ()
    refund_id = transaction.text("id")
    links = transaction.records("linked_credit_notes")
    named = dict.fromkeys(link.optional_text("cn_reference_invoice_id") for link in links)
    return tuple(
        event.fact(
            "invoice.refund_noted",
            occurred,
            {"invoice_id": event.own(invoice), "refund_id": refund_id},
            f"refund:{invoice}",
        )
        for invoice in filter(None, named)
    )


def credit_note(event: Event, note: Record, occurred: datetime, *, deleted: bool) -> Translation:
    """A credit note: an adjustment lowers its invoice, others only where they are allocated.

    A write-off is no credit: nobody paid, and the invoice's own snapshot tells it. Dates are those
    of the credit itself, so that a later edit of the note moves no money a second time. A deleted
    adjustment takes the credit back: the same `credit_id`, a negative amount. Allocations have no
    ids: those to one invoice in one second are told apart by their number.
    """
    note_id = note.text("id")
    if note.optional_text("reason_code") == "write_off":
        return Translation(ignored="told_by_the_invoice")
    if note.optional_text("type") == "adjustment":
        gone = deleted or note.flag("deleted")
        amount = note.amount("total")
        given = note.optional_unix("date") or occurred
        data: dict[str, object] = {
            "invoice_id": event.own(note.text("reference_invoice_id")),
            "credit_id": note_id,
            "amount": -amount if gone else amount,
        }
        return Translation(facts=(event.fact("invoice.credit", occurred if gone else given, data),))
    facts: list[Fact] = []
    known: Counter[tuple[str, datetime]] = Counter()
    for allocation in note.records("allocations"):
        invoice_id = allocation.text("invoice_id")
        at = allocation.optional_unix("allocated_at") or occurred
        known[invoice_id, at] += 1
        number = known[invoice_id, at]
        credit_id = f"{note_id}:{rfc3339(at)}" + (f":{number}" if number > 1 else "")
        data = {
            "invoice_id": event.own(invoice_id),
            "credit_id": credit_id,
            "amount": allocation.amount("allocated_amount"),
        }
        facts.append(event.fact("invoice.credit", at, data, f"{credit_id}:{invoice_id}"))
    return Translation(facts=tuple(facts), ignored=None if facts else "changes_no_balance")
