"""What an aggregate looks like to a person: the bodies of the read endpoints."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from ledger.domain import windows
from ledger.domain.balance import Snapshot, Status
from ledger.domain.credits import less_credit
from ledger.domain.customer import Customer
from ledger.domain.invoice import Invoice
from ledger.domain.mailbox import Mailbox
from ledger.domain.permit import DUNNING
from ledger.domain.policy import Policy
from ledger.domain.stages import due_stage, record_of
from ledger.domain.windows import Window


def invoice_view(
    invoice: Invoice, now: datetime, policy: Policy, latest: Snapshot | None = None
) -> dict[str, Any]:
    """An invoice's state: what is owed (minor units), its cycle, and the state of each stage.

    `latest` is its snapshot as of when its source said the same for the last time.
    """
    snapshot, standing = latest or invoice.snapshot, invoice.standing
    hold = invoice.holds.binding(now, DUNNING)
    until = invoice.in_flight_until(timedelta(days=policy.payment_in_flight_days))
    body: dict[str, Any] = {
        "invoice_id": invoice.invoice_id,
        "version": invoice.version,
        "cycle": standing.cycle,
        "days_past_due": _days_past_due(invoice, now, policy),
        "status": str(standing.status),
        "amount_remaining": standing.balance,
        "on_hold": None if hold is None else {"reason": hold.reason, "until": hold.until},
        "payment_in_flight_until": until if until is not None and until > now else None,
        "stages": stage_views(invoice, now, policy),
    }
    if snapshot is not None:
        body |= {
            "customer_id": snapshot.customer_id,
            "currency": snapshot.currency,
            "total": snapshot.total,
            "issued_on": snapshot.issued_on,
            "due_on": snapshot.due_on,
            "time_zone": snapshot.time_zone or policy.time_zone,
            "observed_at": snapshot.observed_at,
        }
    return body


def stage_views(invoice: Invoice, now: datetime, policy: Policy) -> list[dict[str, Any]]:
    """Every stage on record, of any cycle, and those of the current cycle without a record."""
    cycle = invoice.standing.cycle
    views = [
        {
            "stage": record.stage,
            "cycle": record.cycle,
            "state": record.state,
            "at": record.at,
            "permit_id": record.permit_id,
        }
        for record in invoice.stages.values()
        if record.cycle != cycle
    ]
    age = invoice.days_past_due(now, policy.time_zone)
    owed = invoice.standing.status is Status.OPEN
    due = due_stage(invoice, age, policy) if owed and age is not None else None
    for stage in policy.stages:
        record = record_of(invoice, stage, policy)
        is_due = due is not None and due.name == stage.name
        views.append(
            {
                "stage": stage.name,
                "cycle": cycle,
                "state": record.state if record else ("due" if is_due else "pending"),
                "at": record.at if record else None,
                "permit_id": record.permit_id if record else None,
            }
        )
    return views


def customer_view(
    customer: Customer, invoices: list[Invoice], now: datetime, policy: Policy
) -> dict[str, Any]:
    """A customer's breaker, windows and debts; the addresses are added by who may see them."""
    owed: dict[str, int] = {}
    open_invoices = []
    for invoice in invoices:
        if invoice.snapshot is None or invoice.standing.status is not Status.OPEN:
            continue
        currency = invoice.snapshot.currency
        owed[currency] = owed.get(currency, 0) + invoice.standing.balance
        open_invoices.append(
            {
                "invoice_id": invoice.invoice_id,
                "amount_remaining": invoice.standing.balance,
                "currency": currency,
                "due_on": invoice.snapshot.due_on,
                "cycle": invoice.standing.cycle,
            }
        )
    breaker = customer.breaker
    hold = customer.holds.binding(now, "")
    return {
        "customer_id": customer.customer_id,
        "version": customer.version,
        "breaker": {
            "state": "open" if breaker else "closed",
            "scope": breaker.scope if breaker else None,
            "opened_at": breaker.opened_at if breaker else None,
            "cause": breaker.cause if breaker else None,
        },
        "windows": {w.name: _window(w) for w in windows_of(customer, now, policy)},
        "on_hold": None if hold is None else {"reason": hold.reason, "until": hold.until},
        "merged": sorted(customer.absorbed),
        "owed": [
            {"currency": c, "amount": a}
            for c, a in sorted(less_credit(owed, customer.credit).items())
        ],
        "credit": [
            {"currency": c, "amount": a} for c, a in customer.credit.all_available().items()
        ],
        "open_invoices": open_invoices,
    }


def windows_of(customer: Customer, now: datetime, policy: Policy) -> tuple[Window, ...]:
    """The windows of a customer as they are now, also where the log has not heard of a lapse."""
    permits = [p for p in customer.permits.values() if p.lapsed_state(now) != "expired"]
    return (
        windows.outreach(permits, policy, now),
        windows.replies_hour(permits, policy, now),
        windows.replies_day(permits, policy, now),
        windows.transactional(permits, policy, now),
    )


def address_holds(
    customer: Customer, mailboxes: Iterable[Mailbox], now: datetime
) -> list[dict[str, Any]]:
    """The holds of the customer's addresses that bind some kind of mail now; no kinds means all.

    One that was put on the customer before suppression belonged to addresses is told by its cause.
    """
    found: list[dict[str, Any]] = [
        {
            "fingerprint": mailbox.fingerprint,
            "reason": hold.reason,
            "kinds": list(hold.kinds),
            "since": hold.at,
            "until": hold.until,
            "told_by": source or None,
        }
        for mailbox in mailboxes
        for source, hold in mailbox.holds.in_force(now)
    ]
    for fingerprint, cause in customer.held_addresses.items():
        told: dict[str, Any] = {"reason": cause, "kinds": [], "since": None, "until": None}
        found.append({"fingerprint": fingerprint, **told, "told_by": None})
    return found


def _window(window: Window) -> dict[str, Any]:
    return {"used": window.used, "limit": window.limit, "frees_at": window.frees_at}


def _days_past_due(invoice: Invoice, now: datetime, policy: Policy) -> int:
    age = invoice.days_past_due(now, policy.time_zone)
    return max(0, age) if age is not None and invoice.standing.status is Status.OPEN else 0
