"""The guards of a permit, in their order (design D12), and the order itself as one table.

final duplicate → live or unknown permit → too late → facts of the invoice or thread → holds →
recovery → pause → address on hold → breaker → days between reminder mails → cap → copies. The
idempotency key is judged before all of them, by the engine.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from ledger.domain import windows
from ledger.domain.control import Control
from ledger.domain.conversation import Conversation
from ledger.domain.customer import Customer
from ledger.domain.instants import told
from ledger.domain.mailbox import Mailbox
from ledger.domain.permit import Lane, State
from ledger.domain.policy import Policy
from ledger.domain.reasons import Denial, Original
from ledger.domain.thread import Thread
from ledger.domain.value import value


@value
class Holder:
    """What holds a send key: a permit and its state, or a mail that went out past the ledger."""

    state: str
    permit_id: str | None
    sender: str | None
    at: datetime | None
    provider_message_id: str | None = None

    @property
    def final(self) -> bool:
        """Has the mail gone out? It may have come back since."""
        return self.state in ("sent", "bounced")

    def as_original(self) -> Original:
        """It as a denial tells of it."""
        return Original(self.permit_id, self.sender, self.at, self.provider_message_id)


class Subject(Protocol):
    """The real-world send that is asked for: one send key and the facts behind it."""

    @property
    def name(self) -> str:
        """What a person calls it, for the detail of a denial."""

    @property
    def duplicate_code(self) -> str:
        """The code for a second copy of it."""

    def holder(self) -> Holder | None:
        """What holds its send key."""

    def obstacle(self) -> Denial | None:
        """Why the facts forbid it."""


@value
class Case:
    """Everything a guard may look at beside the subject.

    `dunning`: is it a mail that reminds of invoices? From `not_after` on (UTC) it is too late.
    """

    kind: str
    lane: Lane
    sender: str
    now: datetime
    policy: Policy
    control: Control
    customer: Customer | None
    thread: Thread | None = None
    conversation: Conversation | None = None
    address: str | None = None
    mailbox: Mailbox | None = None
    override: bool = False
    claim: bool = False
    synthetic: bool = False
    dunning: bool = False
    not_after: datetime | None = None
    copies: tuple["Case", ...] = ()
    """The cases of those who get a copy."""
    copies_counted: bool = False
    """Do the copies count in their recipients' windows already?"""


def final_duplicate(case: Case, subject: Subject) -> Denial | None:
    """The send has been made. A human's override passes this guard and no other (D14)."""
    holder = subject.holder()
    if holder is None or case.override:
        return None
    if not holder.final:
        return None
    original = holder.as_original()
    when = f" at {told(holder.at)}" if holder.at else ""
    by = f" by {holder.sender}" if holder.sender else ""
    detail = f"{subject.name} was sent{when}{by}"
    return Denial(subject.duplicate_code, detail, permit_id=holder.permit_id, original=original)


def live_permit(case: Case, subject: Subject) -> Denial | None:
    """Somebody is about to make the send, or nobody knows whether it was made."""
    holder = subject.holder()
    if holder is None or holder.final:
        return None
    if holder.state == State.UNKNOWN:
        return Denial(
            "outcome_unknown",
            f"nobody knows whether permit {holder.permit_id} for {subject.name} was sent: "
            "a delivery event, the provider's log or a human must settle it",
            permit_id=holder.permit_id,
        )
    permits = case.customer.permits if case.customer is not None else {}
    held = permits.get(holder.permit_id or "")
    redeemed = holder.state != State.GRANTED or (held is not None and held.state is State.REDEEMED)
    granted_at = None if redeemed else holder.at
    return Denial(
        "permit_held",
        f"{holder.sender} holds the live permit {holder.permit_id} for {subject.name}",
        available_at=granted_at + case.policy.permit_life if granted_at is not None else None,
        permit_id=holder.permit_id,
    )


def too_late(case: Case, subject: Subject) -> Denial | None:
    """What the mail tells of is so long ago that it would only confuse."""
    if case.not_after is None or case.now < case.not_after:
        return None
    return Denial("too_late", f"{subject.name} was to go before {told(case.not_after)}")


def outside_facts(case: Case, subject: Subject) -> Denial | None:
    """What the billing system or the thread says forbids it."""
    return subject.obstacle()


def customer_hold(case: Case) -> Denial | None:
    """The customer is on hold for this kind: a dispute, a promise, an unsubscription."""
    if case.customer is None:
        return None
    hold = case.customer.holds.binding(case.now, case.kind)
    if hold is None:
        return None
    return Denial(
        "on_hold",
        f"customer {case.customer.customer_id} is on hold: {hold.reason}",
        available_at=hold.until,
    )


def unsubscribed(case: Case) -> Denial | None:
    """The owner of the address wants no mail of this kind, from whichever customer it is."""
    hold = case.mailbox.unsubscribed(case.now, case.kind) if case.mailbox is not None else None
    if hold is None:
        return None
    return Denial(
        "on_hold",
        f"the address is unsubscribed from {case.kind} mail since {told(hold.at)}",
        available_at=hold.until,
    )


def thread_hold(case: Case) -> Denial | None:
    """The thread is on hold for this kind."""
    hold = case.thread.holds.binding(case.now, case.kind) if case.thread is not None else None
    if case.thread is None or hold is None:
        return None
    return Denial(
        "on_hold",
        f"thread {case.thread.thread_id} is on hold: {hold.reason}",
        available_at=hold.until,
    )


def recovery(case: Case) -> Denial | None:
    """The database is an older copy, and a human has not said that the gap is filled (D13).

    The probes of a guard check pass: the resume needs one that was made since.
    """
    if case.control.recovery_since is None or case.synthetic:
        return None
    return Denial(
        "recovery_mode",
        "the ledger was restored from an older copy; import what was sent since, then resume: "
        f"{case.control.recovery_cause}",
    )


def pause(case: Case) -> Denial | None:
    """A human stopped sending. The probes of a guard check pass (D13)."""
    if case.synthetic:
        return None
    found = case.control.pause_for(case.kind, case.lane, case.sender)
    if found is None:
        return None
    scope, called = found
    return Denial("paused", f"{scope} is paused since {told(called.since)}: {called.reason}")


def address_hold(case: Case) -> Denial | None:
    """The address bounced, its owner complained, or a human blocked it (design D21)."""
    hold = case.mailbox.suppressed(case.now, case.kind) if case.mailbox is not None else None
    if hold is not None:
        return Denial(
            "address_on_hold", f"the address is on hold: {hold.reason}", available_at=hold.until
        )
    if case.customer is None or case.address is None:
        return None
    cause = case.customer.held_addresses.get(case.address)
    if cause is None:
        return None
    return Denial(
        "address_on_hold",
        f"the address of customer {case.customer.customer_id} is on hold: {cause}",
    )


def breaker(case: Case) -> Denial | None:
    """The customer's breaker is open until a named human resets it with a reason."""
    found = case.customer.breaker if case.customer else None
    if case.customer is None or found is None or not found.blocks(case.lane):
        return None
    return Denial(
        "breaker_open",
        f"the breaker of customer {case.customer.customer_id} is open for {found.scope} "
        f"since {told(found.opened_at)}: {found.cause}",
    )


def reminder_gap(case: Case) -> Denial | None:
    """The customer had a reminder mail a few days ago; a human's override passes (D14)."""
    if not case.dunning or case.customer is None or case.override:
        return None
    free_at = windows.next_reminder_mail(case.customer.reminded_at, case.policy)
    if free_at is None or free_at <= case.now:
        return None
    return Denial(
        "reminded_recently",
        f"customer {case.customer.customer_id} had a reminder mail less than "
        f"{case.policy.days_between_reminder_mails} days ago",
        available_at=free_at,
    )


def cap(case: Case) -> Denial | None:
    """The mail would be one too many in a rolling window (D8)."""
    if case.customer is None and case.thread is None:
        return None
    if case.lane is Lane.REPLY:
        return _reply_caps(case)
    if case.lane is Lane.APOLOGY or case.customer is None:
        return None
    permits = case.customer.permits.values()
    if case.lane is Lane.TRANSACTIONAL:
        full = windows.transactional(permits, case.policy, case.now)
        return _cap_reached(case, full, "all", windows.DAY) if full.full else None
    full = windows.outreach(permits, case.policy, case.now)
    return _cap_reached(case, full, "outreach", windows.DAY) if full.full else None


def _reply_caps(case: Case) -> Denial | None:
    if case.conversation is not None:
        times = case.conversation.reply_times(case.now)
        limit = case.policy.replies_per_thread_hour
        if len(times) >= limit:
            return Denial(
                "loop_guard",
                f"{case.conversation.name} had {len(times)} replies within an hour",
                available_at=times[len(times) - limit] + windows.HOUR,
                trips_loop_guard=True,
            )
    if case.customer is None:
        return None
    permits = case.customer.permits.values()
    for full, span in (
        (windows.replies_hour(permits, case.policy, case.now), windows.HOUR),
        (windows.replies_day(permits, case.policy, case.now), windows.DAY),
    ):
        if full.full:
            return _cap_reached(case, full, "all", span)
    return None


def _cap_reached(case: Case, full: windows.Window, scope: str, span: timedelta) -> Denial:
    """The window is full. Once the breaker is open, a place that frees helps no program (D8)."""
    assert case.customer is not None
    detail = (
        f"customer {case.customer.customer_id} has had {full.used} of {full.limit} mails in the "
        f"window {full.name}"
    )
    if case.claim:
        return Denial("cap_reached", detail, available_at=full.frees_at)
    if _is_flood(case, full, span):
        return Denial("cap_reached", detail, frees_at=full.frees_at, opens_breaker=scope)
    return Denial("cap_reached", detail, available_at=full.frees_at, counts_refusal=full.name)


def _is_flood(case: Case, full: windows.Window, span: timedelta) -> bool:
    """Does this refusal open the breaker? A guard check proves the breaker, whatever the policy."""
    if case.policy.breaker_opens == "at_once" or case.synthetic or case.customer is None:
        return True
    refused = case.customer.refusals.count(full.name, span, case.now)
    return refused + 1 >= case.policy.breaker_refusals


def copies(case: Case) -> Denial | None:
    """Somebody who is to get a copy may not get it; another customer's windows count it (D8).

    So is a mail to an address that is another customer's, for whose it is (ADR 0016). A copy opens
    no breaker: its recipient's mail is not what the sender asked for too often.
    """
    for copy in case.copies:
        own = copy.customer is not None and copy.customer is case.customer
        guards = ADDRESS_GUARDS if own else COPY_GUARDS
        for guard in guards:
            denial = guard(copy) if guard is not cap or not case.copies_counted else None
            if denial is not None:
                detail = f"{_about(case, copy)}: {denial.detail}"
                when = denial.available_at or denial.frees_at
                return replace(
                    denial,
                    detail=detail,
                    available_at=when,
                    frees_at=None,
                    opens_breaker=None,
                    counts_refusal=None,
                )
    return None


def _about(case: Case, copy: Case) -> str:
    """What a denial calls a copy, or the mail itself where its address is another customer's."""
    whose = copy.customer.customer_id if copy.customer is not None else None
    if copy.address == case.address:
        return f"the address of customer {whose}"
    return f"the copy for customer {whose}" if whose is not None else "the copy"


SubjectGuard = Callable[[Case, Subject], Denial | None]
CustomerGuard = Callable[[Case], Denial | None]

SUBJECT_GUARDS: tuple[SubjectGuard, ...] = (
    final_duplicate,
    live_permit,
    too_late,
    outside_facts,
)
"""Judged for each send key, in this order."""
ADDRESS_GUARDS: tuple[CustomerGuard, ...] = (unsubscribed, address_hold)
"""Judged for a copy to another address of the customer whose mail it is."""
COPY_GUARDS: tuple[CustomerGuard, ...] = (customer_hold, *ADDRESS_GUARDS, breaker, cap)
"""Judged for a copy to another customer."""
CUSTOMER_GUARDS: tuple[CustomerGuard, ...] = (
    customer_hold,
    unsubscribed,
    thread_hold,
    recovery,
    pause,
    address_hold,
    breaker,
    reminder_gap,
    cap,
    copies,
)
"""Judged once for the mail, in this order, after the guards of its send keys."""


def judge_subject(case: Case, subject: Subject) -> Denial | None:
    """The first denial of the guards of one send key, None if they all let it pass."""
    for guard in SUBJECT_GUARDS:
        denial = guard(case, subject)
        if denial is not None:
            return denial
    return None


def judge_customer(case: Case) -> Denial | None:
    """The first denial of the guards of the customer, None if they all let it pass."""
    for guard in CUSTOMER_GUARDS:
        denial = guard(case)
        if denial is not None:
            return denial
    return None
