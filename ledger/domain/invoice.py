"""The invoice: what is owed on it, its past-due cycles, its holds and its stages on record."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from eventsourcing.domain import Aggregate

from ledger.domain.balance import Snapshot, Status
from ledger.domain.hold import Hold, HoldBook
from ledger.domain.local_days import local_day
from ledger.domain.payments import MoneyFact, in_flight_until
from ledger.domain.sends import SendBook, SendRecord
from ledger.domain.value import value


@value
class Standing:
    """Where the invoice stands after a fact: what is owed, its cycle and where its age counts from.

    `starts_on` is the later of due date and issue date, or of due date and re-opening; None where
    the invoice cannot become past due. `run_ended` tells that this cycle was past due and is over.
    """

    status: Status
    balance: int
    cycle: int
    starts_on: date | None
    reopened_on: date | None
    run_ended: bool


@value
class StageRecord:
    """What is on record for a stage of a cycle: `permitted`, `sent`, `unknown`, `superseded` …"""

    cycle: int
    stage: str
    state: str
    at: datetime
    permit_id: str | None = None
    sender: str | None = None
    provider_message_id: str | None = None
    overtaken: str | None = None


class Invoice(Aggregate):
    """An invoice as the log knows it."""

    TOPIC: ClassVar[str] = "ledger:Invoice"
    STATE: ClassVar[dict[str, Any]] = {
        "invoice_id": str,
        "snapshot": Snapshot | None,
        "beside": tuple[Snapshot, ...],
        "standing": Standing,
        "money": dict[str, MoneyFact],
        "holds": HoldBook,
        "stages": dict[tuple[int, str], StageRecord],
        "rejections": dict[str, int],
        "notices": SendBook,
        "attempts": dict[str, tuple[str, ...]],
        "subscriptions": tuple[str, ...],
    }
    """What a snapshot of it holds."""

    class Event(Aggregate.Event):
        """Something that happened to an invoice."""

        class_version: ClassVar[int] = 1

    class Created(Event, Aggregate.Created):
        """The ledger heard of this invoice for the first time."""

        TOPIC: ClassVar[str] = "ledger:Invoice.Created"
        invoice_id: str

    class Observed(Event):
        """A snapshot of the billing system was taken in, or another of the same time now counts.

        `beside` are the others of the same moment. Before version 2 there were none, and a
        snapshot said nothing of payments in flight.
        """

        TOPIC: ClassVar[str] = "ledger:Invoice.Observed"
        class_version: ClassVar[int] = 2
        snapshot: Snapshot
        standing: Standing
        beside: tuple[Snapshot, ...]
        in_flight_until: datetime | None

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            """Read a snapshot of before ADR 0005."""
            state["beside"] = []
            state["in_flight_until"] = None

        def apply(self, aggregate: "Invoice") -> None:
            before = aggregate.snapshot
            aggregate.snapshot = now = self.snapshot.of_arrival(self.timestamp)
            aggregate.beside = self.beside
            if before is not None:
                if (before.due_on, before.issued_on) != (now.due_on, now.issued_on):
                    aggregate.overtake("the due date was changed")
                if before.customer_id != now.customer_id:
                    aggregate.overtake("it has another owner")
                if before.currency != now.currency:
                    aggregate.overtake("the currency was corrected")
            aggregate.stand(self.standing)

    class MoneyMoved(Event):
        """A payment changed its state, or a credit was given or taken back.

        `alone`: it replaces earlier facts about the same payment and state. Before version 2 every
        event did, so that each state of a payment counted once, at its earliest.
        """

        TOPIC: ClassVar[str] = "ledger:Invoice.MoneyMoved"
        class_version: ClassVar[int] = 2
        fact: MoneyFact
        standing: Standing | None
        in_flight_until: datetime | None
        alone: bool = False

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            """Read a fact of before ADR 0005."""
            state["alone"] = True

        def apply(self, aggregate: "Invoice") -> None:
            fact = self.fact.of_arrival(self.timestamp)
            if self.alone:
                aggregate.forget_state(fact)
            aggregate.money[fact.key] = fact
            if self.in_flight_until is not None:
                aggregate.overtake("a payment is in flight")
            if self.standing is not None:
                aggregate.stand(self.standing)

    class PaymentFailureNoted(Event):
        """The provider reported a failed attempt to pay; the balance is untouched."""

        TOPIC: ClassVar[str] = "ledger:Invoice.PaymentFailureNoted"
        event_id: str
        attempt_id: str | None

        def apply(self, aggregate: "Invoice") -> None:
            if self.attempt_id is not None:
                named = aggregate.attempts.get(self.event_id, ())
                if self.attempt_id not in named:
                    aggregate.attempts[self.event_id] = (*named, self.attempt_id)

    class SubscriptionNamed(Event):
        """A subscription that this invoice bills was told."""

        TOPIC: ClassVar[str] = "ledger:Invoice.SubscriptionNamed"
        subscription_id: str

        def apply(self, aggregate: "Invoice") -> None:
            aggregate.subscriptions = (*aggregate.subscriptions, self.subscription_id)

    class RefundNoted(Event):
        """A refund was reported; it changes no balance (provider pages, contract: Money)."""

        TOPIC: ClassVar[str] = "ledger:Invoice.RefundNoted"
        refund_id: str

    class HoldPlaced(Event):
        """Dunning of this invoice was put on hold."""

        TOPIC: ClassVar[str] = "ledger:Invoice.HoldPlaced"
        hold: Hold
        held_until: datetime | None
        indefinite: bool

        def apply(self, aggregate: "Invoice") -> None:
            aggregate.holds.note(self.hold)
            aggregate.overtake("the invoice was put on hold")

    class HoldLifted(Event):
        """A hold ended before its time."""

        TOPIC: ClassVar[str] = "ledger:Invoice.HoldLifted"
        hold: Hold
        held_until: datetime | None
        indefinite: bool

        def apply(self, aggregate: "Invoice") -> None:
            aggregate.holds.note(self.hold)

    class ReminderPermitted(Event):
        """A reminder for a stage was permitted; lower stages that were due are superseded.

        `crossed` holds the date on which each stage acted on was crossed.
        """

        TOPIC: ClassVar[str] = "ledger:Invoice.ReminderPermitted"
        permit_id: str
        sender: str
        cycle: int
        stage: str
        supersedes: tuple[str, ...]
        crossed: dict[str, date]

        def apply(self, aggregate: "Invoice") -> None:
            for stage in self.supersedes:
                aggregate.record(
                    StageRecord(self.cycle, stage, "superseded", self.timestamp, self.permit_id)
                )
            aggregate.record(
                StageRecord(
                    self.cycle, self.stage, "permitted", self.timestamp, self.permit_id, self.sender
                )
            )

    class ReminderSent(Event):
        """The mail for a stage went out."""

        TOPIC: ClassVar[str] = "ledger:Invoice.ReminderSent"
        permit_id: str | None
        sender: str
        cycle: int
        stage: str
        supersedes: tuple[str, ...]
        sent_at: datetime
        provider_message_id: str | None

        def apply(self, aggregate: "Invoice") -> None:
            for stage in self.supersedes:
                if (self.cycle, stage) not in aggregate.stages:
                    aggregate.record(
                        StageRecord(self.cycle, stage, "superseded", self.timestamp, self.permit_id)
                    )
            aggregate.record(
                StageRecord(
                    self.cycle,
                    self.stage,
                    "sent",
                    self.sent_at,
                    self.permit_id,
                    self.sender,
                    self.provider_message_id,
                )
            )

    class ReminderOutcomeUnknown(Event):
        """Nobody knows whether the mail for a stage went out: find out, never send again (D6)."""

        TOPIC: ClassVar[str] = "ledger:Invoice.ReminderOutcomeUnknown"
        permit_id: str
        cycle: int
        stage: str

        def apply(self, aggregate: "Invoice") -> None:
            held = aggregate.stages.get((self.cycle, self.stage))
            if held is not None and held.permit_id == self.permit_id:
                aggregate.record(replace(held, state="unknown"))

    class ReminderBounced(Event):
        """The mail for a stage came back for good."""

        TOPIC: ClassVar[str] = "ledger:Invoice.ReminderBounced"
        permit_id: str
        cycle: int
        stage: str

        def apply(self, aggregate: "Invoice") -> None:
            held = aggregate.stages.get((self.cycle, self.stage))
            if held is not None and held.permit_id == self.permit_id:
                aggregate.record(replace(held, state="bounced"))

    class ReminderFreed(Event):
        """The permit was rejected, revoked or expired: the stage and those superseded are free."""

        TOPIC: ClassVar[str] = "ledger:Invoice.ReminderFreed"
        permit_id: str
        cycle: int
        stage: str
        state: str
        rejections: int

        def apply(self, aggregate: "Invoice") -> None:
            freed = [
                key
                for key, held in aggregate.stages.items()
                if held.permit_id == self.permit_id and key[0] == self.cycle
            ]
            for key in freed:
                del aggregate.stages[key]
            if self.rejections:
                aggregate.rejections[_rung(self.cycle, self.stage)] = self.rejections

    class NoticePermitted(Event):
        """A mail about a failed payment was permitted, for one event or attempt."""

        TOPIC: ClassVar[str] = "ledger:Invoice.NoticePermitted"
        permit_id: str
        sender: str
        slot: str

        def apply(self, aggregate: "Invoice") -> None:
            aggregate.notices.permit(self.slot, self.permit_id, self.sender, self.timestamp)

    class NoticeSettled(Event):
        """The outcome of a mail about a failed payment."""

        TOPIC: ClassVar[str] = "ledger:Invoice.NoticeSettled"
        slot: str
        record: SendRecord
        rejections: int

        def apply(self, aggregate: "Invoice") -> None:
            aggregate.notices.settle(self.slot, self.record, self.rejections)

    def __init__(self, invoice_id: str) -> None:
        self.invoice_id = invoice_id
        self.snapshot: Snapshot | None = None
        self.beside: tuple[Snapshot, ...] = ()
        self.standing = Standing(Status.DRAFT, 0, 1, None, None, False)
        self.money: dict[str, MoneyFact] = {}
        self.holds = HoldBook()
        self.stages: dict[tuple[int, str], StageRecord] = {}
        self.rejections: dict[str, int] = {}
        self.notices = SendBook()
        self.attempts: dict[str, tuple[str, ...]] = {}
        self.subscriptions: tuple[str, ...] = ()

    @property
    def customer_id(self) -> str:
        """Who owes it; empty before the first snapshot."""
        return self.snapshot.customer_id if self.snapshot else ""

    def local_date(self, now: datetime, default_zone: str) -> date:
        """The calendar date of an instant in the invoice's billing zone."""
        zone = self.snapshot.time_zone if self.snapshot else None
        return local_day(now, zone or default_zone)

    def days_past_due(self, now: datetime, default_zone: str) -> int | None:
        """Age in calendar days of the billing zone since the cycle's start (D7); None: no age."""
        if self.standing.starts_on is None:
            return None
        return (self.local_date(now, default_zone) - self.standing.starts_on).days

    def cycle_records(self) -> Iterable[StageRecord]:
        """The records of the current cycle."""
        return (r for (cycle, _), r in self.stages.items() if cycle == self.standing.cycle)

    def last_reminder_at(self) -> datetime | None:
        """When the latest reminder, of any cycle, was permitted or sent (UTC)."""
        times = [r.at for r in self.stages.values() if r.state != "superseded"]
        return max(times, default=None)

    def rejections_of(self, cycle: int, stage: str) -> int:
        """How often a provider refused the mail of this stage (design D6)."""
        return self.rejections.get(_rung(cycle, stage), 0)

    def in_flight_until(self, longest: timedelta) -> datetime | None:
        """Until when a pending payment holds reminders back."""
        if not self.money:
            return None
        settled_before = self.snapshot.settled_before if self.snapshot else None
        return in_flight_until(self.money.values(), longest, settled_before)

    def forget_state(self, fact: MoneyFact) -> None:
        """Drop what else was said of this state of that payment; called by old events only."""
        same = [key for key, known in self.money.items() if known.old_key == fact.old_key]
        for key in same:
            del self.money[key]

    def record(self, record: StageRecord) -> None:
        """Put a stage on record; called by events only."""
        self.stages[(record.cycle, record.stage)] = record

    def stand(self, standing: Standing) -> None:
        """Take a new standing; called by events only."""
        before = self.standing
        self.standing = standing
        if standing.balance != before.balance or standing.status is not before.status:
            self.overtake("the amount owed changed")
        if standing.starts_on != before.starts_on:
            self.overtake("the due date was changed")

    def overtake(self, why: str) -> None:
        """Mark live permits as granted under facts that no longer hold (design D6)."""
        for key, held in self.stages.items():
            if held.state == "permitted" and held.overtaken is None:
                self.stages[key] = replace(held, overtaken=why)
        self.notices.overtake(why)


def _rung(cycle: int, stage: str) -> str:
    return f"{cycle}:{stage}"
