"""The subjects of permits: for each kind, what holds its send key and which facts forbid it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ledger.domain.freshness import stale_obstacle
from ledger.domain.guards import Holder
from ledger.domain.incident import Incident
from ledger.domain.invoice import Invoice, StageRecord
from ledger.domain.permit import FREED, Permit
from ledger.domain.policy import Policy, Stage
from ledger.domain.reasons import Denial
from ledger.domain.sends import SendBook
from ledger.domain.stages import (
    Due,
    calendar_obstacle,
    floor_obstacle,
    money_obstacle,
    record_of,
    stage_obstacle,
    stage_to_ask_about,
)
from ledger.domain.subscription import Subscription
from ledger.domain.value import value


@value
class MissingSubject:
    """Something that the ledger has not been told of."""

    name: str
    code: str
    duplicate_code: str = "already_sent"

    def holder(self) -> Holder | None:
        """Nothing holds what is not known."""
        return None

    def obstacle(self) -> Denial | None:
        """Always: it is not known."""
        return Denial(self.code, f"{self.name} is not known to the ledger")


@dataclass(slots=True)
class InvoiceStage:
    """A reminder for a stage of an invoice; `wanted` None asks for the stage that is due.

    `covered`: the customer's credit covers all that they owe in the invoice's currency.
    `silent_feeds` are the sources that have fallen silent, and when each was last heard (UTC).
    """

    invoice: Invoice
    kind: str
    wanted: Stage | None
    now: datetime
    policy: Policy
    expected_cycle: int | None = None
    expected_amount: int | None = None
    override: bool = False
    covered: bool = False
    silent_feeds: Mapping[str, datetime] = field(default_factory=dict)
    duplicate_code: str = "already_sent"
    ended: Subscription | None = None
    _verdict: "Denial | Due | None" = None
    _held: "tuple[Holder | None] | None" = None
    _due: "tuple[Stage | None] | None" = None

    @property
    def name(self) -> str:
        """The invoice and the stage."""
        stage = self._asked()
        return f"{stage.name if stage else 'a reminder'} of invoice {self.invoice.invoice_id}"

    def holder(self) -> Holder | None:
        """What is on record for the stage in this cycle, superseded ones aside.

        A request that names no stage means none where nothing can be asked for at all. Several
        guards ask, and nothing that it looks at changes in between.
        """
        if self._held is None:
            self._held = (self._holder(),)
        return self._held[0]

    def _holder(self) -> Holder | None:
        stage = self._asked()
        if self.wanted is None and money_obstacle(self.invoice, self.policy) is not None:
            return None
        record = record_of(self.invoice, stage, self.policy) if stage else None
        if record is None or record.state == "superseded":
            return None
        return _holder_of_stage(record)

    def obstacle(self) -> Denial | None:
        """Wrong expectations, money, the calendar and the ladder, old facts, holds, payments."""
        return (
            self._expectations()
            or money_obstacle(self.invoice, self.policy)
            or self._credit()
            or (self.ended.obstacle(self.name) if self.ended is not None else None)
            or self._ladder()
            or stale_obstacle(self.invoice, self.silent_feeds, self.policy, self.now)
            or hold_obstacle(self.invoice, self.kind, self.now)
            or in_flight_obstacle(self.invoice, self.policy, self.now)
            or self._rejected()
        )

    def due(self) -> Due:
        """The stage to grant; only after `obstacle` found nothing."""
        repeated = self._repeated()
        if repeated is not None:
            return Due(repeated, (), {})
        due = self._stage_judged()
        assert isinstance(due, Due)
        return due

    def _ladder(self) -> Denial | None:
        """A deliberate repeat passes the ladder's memory and its gap, not the calendar (D14)."""
        repeated = self._repeated()
        if repeated is not None:
            calendar = calendar_obstacle(self.invoice, repeated, self.now, self.policy)
            return calendar or floor_obstacle(self.invoice, repeated)
        due = self._stage_judged()
        return due if isinstance(due, Denial) else None

    def _stage_judged(self) -> Denial | Due:
        """The ladder's verdict, worked out once: nothing that it looks at changes in between."""
        if self._verdict is None:
            self._verdict = stage_obstacle(self.invoice, self.wanted, self.now, self.policy)
        return self._verdict

    def _repeated(self) -> Stage | None:
        """The stage that a human wants to send once more, None where it is no repeat."""
        holder = self.holder() if self.override else None
        return self._asked() if holder is not None and holder.final else None

    def _credit(self) -> Denial | None:
        return covered_by_credit(self.invoice.invoice_id) if self.covered else None

    def _rejected(self) -> Denial | None:
        stage = self._asked() if self.invoice.rejections else None
        if stage is None or self.override:
            return None
        rejections = self.invoice.rejections_of(self.invoice.standing.cycle, stage.name)
        return too_many_rejections(self.name, rejections, self.policy.rejections_before_hold)

    def _asked(self) -> Stage | None:
        if self.wanted is not None:
            return self.wanted
        if self._due is None:
            self._due = (stage_to_ask_about(self.invoice, self.now, self.policy),)
        return self._due[0]

    def _expectations(self) -> Denial | None:
        name, standing = self.invoice.invoice_id, self.invoice.standing
        if self.expected_cycle is not None and self.expected_cycle != standing.cycle:
            return Denial(
                "stale_cycle", f"invoice {name} is in cycle {standing.cycle}, not the expected one"
            )
        if self.expected_amount is not None and self.expected_amount != standing.balance:
            return Denial(
                "amount_changed", f"invoice {name} owes {standing.balance} minor units now"
            )
        return None


@value
class InvoiceNotice:
    """The mail about a failed payment: once per provider event and once per attempt."""

    invoice: Invoice
    kind: str
    slots: tuple[str, ...]
    now: datetime
    policy: Policy
    rejections_before_hold: int
    ended: Subscription | None = None
    duplicate_code: str = "already_sent"

    @property
    def name(self) -> str:
        """The invoice and what was reported."""
        return f"the payment-failed mail for {self.slots[0]} of invoice {self.invoice.invoice_id}"

    def holder(self) -> Holder | None:
        """The permit of the same event or the same attempt; a live one before one that is out.

        An override passes what has been sent, and must not pass what is about to be.
        """
        held = [holder_in(self.invoice.notices, slot) for slot in self.slots]
        found = [holder for holder in held if holder is not None]
        return next((holder for holder in found if not holder.final), next(iter(found), None))

    def obstacle(self) -> Denial | None:
        """Nothing owed, void, its subscription ended, or on hold; a due date is not needed."""
        rejections = max(self.invoice.notices.rejections.get(slot, 0) for slot in self.slots)
        return (
            money_obstacle(self.invoice, self.policy)
            or (self.ended.obstacle(self.name) if self.ended is not None else None)
            or hold_obstacle(self.invoice, self.kind, self.now)
            or too_many_rejections(self.name, rejections, self.rejections_before_hold)
        )


@value
class NamedSend:
    """A notification or digest: its send key is held by a permit that was looked up by name."""

    name: str
    permit: Permit | None
    rejections_before_hold: int
    ended: Subscription | None = None
    duplicate_code: str = "already_sent"

    def holder(self) -> Holder | None:
        """The permit that holds the send key."""
        if self.permit is None or self.permit.state in FREED:
            return None
        return Holder(
            str(self.permit.state),
            self.permit.permit_id,
            self.permit.sender,
            self.permit.settled_at or self.permit.granted_at,
            self.permit.provider_message_id,
        )

    def obstacle(self) -> Denial | None:
        """A denial where its subscription has ended, or after too many rejections of its mail."""
        if self.ended is not None:
            return self.ended.obstacle(self.name)
        rejections = self.permit.rejections if self.permit else 0
        return too_many_rejections(self.name, rejections, self.rejections_before_hold)


@value
class ApologyOf:
    """The one apology of an incident to a customer (design D14)."""

    incident: Incident
    customer_id: str
    recent: str | None
    pause_in_force: bool
    rejections_before_hold: int
    also_known_as: tuple[str, ...] = ()
    duplicate_code: str = "apology_already_sent"

    @property
    def name(self) -> str:
        """The incident and the customer."""
        return f"the apology of incident {self.incident.incident_id} to {self.customer_id}"

    def holder(self) -> Holder | None:
        """The incident's own apology to them, under any of their ids, whatever became of it.

        Also one that went to another customer while the two were one.
        """
        for customer_id in (self.customer_id, *self.also_known_as):
            held = self.incident.apologies.get(customer_id)
            if held is not None:
                return Holder(held.state, held.permit_id, held.sender, held.at)
        return None

    def obstacle(self) -> Denial | None:
        """One of another incident in 30 days, a closed incident, or no pause in force."""
        if self.recent is not None:
            return Denial(
                "apology_already_sent",
                f"customer {self.customer_id} had an apology for another incident",
                permit_id=self.recent,
            )
        if self.incident.closed_at is not None:
            return Denial("unknown_incident", f"incident {self.incident.incident_id} is closed")
        if not self.pause_in_force:
            return Denial("not_paused", "pause the source of the flood first")
        ids = (self.customer_id, *self.also_known_as)
        rejections = max(self.incident.rejections.get(customer_id, 0) for customer_id in ids)
        return too_many_rejections(self.name, rejections, self.rejections_before_hold)


def covered_by_credit(invoice_id: str) -> Denial:
    """The no to a reminder where the customer has a credit for all that is open."""
    return Denial(
        "nothing_owed",
        f"the customer's credit covers invoice {invoice_id} and all others of its currency",
    )


def hold_obstacle(invoice: Invoice, kind: str, now: datetime) -> Denial | None:
    """The hold that binds the invoice now, or None."""
    hold = invoice.holds.binding(now, kind)
    if hold is None:
        return None
    return Denial(
        "on_hold",
        f"invoice {invoice.invoice_id} is on hold: {hold.reason}",
        available_at=hold.until,
    )


def in_flight_obstacle(invoice: Invoice, policy: Policy, now: datetime) -> Denial | None:
    """The payment that may make a reminder needless, or None (design D7)."""
    until = invoice.in_flight_until(timedelta(days=policy.payment_in_flight_days))
    if until is None or until <= now:
        return None
    return Denial(
        "payment_in_flight",
        f"a payment of invoice {invoice.invoice_id} is pending",
        available_at=until,
    )


def holder_in(book: SendBook, slot: str) -> Holder | None:
    """The permit that holds a slot, or None."""
    record = book.sends.get(slot)
    if record is None:
        return None
    return Holder(
        str(record.state),
        record.permit_id,
        record.sender,
        record.counts_at,
        record.provider_message_id,
    )


def rejected_too_often(name: str, book: SendBook, slot: str, limit: int) -> Denial | None:
    """After `limit` definite refusals of one send key a human must look (design D6)."""
    return too_many_rejections(name, book.rejections.get(slot, 0), limit)


def too_many_rejections(name: str, rejections: int, limit: int) -> Denial | None:
    """Why a send key that was refused so many times waits for a human, None while it may go on."""
    if rejections < limit:
        return None
    return Denial("on_hold", f"{name} was rejected {rejections} times by the provider")


def _holder_of_stage(record: StageRecord) -> Holder:
    state = "granted" if record.state == "permitted" else record.state
    return Holder(state, record.permit_id, record.sender, record.at, record.provider_message_id)
