"""A small model of invoices, written from the rules only: money, cycles and the ladder."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from ledger.application.facts.invoice_observed import InvoiceObserved

LADDER = (("day-3", 3, 0), ("day-7", 7, 10), ("day-14", 14, 25))
"""The default stages: name, days past due, and how much of the total must be owed, in percent."""
CLOSED = ("paid", "void", "uncollectible")


@dataclass(frozen=True, order=True)
class Movement:
    """One word on a payment or credit; `rank` orders those of one instant."""

    at: datetime
    rank: int
    size: int
    payment: tuple[bool, str] = field(compare=False)
    state: str = field(compare=False)
    amount: int = field(compare=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Movement) and vars(self) == vars(other)

    def paid(self, before: int) -> int:
        """What the payment has paid then, if it had paid so much before."""
        if self.state in ("succeeded", "credit"):
            return self.amount
        if self.state in ("reversed", "credit_taken_back"):
            return max(0, before - abs(self.amount))
        return 0 if self.state == "failed" else before


@dataclass
class ModelSnapshot:
    """What the billing system said; `heard` are the movements known when it arrived undated."""

    said: InvoiceObserved
    at: datetime
    heard: tuple[Movement, ...] = ()

    @property
    def owed(self) -> int:
        """Nothing where it says paid."""
        return 0 if self.said.status == "paid" else self.said.amount_remaining


@dataclass
class ModelInvoice:
    """An invoice. `changed` is the number of the last command that takes its permits back."""

    snapshot: ModelSnapshot | None = None
    money: list[Movement] = field(default_factory=list)
    holds: dict[str, tuple[datetime, bool, datetime | None]] = field(default_factory=dict)
    cycle: int = 1
    reopened: date | None = None
    run_over: bool = False
    changed: int = 0
    settled: datetime | None = None

    def day(self, moment: datetime) -> date:
        """The calendar day in the billing zone."""
        zone = self.snapshot.said.time_zone if self.snapshot else None
        return moment.astimezone(ZoneInfo(zone if isinstance(zone, str) else "UTC")).date()

    def owed(self) -> int:
        """The snapshot's amount, and what moved at its instant or later and is not in it."""
        assert self.snapshot is not None
        billed = max(self.snapshot.said.total, self.snapshot.owed)
        return min(max(0, self._sum(self.money)), billed)

    def _sum(self, money: list[Movement], until: datetime | None = None) -> int:
        """The snapshot's amount after what moved before a moment; below zero if too much did."""
        assert self.snapshot is not None
        owed, most = self.snapshot.owed, max(self.snapshot.said.total, self.snapshot.owed)
        steps = []
        for payment in {movement.payment for movement in money}:
            said = sorted(m for m in money if m.payment == payment)
            leading = list(takewhile(lambda m: m.rank in (0, 3), said))
            first = sum(m.size for m in leading if m.rank == 3)
            held = now = first
            in_order = True
            for number, movement in enumerate(said):
                before, now = now, movement.paid(now)
                if self._heard(movement):
                    held = movement.paid(held)
                    in_order = in_order and all(self._heard(m) for m in said[:number])
                else:
                    moved = before - now
                    steps.append((movement, moved, moved > 0 and movement in leading, payment))
            if not in_order:
                steps = [s for s in steps if s[3] != payment]
                last = said[-1]
                steps.append((last, held - now, held > now and last in leading, payment))
        for movement, moved, bounded, _ in sorted(
            steps, key=lambda s: (s[0].at.replace(microsecond=0), s[1] > 0, s[1])
        ):
            if until is None or movement.at < until:
                owed = min(owed + moved, max(owed, most)) if bounded else owed + moved
        return owed

    def _heard(self, movement: Movement) -> bool:
        assert self.snapshot is not None
        at, heard = self.snapshot.at, self.snapshot.heard
        return movement.at < at or any(movement == known for known in heard)

    def status(self) -> str:
        """Open, paid, void, uncollectible or draft, after the money."""
        assert self.snapshot is not None
        said = str(self.snapshot.said.status)
        if said in ("void", "draft"):
            return said
        if self.owed() == 0:
            return "paid"
        return "open" if said == "paid" else said

    def starts(self) -> date | None:
        """The day from which its age counts."""
        assert self.snapshot is not None
        due = self.snapshot.said.due_on
        if not isinstance(due, date):
            return None
        issued = self.snapshot.said.issued_on
        later = [d for d in (due, issued, self.reopened) if isinstance(d, date)]
        return max(later)

    def age(self, now: datetime) -> int | None:
        """Whole calendar days since then."""
        starts = self.starts()
        return None if starts is None else (self.day(now) - starts).days

    def late(self, now: datetime) -> bool:
        """Open and past due: the due day itself is not."""
        if self.snapshot is None:
            return False
        age = self.age(now)
        return self.status() == "open" and age is not None and age > 0

    def in_flight_until(self) -> datetime | None:
        """The last pending payment without another word on it holds for seven days."""
        latest = {movement.payment: movement for movement in sorted(self.money)}
        pending = [
            m.at
            for m in latest.values()
            if m.state == "pending" and (self.settled is None or m.at >= self.settled)
        ]
        return max(pending) + timedelta(days=7) if pending else None

    def held(self, now: datetime) -> bool:
        """Does a hold bind it now?"""
        return any(on and (until is None or now < until) for _, on, until in self.holds.values())

    def observe(self, said: InvoiceObserved, now: datetime, number: int) -> str:
        """Take a snapshot in; with no time it is of its arrival, else an older one is stale."""
        before = self.snapshot
        if said.status == "paid":
            seen_at = said.observed_at or (max(now, before.at) if before else now)
            seen_at = seen_at.replace(microsecond=0)
            self.settled = max(self.settled or seen_at, seen_at)
        if said.observed_at is None:
            at = max(now, before.at) if before else now
            heard = tuple(m for m in self.money if m.at >= at)
            after = ModelSnapshot(said, at, heard)
        else:
            after = ModelSnapshot(said, said.observed_at)
            if before is not None and after.at < before.at:
                return "stale"
            assert before is None or after.at != before.at, "the histories make no ties"
        if before is not None and before == after:
            return "applied"
        self._change(now, after.at, number, after)
        if before is not None:
            old, new = before.said, said
            if (old.due_on, old.issued_on, old.customer_id) != (
                new.due_on,
                new.issued_on,
                new.customer_id,
            ):
                self.changed = number
        return "applied"

    def move(
        self, state: str, name: str, amount: int, at: datetime | None, now: datetime, number: int
    ) -> str:
        """A payment or credit: the latest word on it counts; told alike again it is no news."""
        payment = (state.startswith("credit"), name)
        rank = ("pending", "failed", "succeeded", "reversed").index(
            {"credit": "succeeded", "credit_taken_back": "reversed"}.get(state, state)
        )
        said = sorted(m for m in self.money if m.payment == payment)
        last = said[-1] if said else None
        if at is None and last is not None and (last.state, last.amount) == (state, amount):
            return "duplicate"
        times = [now, *([self.snapshot.at] if self.snapshot else []), *([last.at] if last else [])]
        moved = Movement(at or max(times), rank, abs(amount), payment, state, amount)
        if at is None and last is not None and moved < last:
            moved = replace(moved, at=moved.at + timedelta(microseconds=1))
        if moved in self.money:
            return "duplicate"
        self._change(now, moved.at, number, None, moved)
        if not state.startswith("credit") and self.in_flight_until() is not None:
            self.changed = number
        return "applied"

    def hold(self, reason: str, on: bool, until: datetime | None, at: datetime, number: int) -> str:
        """The latest word on a reason stands."""
        known = self.holds.get(reason)
        if known is not None and (at < known[0] or known == (at, on, until)):
            return "stale"
        self.holds[reason] = (at, on, until)
        if on:
            self.changed = number
        return "applied"

    def _change(
        self,
        now: datetime,
        at: datetime,
        number: int,
        snapshot: ModelSnapshot | None = None,
        moved: Movement | None = None,
    ) -> None:
        """Take a fact in, and end or begin a past-due run as the rules have it."""
        was_late, first = self.late(now), self.snapshot is None
        before = None if first else (self.status(), self.owed(), self.starts())
        was_said = self.snapshot
        self.snapshot = snapshot or self.snapshot
        self.money += [moved] if moved else []
        if self.snapshot is None:
            return
        today = self.day(min(at, now))
        is_open = self.status() == "open"
        if before is not None and before[0] in CLOSED and is_open:
            if before[0] == "paid" and was_said is not None and self._only_a_sum(was_said):
                if self.run_over and before[2] is not None:
                    self.run_over, was_late = False, True
            else:
                self.reopened = today
        self.run_over = self.run_over or (was_late and not self.late(now))
        if self.run_over and is_open and self.starts() is not None:
            self.cycle, self.run_over, self.reopened = self.cycle + 1, False, today
        if before != (self.status(), self.owed(), self.starts()):
            self.changed = number

    def _only_a_sum(self, said: ModelSnapshot) -> bool:
        """Was it paid by our own sums, and did nothing come back after they reached zero?"""
        if said.said.status != "open" or said.owed == 0:
            return False
        now, paid_once = self.snapshot, False
        self.snapshot = said
        try:
            for second in sorted({m.at.replace(microsecond=0) for m in self.money}):
                owed = self._sum(self._corrected(), second + timedelta(seconds=1))
                if paid_once and owed > 0:
                    return False
                paid_once = paid_once or owed <= 0
        finally:
            self.snapshot = now
        return True

    def _corrected(self) -> list[Movement]:
        """The movements as if a success told again with another amount had been right at once."""
        right: dict[tuple[bool, str], int] = {}
        corrected = []
        for movement in sorted(self.money, reverse=True):
            payment = movement.payment
            if self._heard(movement):
                pass
            elif movement.rank == 2:
                right.setdefault(payment, movement.amount)
                movement = replace(movement, amount=right[payment])
            elif movement.rank != 0:
                right.pop(payment, None)
            corrected.append(movement)
        return corrected

    def meets_floor(self, stage: str) -> bool:
        """Is enough still owed for the stage?"""
        assert self.snapshot is not None
        floor = next(percent for name, _, percent in LADDER if name == stage)
        return self.owed() * 100 >= floor * self.snapshot.said.total

    def due(self, now: datetime, recorded: set[str]) -> str | None:
        """The highest stage reached, above all that are on record, with enough owed."""
        age = self.age(now)
        highest = max((days for name, days, _ in LADDER if name in recorded), default=0)
        found = None
        for name, days, _ in LADDER:
            if age is not None and highest < days <= age and self.meets_floor(name):
                found = name
        return found

    def calendar(self, now: datetime, stage: str | None) -> str | None:
        """Why the calendar forbids the stage, or the lowest one."""
        age = self.age(now)
        if age is None:
            return "no_due_date"
        if age < 1:
            return "not_past_due"
        days = next(days for name, days, _ in LADDER if stage in (None, name))
        return "not_reached" if age < days else None

    def ladder(
        self, now: datetime, stage: str | None, recorded: set[str], last: datetime | None
    ) -> str | None:
        """Why the ladder forbids the stage (None: any), None where it may be granted."""
        code = self.calendar(now, stage)
        if code is not None:
            return code
        due, age = self.due(now, recorded), self.age(now) or 0
        days_of = {name: days for name, days, _ in LADDER}
        if stage is not None and due is not None and days_of[due] > days_of[stage]:
            return "stage_superseded"
        wanted = stage or due or [name for name, days, _ in LADDER if days <= age][-1]
        if not self.meets_floor(wanted):
            return "balance_below_stage"
        if due is None or due != wanted:
            return "stage_superseded"
        if last is not None and self.day(now) < self.day(last) + timedelta(days=3):
            return "not_reached"
        return None
