"""`invoice.observed`: what the billing system says of an invoice now."""

from collections.abc import Collection
from dataclasses import replace
from datetime import date, datetime
from typing import ClassVar

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import ensure_customer, note_invoice_address, unite
from ledger.application.facts.confirmations import (
    confirm,
    confirms,
    latest_snapshot,
    load_confirmation,
)
from ledger.application.facts.fact import RIDING, Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.invoices import register_invoice, take_snapshot
from ledger.application.facts.unset import UNSET, Unset
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.balance import Snapshot, Status
from ledger.domain.identity import Address, customer_known_by, known_by_address
from ledger.domain.invoice import Invoice
from ledger.domain.same_moment import kept, last_of
from ledger.domain.value import value


@value
class InvoiceObserved(FactData):
    """A snapshot of an invoice; amounts in minor units, `observed_at` None means now.

    `whole_second` says that its source counts whole seconds, `nothing_in_flight` that no payment
    is on its way (ADR 0005).
    """

    TIMES: ClassVar[tuple[str, ...]] = ("observed_at",)

    invoice_id: str
    customer_id: str | None
    currency: str
    total: int
    amount_remaining: int
    status: Status
    email: Address | Unset | None = UNSET
    issued_on: date | Unset | None = UNSET
    due_on: date | Unset | None = UNSET
    time_zone: str | Unset | None = UNSET
    observed_at: datetime | None = None
    version: int | None = None
    whole_second: bool = False
    nothing_in_flight: bool = False


class InvoiceObservedType(FactType[InvoiceObserved]):
    """Snapshots of invoices, in any order."""

    data = InvoiceObserved
    tells_of_money: ClassVar[bool] = True

    def load(self, walk: Walk, data: InvoiceObserved) -> None:
        """The invoice, whoever owes it, and whose its address is."""
        walk.invoice(data.invoice_id)
        load_confirmation(walk, data.invoice_id)
        email = data.email if isinstance(data.email, Address) else None
        walk.owner(data.customer_id, email)
        if email is not None:
            walk.claims((email,))

    def as_own(self, world: World, data: InvoiceObserved) -> InvoiceObserved:
        """Not of a later version than others, and taking back no payment on its way."""
        return replace(data, version=None, nothing_in_flight=False)

    def not_own(self, world: World, data: InvoiceObserved, about: Collection[str]) -> str | None:
        """An invoice that is asked for, as it is by now: a later time would outdate true news."""
        if data.invoice_id not in about:
            return f"of invoice {data.invoice_id}, which the request does not name"
        if data.observed_at is not None and data.observed_at > world.now:
            return f"of invoice {data.invoice_id} as of a time to come"
        return None

    def apply(self, world: World, fact: Fact, data: InvoiceObserved) -> Outcome:
        """Take a snapshot in; an older one than the one on record changes nothing (design D10)."""
        invoice = world.invoice(data.invoice_id)
        before = latest_snapshot(world, invoice)
        customer_id = _owner(world, data, before)
        if customer_id is None:
            return Outcome(
                result="rejected",
                body={"detail": "the invoice names neither a customer_id nor an email"},
                invoice_id=data.invoice_id,
            )
        snapshot = _merged(world, invoice, before, data, customer_id, fact)
        outcome = Outcome(result="applied", invoice_id=data.invoice_id, customer_id=customer_id)
        dated_by_arrival = data.observed_at is None and fact.time is None and data.version is None
        last, beside, taken = _last(invoice, before, snapshot, dated_by_arrival)
        if not taken:
            outcome.result = "stale"
        if invoice is not None and (last, beside) == (before, invoice.beside):
            return outcome
        if taken:
            ensure_customer(world, outcome, customer_id)
        if invoice is None:
            register_invoice(outcome, data.invoice_id)
        take_snapshot(world, outcome, data.invoice_id, last, beside)
        if not taken:
            return outcome
        gone = before.address if before is not None else None
        if before is not None and isinstance(data.email, Unset) and gone is not None:
            _follow_owner(world, outcome, before.customer_id, customer_id)
        if not _repeats_what_was_removed(world, before, data, customer_id):
            note_invoice_address(
                world, outcome, customer_id, data.email, gone, snapshot.observed_at
            )
        if invoice is not None and confirms(world, invoice, last, outcome):
            confirm(outcome, data.invoice_id, last)
        return outcome


def _last(
    invoice: Invoice | None, before: Snapshot | None, snapshot: Snapshot, dated_by_arrival: bool
) -> tuple[Snapshot, tuple[Snapshot, ...], bool]:
    """Which snapshot stands now, the others of its moment, and whether it is the new one (D10).

    What an older one says of payments on their way counts none the less.
    """
    if invoice is None or before is None:
        return snapshot, (), True
    age = 1 if dated_by_arrival else snapshot.age_against(before)
    if age < 0:
        last, beside = before, invoice.beside
    elif age > 0:
        last, beside = snapshot, ()
    else:
        others = kept((*invoice.beside, before), snapshot)
        last = last_of(others, invoice.money.values())
        beside = tuple(other for other in others if other is not last)
    said = [s.settled_before for s in (before, snapshot) if s.settled_before is not None]
    return replace(last, settled_before=max(said, default=None)), beside, last is snapshot


def _repeats_what_was_removed(
    world: World, before: Snapshot | None, data: InvoiceObserved, customer_id: str
) -> bool:
    """The invoice names the address that it named before, which its customer no longer has.

    Billing systems keep on a finished invoice the address of that day: it is no news, and must not
    bring back what was removed since.
    """
    if before is None or not isinstance(data.email, Address) or before.customer_id != customer_id:
        return False
    customer = world.customer(customer_id)
    known = customer.addresses if customer is not None else None
    return known is not None and before.address == data.email.fingerprint not in known


def _follow_owner(world: World, outcome: Outcome, before_id: str, customer_id: str) -> None:
    """Whoever was known by the address of this invoice alone is the customer it is told to be of.

    The address was left out and is the invoice's still (contract: left out is unchanged).
    """
    before = world.customer(before_id)
    if before is not None and known_by_address(before.customer_id):
        unite(world, outcome, customer_id, before)


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
    fact: Fact,
) -> Snapshot:
    """The snapshot with what was left out taken from the one before."""
    observed_at = data.observed_at or fact.time
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
        source="" if fact.source == RIDING else fact.source,
        whole_second=data.whole_second and observed_at is not None,
    )
    if observed_at is None:
        snapshot = _dated_by_arrival(snapshot, invoice, before)
    if data.nothing_in_flight or data.status is Status.PAID:
        second = snapshot.observed_at.replace(microsecond=0)
        snapshot = replace(snapshot, settled_before=second)
    return snapshot


def _address(data: InvoiceObserved, before: Snapshot | None) -> str | None:
    if isinstance(data.email, Unset):
        return before.address if before is not None else None
    return data.email.fingerprint if data.email is not None else None


def _dated_by_arrival(
    snapshot: Snapshot, invoice: Invoice | None, before: Snapshot | None
) -> Snapshot:
    """A snapshot that names no time is of now, and later than everything taken in before it.

    Facts of this same tick of the clock are in its amounts; without a note of them they would
    change the balance once more (design D10).
    """
    if invoice is None:
        return snapshot
    at = snapshot.observed_at
    if before is not None:
        at = max(at, before.observed_at)
    known = sorted(key for key, fact in invoice.money.items() if fact.at >= at)
    return replace(snapshot, observed_at=at, includes=tuple(known))
