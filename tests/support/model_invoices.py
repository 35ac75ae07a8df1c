"""A small model of invoices, written from the rules only: money, cycles and the ladder."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from ledger.application.facts.invoice_observed import InvoiceObserved

LADDER = (("day-3", 3, 0), ("day-7", 7, 10), ("day-14", 14, 25))
"""The default stages: name, days past due, and how much of the total must be owed, in percent."""
CLOSED = ("paid", "void", "uncollectible")


@dataclass
class ModelSnapshot:
    """What the billing system said; `heard` are the money facts known when it arrived undated."""

    said: InvoiceObserved
    at: datetime
    heard: frozenset[tuple[str, str]] = frozenset()

    @property
    def owed(self) -> int:
        """Nothing where it says paid."""
        return 0 if self.said.status == "paid" else self.said.amount_remaining


@dataclass
class ModelInvoice:
    """An invoice. `changed` is the number of the last command that takes its permits back."""

    snapshot: ModelSnapshot | None = None
    money: dict[tuple[str, str], tuple[datetime, int]] = field(default_factory=dict)
    holds: dict[str, tuple[datetime, bool, datetime | None]] = field(default_factory=dict)
    cycle: int = 1
    reopened: date | None = None
    run_over: bool = False
    changed: int = 0

    def day(self, moment: datetime) -> date:
        """The calendar day in the billing zone."""
        zone = self.snapshot.said.time_zone if self.snapshot else None
        return moment.astimezone(ZoneInfo(zone if isinstance(zone, str) else "UTC")).date()

    def owed(self) -> int:
        """The snapshot's amount, and what moved at its instant or later and is not in it."""
        assert self.snapshot is not None
        owed = self.snapshot.owed
        for key, (at, amount) in self.money.items():
            if at < self.snapshot.at or key in self.snapshot.heard:
                continue
            if key[0] in ("succeeded", "credit", "credit_taken_back"):
                owed -= amount
            elif key[0] == "reversed":
                owed += amount
        return max(0, owed)

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
        ended = {name for state, name in self.money if state in ("succeeded", "failed", "reversed")}
        pending = [
            at
            for (state, name), (at, _) in self.money.items()
            if state == "pending" and name not in ended
        ]
        return max(pending) + timedelta(days=7) if pending else None

    def held(self, now: datetime) -> bool:
        """Does a hold bind it now?"""
        return any(on and (until is None or now < until) for _, on, until in self.holds.values())

    def observe(self, said: InvoiceObserved, now: datetime, number: int) -> str:
        """Take a snapshot in; with no time it is of its arrival, else an older one is stale."""
        before = self.snapshot
        if said.observed_at is None:
            at = max(now, before.at) if before else now
            heard = frozenset(key for key, (moved, _) in self.money.items() if moved >= at)
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
        """A payment or credit: the first word on each of its states counts."""
        if at is None:
            at = max(now, self.snapshot.at) if self.snapshot else now
        known = self.money.get((state, name))
        if known is not None and known <= (at, amount):
            return "duplicate"
        self._change(now, at, number, None, (state, name), (at, amount))
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
        moved: tuple[str, str] | None = None,
        money: tuple[datetime, int] | None = None,
    ) -> None:
        """Take a fact in, and end or begin a past-due run as the rules have it."""
        was_late, first = self.late(now), self.snapshot is None
        before = None if first else (self.status(), self.owed(), self.starts())
        self.snapshot = snapshot or self.snapshot
        if moved is not None and money is not None:
            self.money[moved] = money
        if self.snapshot is None:
            return
        today = self.day(min(at, now))
        is_open = self.status() == "open"
        if before is not None and before[0] in CLOSED and is_open:
            self.reopened = today
        self.run_over = self.run_over or (was_late and not self.late(now))
        if self.run_over and is_open and self.starts() is not None:
            self.cycle, self.run_over, self.reopened = self.cycle + 1, False, today
        if before != (self.status(), self.owed(), self.starts()):
            self.changed = number

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
