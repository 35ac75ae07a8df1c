"""Facts about invoices: snapshots, payments, credits, refunds, failed attempts and holds."""

from dataclasses import replace
from datetime import datetime, timedelta

from ledger.application.effects import Outcome
from ledger.application.fact_data import (
    UNSET,
    Credited,
    Fact,
    InvoiceHeld,
    InvoiceObserved,
    PaymentFailed,
    PaymentMoved,
    RefundReported,
    Unset,
)
from ledger.application.facts.addresses import ensure_customer, note_invoice_address, unite
from ledger.application.world import World
from ledger.domain.balance import (
    CREDIT,
    CREDIT_TAKEN_BACK,
    MoneyFact,
    PaymentState,
    Snapshot,
    in_flight_until,
)
from ledger.domain.cycles import next_standing
from ledger.domain.hold import Hold, HoldBook
from ledger.domain.identity import Address, customer_known_by, known_by_address
from ledger.domain.invoice import Invoice, Standing


def observed(world: World, fact: Fact, data: InvoiceObserved) -> Outcome:
    """Take a snapshot in; an older one than the one on record changes nothing (design D10)."""
    invoice = world.invoice(data.invoice_id)
    before = invoice.snapshot if invoice else None
    customer_id = _owner(world, data, before)
    if customer_id is None:
        return Outcome(
            result="rejected",
            body={"detail": "the invoice names neither a customer_id nor an email"},
            invoice_id=data.invoice_id,
        )
    snapshot = _merged(world, invoice, before, data, customer_id, fact.time)
    outcome = Outcome(result="applied", invoice_id=data.invoice_id, customer_id=customer_id)
    dated_by_arrival = data.observed_at is None and fact.time is None and data.version is None
    if before is not None and not dated_by_arrival and not before.replaced_by(snapshot):
        outcome.result = "stale"
        return outcome
    if snapshot == before:
        return outcome
    ensure_customer(world, outcome, customer_id)
    if invoice is None:
        _register(outcome, data.invoice_id)
    standing = _standing(world, invoice, snapshot, None, snapshot.observed_at)
    outcome.change(
        "invoice", data.invoice_id, Invoice.Observed, snapshot=snapshot, standing=standing
    )
    gone = before.address if before is not None else None
    if before is not None and isinstance(data.email, Unset) and gone is not None:
        _follow_owner(world, outcome, before.customer_id, customer_id)
    note_invoice_address(world, outcome, customer_id, data.email, gone, snapshot.observed_at)
    return outcome


def _follow_owner(world: World, outcome: Outcome, before_id: str, customer_id: str) -> None:
    """Whoever was known by the address of this invoice alone is the customer it is told to be of.

    The address was left out and is the invoice's still (contract: left out is unchanged).
    """
    before = world.customer(before_id)
    if before is not None and known_by_address(before.customer_id):
        unite(world, outcome, customer_id, before)


def payment_moved(world: World, fact: Fact, data: PaymentMoved) -> Outcome:
    """A payment is pending, succeeded, failed or reversed."""
    return _money(world, fact, data.invoice_id, data.payment_id, str(data.state), data.amount)


def credited(world: World, fact: Fact, data: Credited) -> Outcome:
    """A credit lowers what is owed; a negative one takes a credit back."""
    state = CREDIT if data.amount >= 0 else CREDIT_TAKEN_BACK
    return _money(world, fact, data.invoice_id, data.credit_id, state, data.amount)


def payment_failed(world: World, fact: Fact, data: PaymentFailed) -> Outcome:
    """Note a failed attempt to pay: the balance is untouched."""
    outcome = Outcome(result="applied", invoice_id=data.invoice_id)
    if world.invoice(data.invoice_id) is None:
        _register(outcome, data.invoice_id)
    outcome.change(
        "invoice",
        data.invoice_id,
        Invoice.PaymentFailureNoted,
        event_id=data.event_id,
        attempt_id=data.attempt_id,
    )
    return outcome


def refund_reported(world: World, fact: Fact, data: RefundReported) -> Outcome:
    """Note a refund: it never raises what is owed (contract: Money)."""
    if not data.invoice_id:
        return Outcome(result="ignored", body={"detail": "the refund names no invoice"})
    outcome = Outcome(result="applied", invoice_id=data.invoice_id)
    if world.invoice(data.invoice_id) is None:
        _register(outcome, data.invoice_id)
    outcome.change("invoice", data.invoice_id, Invoice.RefundNoted, refund_id=data.refund_id)
    return outcome


def held(world: World, fact: Fact, data: InvoiceHeld) -> Outcome:
    """Put dunning of an invoice on hold, or lift a hold."""
    invoice = world.invoice(data.invoice_id)
    outcome = Outcome(result="applied", invoice_id=data.invoice_id)
    if invoice is None:
        _register(outcome, data.invoice_id)
    book = HoldBook(dict(invoice.holds.holds)) if invoice else HoldBook()
    hold = Hold(data.reason, data.held, fact.time or world.now, data.until)
    if not book.newer(hold):
        outcome.result = "stale"
        return outcome
    book.note(hold)
    until, indefinite = book.until(world.now, "reminder")
    event = Invoice.HoldPlaced if data.held else Invoice.HoldLifted
    outcome.change(
        "invoice", data.invoice_id, event, hold=hold, held_until=until, indefinite=indefinite
    )
    return outcome


def _owner(world: World, data: InvoiceObserved, before: Snapshot | None) -> str | None:
    """Who owes it; without a billing id the customer whose address it names (design D9)."""
    if data.customer_id is not None:
        return data.customer_id
    if before is not None:
        return before.customer_id
    if not isinstance(data.email, Address):
        return None
    return world.name("address", data.email.fingerprint) or customer_known_by(data.email)


def _merged(
    world: World,
    invoice: Invoice | None,
    before: Snapshot | None,
    data: InvoiceObserved,
    customer_id: str,
    event_time: datetime | None,
) -> Snapshot:
    """The snapshot with what was left out taken from the one before."""
    observed_at = data.observed_at or event_time
    issued_on, due_on, zone = data.issued_on, data.due_on, data.time_zone
    snapshot = Snapshot(
        customer_id=customer_id,
        currency=data.currency,
        total=data.total,
        amount_remaining=data.amount_remaining,
        status=data.status,
        observed_at=observed_at or world.now,
        issued_on=(before.issued_on if before else None) if issued_on is UNSET else issued_on,
        due_on=(before.due_on if before else None) if due_on is UNSET else due_on,
        time_zone=(before.time_zone if before else None) if isinstance(zone, Unset) else zone,
        version=data.version,
        address=_address(data, before),
    )
    return snapshot if observed_at is not None else _dated_by_arrival(snapshot, invoice)


def _address(data: InvoiceObserved, before: Snapshot | None) -> str | None:
    if isinstance(data.email, Unset):
        return before.address if before is not None else None
    return data.email.fingerprint if data.email is not None else None


def _dated_by_arrival(snapshot: Snapshot, invoice: Invoice | None) -> Snapshot:
    """A snapshot that names no time is of now, and later than everything taken in before it.

    Facts of this same tick of the clock are in its amounts; without a note of them they would be
    ties, which lower the balance once more (design D10).
    """
    if invoice is None:
        return snapshot
    at = snapshot.observed_at
    if invoice.snapshot is not None:
        at = max(at, invoice.snapshot.observed_at)
    known = sorted(key for key, fact in invoice.money.items() if fact.at >= at)
    return replace(snapshot, observed_at=at, includes=tuple(known))


def _money(
    world: World, fact: Fact, invoice_id: str, name: str, state: str, amount: int
) -> Outcome:
    invoice = world.invoice(invoice_id)
    outcome = Outcome(result="applied", invoice_id=invoice_id)
    if invoice is None:
        _register(outcome, invoice_id)
    snapshot = invoice.snapshot if invoice else None
    at = fact.time or max(world.now, snapshot.observed_at if snapshot else world.now)
    money = MoneyFact(name, state, amount, at)
    known = invoice.money.get(money.key) if invoice else None
    if known is not None and (known.at, known.amount) <= (at, amount):
        outcome.result = "duplicate"
        return outcome
    facts = [f for f in invoice.money.values() if f is not known] if invoice else []
    facts.append(money)
    standing = None
    if invoice is not None and snapshot is not None:
        outcome.customer_id = snapshot.customer_id
        standing = _standing(world, invoice, snapshot, facts, at)
    flight = timedelta(days=world.policy.payment_in_flight_days)
    outcome.change(
        "invoice",
        invoice_id,
        Invoice.MoneyMoved,
        fact=money,
        standing=standing,
        in_flight_until=in_flight_until(facts, flight) if state in set(PaymentState) else None,
    )
    return outcome


def _standing(
    world: World,
    invoice: Invoice | None,
    snapshot: Snapshot,
    money: list[MoneyFact] | None,
    at: datetime,
) -> Standing:
    if money is None:
        money = list(invoice.money.values()) if invoice else []
    policy = world.policy
    return next_standing(
        invoice,
        snapshot,
        money,
        at,
        world.now,
        policy.time_zone,
        policy.age_from_issue_without_due_date,
    )


def _register(outcome: Outcome, invoice_id: str) -> None:
    outcome.register("invoice", invoice_id, Invoice.Created, Invoice.TOPIC, invoice_id=invoice_id)
