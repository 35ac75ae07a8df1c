"""A billing system that always knows what is owed: the truth that the ledger is compared with."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal

from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_credit import Credited
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.domain.balance import Status
from ledger.domain.payments import PaymentState

TOTAL = 10_000
"""What the invoice of every history bills, in minor units."""
LONGEST = timedelta(days=7)


@dataclass(frozen=True)
class Clock:
    """How a provider stamps its events: to the second or finer, for snapshots and for money."""

    snapshots: Literal["second", "finer"]
    money: Literal["second", "finer"]

    def of_money(self, moment: datetime) -> datetime:
        """When the money moved, as far as this provider counts."""
        return moment if self.money == "finer" else moment.replace(microsecond=0)

    def of_snapshot(self, moment: datetime) -> datetime:
        """When the snapshot was taken: after what it holds, unless the second hides it."""
        if self.snapshots == "finer":
            return moment + timedelta(microseconds=1)
        return moment.replace(microsecond=0)


@dataclass
class Payment:
    """A payment or credit as the billing system has it: what it has paid, and on its way since."""

    paid: int = 0
    pending: datetime | None = None
    state: str = ""
    moved: datetime | None = None


@dataclass
class Billing:
    """One invoice. `told` collects the events of each moment, in the order of their truth."""

    clock: Clock
    says_in_flight: bool
    due_on: date
    status: Status = Status.DRAFT
    payments: dict[str, Payment] = field(default_factory=dict)
    credits: dict[str, Payment] = field(default_factory=dict)
    lowest: int = TOTAL
    was_paid: bool = False
    told: list[Fact] = field(default_factory=list)

    @property
    def remaining(self) -> int:
        """What is owed, below zero by what was paid too much."""
        paid = sum(p.paid for p in (*self.payments.values(), *self.credits.values()))
        return TOTAL - paid

    @property
    def says(self) -> Status:
        """The status as the billing system shows it."""
        if self.status is Status.OPEN and self.remaining <= 0:
            return Status.PAID
        return self.status

    @property
    def in_flight_until(self) -> datetime | None:
        """Until when a payment is on its way."""
        pending = [p.pending for p in self.payments.values() if p.pending is not None]
        return max(pending) + LONGEST if pending else None

    def pay(self, name: str, state: str, amount: int, at: datetime, tell: bool = True) -> None:
        """A payment goes into a state."""
        payment = self.payments.setdefault(name, Payment())
        moved = self.clock.of_money(at)
        payment.pending = moved if state == "pending" else None
        if state == "succeeded":
            payment.paid = amount
        elif state == "reversed":
            payment.paid -= amount
        elif state == "failed":
            payment.paid = 0
        payment.state, payment.moved = state, moved
        if tell:
            self._tell(PaymentMoved("inv_1", name, amount, PaymentState(state)), moved)
        self._look()

    def credit(self, name: str, amount: int, at: datetime) -> None:
        """A credit note, or with a negative amount one that is taken back."""
        note = self.credits.setdefault(name, Payment())
        note.paid += amount
        note.state, note.moved = "credit", self.clock.of_money(at)
        self._tell(Credited("inv_1", name, amount), note.moved)
        self._look()

    def show(self, at: datetime) -> None:
        """Tell the invoice as it stands."""
        seen = self.clock.of_snapshot(at)
        said = InvoiceObserved(
            "inv_1",
            "cus_1",
            "EUR",
            TOTAL,
            self.remaining,
            self.says,
            due_on=self.due_on,
            observed_at=seen,
            whole_second=self.clock.snapshots == "second",
            nothing_in_flight=self.says_in_flight and self.in_flight_until is None,
        )
        self.was_paid = self.was_paid or self.says is Status.PAID
        self._tell(said, seen)

    def _look(self) -> None:
        self.lowest = min(self.lowest, self.remaining)

    def _tell(self, data: InvoiceObserved | PaymentMoved | Credited, at: datetime) -> None:
        self.told.append(Fact(data, "billing", f"evt_{len(self.told)}", at))
