"""Builds aggregates directly from events, for tests of the rules without commands."""

from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from ledger.domain.balance import Snapshot, Status
from ledger.domain.cycles import next_standing
from ledger.domain.hold import Hold
from ledger.domain.invoice import Invoice
from ledger.domain.payments import MoneyFact
from ledger.domain.permit import Lane, Permit, State
from ledger.domain.policy import Policy
from tests.support.build import at

_ID = UUID("00000000-0000-0000-0000-00000000000a")
NOON = at("2026-12-04T12:00:00Z")


class InvoiceHistory:
    """An invoice, told by its events in their order; `now` is when the next one is recorded."""

    def __init__(self, policy: Policy | None = None, now: datetime = NOON) -> None:
        self.policy = policy or Policy()
        self.now = now
        made: Any = Invoice.Created
        created = made(
            originator_id=_ID,
            originator_version=1,
            timestamp=now,
            originator_topic=Invoice.TOPIC,
            invoice_id="inv_1",
        )
        self.invoice: Invoice = created.mutate(None)

    def at(self, text: str) -> "InvoiceHistory":
        """Move the clock."""
        self.now = at(text)
        return self

    def event(self, cls: Any, **fields: Any) -> "InvoiceHistory":
        """Record an event of that class."""
        version = self.invoice.version + 1
        event = cls(originator_id=_ID, originator_version=version, timestamp=self.now, **fields)
        event.mutate(self.invoice)
        return self

    def observed(
        self,
        due: str | None = "2026-12-01",
        owes: int = 30000,
        total: int = 30000,
        issued: str | None = None,
        zone: str | None = None,
        status: Status = Status.OPEN,
        currency: str = "USD",
        seen: str | None = None,
    ) -> "InvoiceHistory":
        """A snapshot, and the standing it leads to."""
        snapshot = Snapshot(
            "cus_1",
            currency,
            total,
            owes,
            status,
            at(seen) if seen else self.now,
            date.fromisoformat(issued) if issued else None,
            date.fromisoformat(due) if due else None,
            zone,
        )
        standing = self._standing(snapshot, self.invoice.money.values(), snapshot.observed_at)
        return self.event(
            Invoice.Observed,
            snapshot=snapshot,
            standing=standing,
            beside=(),
            in_flight_until=None,
        )

    def money(self, state: str, amount: int, name: str = "p1") -> "InvoiceHistory":
        """A payment or credit, now."""
        fact = MoneyFact(name, state, amount, self.now)
        snapshot = self.invoice.snapshot
        assert snapshot is not None
        facts = [*self.invoice.money.values(), fact]
        standing = self._standing(snapshot, facts, self.now)
        return self.event(Invoice.MoneyMoved, fact=fact, standing=standing, in_flight_until=None)

    def held(self, reason: str = "dispute", until: datetime | None = None) -> "InvoiceHistory":
        """A hold."""
        hold = Hold(reason, True, self.now, until)
        return self.event(Invoice.HoldPlaced, hold=hold, held_until=until, indefinite=until is None)

    def reminded(self, stage: str, *supersedes: str, state: str = "sent") -> "InvoiceHistory":
        """A reminder permitted, and sent unless the state says otherwise."""
        cycle = self.invoice.standing.cycle
        named = {"permit_id": f"p-{stage}", "cycle": cycle, "stage": stage}
        self.event(
            Invoice.ReminderPermitted, sender="poller", supersedes=supersedes, crossed={}, **named
        )
        if state == "sent":
            self.event(
                Invoice.ReminderSent,
                sender="poller",
                supersedes=supersedes,
                sent_at=self.now,
                provider_message_id=None,
                **named,
            )
        return self

    def _standing(self, snapshot: Snapshot, money: Any, when: datetime) -> Any:
        return next_standing(
            self.invoice,
            snapshot,
            list(money),
            when,
            self.now,
            self.policy.time_zone,
            self.policy.age_from_issue_without_due_date,
        )


def a_permit(
    granted_at: datetime = NOON,
    state: State = State.GRANTED,
    lane: Lane = Lane.OUTREACH,
    required: bool = True,
    name: str = "p1",
    redeemed_at: datetime | None = None,
    settled_at: datetime | None = None,
) -> Permit:
    """A permit of ten minutes' life."""
    return Permit(
        permit_id=str(uuid5(_ID, name)),
        kind="reminder",
        lane=lane,
        state=state,
        customer_id="cus_1",
        key_id="key",
        sender="poller",
        redeem_required=required,
        granted_at=granted_at,
        send_by=granted_at + timedelta(minutes=10),
        redeemed_at=redeemed_at,
        settled_at=settled_at,
    )
