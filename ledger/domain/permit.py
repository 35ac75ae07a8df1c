"""A permit: the committed reservation for one real-world send, and the states of its life (D6)."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from ledger.domain.identity import RESERVED_CUSTOMER_PREFIX
from ledger.domain.value import value

OBSERVED = "observed"
"""The kind of a mail that went out past the ledger."""


class State(StrEnum):
    """Where a permit is in its life."""

    GRANTED = "granted"
    REDEEMED = "redeemed"
    SENT = "sent"
    REJECTED = "rejected"
    UNKNOWN = "unknown"
    REVOKED = "revoked"
    EXPIRED = "expired"


DUNNING = "reminder"
"""The kind of mail that the ladder asks for: of it the views and read models say what holds it."""
LIVE = frozenset({State.GRANTED, State.REDEEMED})
"""Not yet settled: the mail may be on its way."""
FREED = frozenset({State.REJECTED, State.REVOKED, State.EXPIRED})
"""Provably not sent: the send key and the place in the window are free again."""


class Lane(StrEnum):
    """Which rolling windows a mail counts in (design D8)."""

    OUTREACH = "outreach"
    REPLY = "reply"
    TRANSACTIONAL = "transactional"
    APOLOGY = "apology"
    """Judged by no window, and counted in the one for outreach."""


@value
class Item:
    """One invoice that a reminder names: the stage it uses up and those that it supersedes.

    `amount_remaining` (minor units) and `counts_from`, the start of the invoice's age, are as they
    were at the grant: where they changed since, the permit is revoked (design D6). `observed_at`
    (UTC) says how old the snapshot is that it rests on; None for permits of before this was kept.
    """

    invoice_id: str
    cycle: int
    stage: str
    supersedes: tuple[str, ...]
    amount_remaining: int
    currency: str
    counts_from: date | None = None
    observed_at: datetime | None = None


@value
class Copy:
    """A further recipient of a mail: the fingerprint of the address, and whose it is."""

    address: str
    customer_id: str


@value
class Permit:
    """A reservation for one send; times are UTC, `send_by` is when it lapses unless settled.

    `address` is the fingerprint of where it goes: the customer's preferred address at the grant, or
    one of its own (`address_named`). `action` is the human's deliberate repeat that it carries out
    (design D14). `bounced` tells that its mail came back; it was sent all the same, and counts.
    `copies` are the further recipients (design D8). `imprint` is what its mail carries of it
    (`send_imprint.py`), empty for one that was granted before mails carried any.

    The log leaves out fields that have their default, so no default may ever change.
    """

    permit_id: str
    kind: str
    lane: Lane
    state: State
    customer_id: str
    key_id: str
    sender: str
    redeem_required: bool
    granted_at: datetime
    send_by: datetime
    items: tuple[Item, ...] = ()
    thread_id: str | None = None
    invoice_id: str | None = None
    incident_id: str | None = None
    slots: tuple[str, ...] = ()
    named: str | None = None
    address: str | None = None
    address_named: bool = False
    redeemed_at: datetime | None = None
    attempt: str | None = None
    settled_at: datetime | None = None
    provider_message_id: str | None = None
    message_id: str | None = None
    overtaken: str | None = None
    control_version: int = 0
    idempotency: str | None = None
    rejections: int = 0
    action: str | None = None
    bounced: bool = False
    imprint: str = ""
    copies: tuple[Copy, ...] = ()

    @property
    def live(self) -> bool:
        """Granted or redeemed, and not settled."""
        return self.state in LIVE

    @property
    def may_be_out(self) -> bool:
        """May the mail have been handed over? Not before a redeem that had to come first (D6)."""
        return self.redeemed_at is not None or not self.redeem_required

    @property
    def dunning(self) -> bool:
        """Does it remind of invoices, by a permit or past the ledger?"""
        return bool(self.items) or (self.kind == OBSERVED and self.invoice_id is not None)

    @property
    def synthetic(self) -> bool:
        """Is it of a guard check's probe, which no pause holds back (design D13)?"""
        return self.customer_id.startswith(RESERVED_CUSTOMER_PREFIX)

    @property
    def counts_at(self) -> datetime | None:
        """The instant from which this mail counts in the rolling windows, None if it does not.

        The latest of granted, redeemed and sent; an unknown one counts from `send_by`, also when a
        late report settles it, so that no window fills up after the fact; rejected and expired
        ones do not count, nor one revoked before hand-over could happen (design D8).
        """
        if self.state in (State.REJECTED, State.EXPIRED):
            return None
        if self.state is State.REVOKED:
            return self.redeemed_at or (None if self.redeem_required else self.granted_at)
        if self.state is State.UNKNOWN:
            return max(self.send_by, self.redeemed_at or self.granted_at)
        latest = self.redeemed_at or self.granted_at
        if self.state is State.SENT and self.settled_at is not None:
            return max(latest, min(self.settled_at, self.send_by))
        return latest

    def counts_within(self, now: datetime, span: timedelta) -> bool:
        """Does it count in the window of that span? Exactly `span` old no longer does (D8)."""
        counts_at = self.counts_at
        return counts_at is not None and counts_at > now - span

    def lapsed_state(self, now: datetime) -> State | None:
        """What a live permit has become by `now`: expired, unknown, or None while it is in time.

        An unredeemed permit that had to be redeemed has provably not been handed over (D6).
        """
        if not self.live or now < self.send_by:
            return None
        if self.state is State.GRANTED and self.redeem_required:
            return State.EXPIRED
        return State.UNKNOWN

    def lapses(self, now: datetime) -> bool:
        """Is its time up while it is still live?"""
        return now >= self.send_by and self.live

    def is_freed(self, now: datetime) -> bool:
        """Is its send key free again, also where nobody has noticed yet that it expired?"""
        return self.state in FREED or self.lapsed_state(now) is State.EXPIRED

    def redeemed(self, at: datetime, attempt: str | None) -> "Permit":
        """The permit right before hand-over."""
        return replace(self, state=State.REDEEMED, redeemed_at=at, attempt=attempt)

    def settled(
        self,
        state: State,
        at: datetime,
        provider_message_id: str | None = None,
        message_id: str | None = None,
    ) -> "Permit":
        """The permit with its outcome, or as revoked or expired."""
        return replace(
            self,
            state=state,
            settled_at=at,
            provider_message_id=provider_message_id or self.provider_message_id,
            message_id=message_id or self.message_id,
        )
