"""Decides one command: a pure function of what was loaded, the command, the time and the policy."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ledger.application import operations, redeeming
from ledger.application.effects import Outcome, denied, ids_of
from ledger.application.facts.addresses import owner_of_named
from ledger.application.facts.intake import apply_fact, lapsed_by_fact
from ledger.application.permit_subjects import (
    ApologyRequest,
    Digest,
    FollowUp,
    IntentMessage,
    Notification,
    PaymentFailedNotice,
    Reminder,
    Reply,
)
from ledger.application.permits import request_permit
from ledger.application.requests import (
    ApplyFact,
    BindAnswer,
    CallPause,
    CallResume,
    CloseIncident,
    Command,
    DeclareIncident,
    EnterRecovery,
    Erase,
    GiveUpLease,
    Lapse,
    NoteGuardCheck,
    Redeem,
    ReleaseAddress,
    ReportOutcome,
    RequestPermit,
    ResetBreaker,
    TakeLease,
)
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import customer_known_by
from ledger.domain.permit import LIVE, State
from ledger.domain.reasons import Denial

_DECIDE: dict[type, Callable[[World, Any], Outcome]] = {
    RequestPermit: request_permit,
    Redeem: redeeming.redeem,
    ReportOutcome: redeeming.report_outcome,
    Lapse: redeeming.lapse,
    ApplyFact: apply_fact,
    ResetBreaker: operations.reset_breaker,
    ReleaseAddress: operations.release_address,
    CallPause: operations.call_pause,
    CallResume: operations.call_resume,
    NoteGuardCheck: operations.note_guard_check,
    EnterRecovery: operations.enter_recovery,
    TakeLease: operations.take_lease,
    GiveUpLease: operations.give_up_lease,
    DeclareIncident: operations.declare_incident,
    CloseIncident: operations.close_incident,
    Erase: operations.erase,
    BindAnswer: operations.bind_answer,
}


def decide(world: World, command: Command) -> Outcome:
    """The answer to a command and the events that come with it; nothing is changed here.

    The engine applies the events afterwards. Commands that must come first, facts that ride
    along and permits whose time is up, are given by `before`. Raises NotLoaded where something
    must be loaded before the command can be decided.
    """
    if isinstance(command, RequestPermit) and command.idempotency is not None:
        replay = _replay(world, command)
        if replay is not None:
            return replay
    return _DECIDE[type(command)](world, command)


def riding_facts(command: Command) -> list[ApplyFact]:
    """The facts that came with a request: taken in first, and staying whatever the answer is."""
    if not isinstance(command, RequestPermit):
        return []
    return [ApplyFact(fact, command.caller) for fact in command.facts]


def lapses(world: World, command: Command) -> list[Lapse]:
    """The permits whose time is up and that bear on this command (design D6)."""
    if isinstance(command, Redeem | ReportOutcome):
        permit = world.permit(command.permit_id)
        due = permit is not None and permit.lapsed_state(world.now) is not None
        return [Lapse(command.permit_id)] if due else []
    if isinstance(command, ApplyFact):
        return [Lapse(permit_id) for permit_id in lapsed_by_fact(world, command.fact)]
    if not isinstance(command, RequestPermit):
        return []
    now = world.now
    found: dict[str, None] = {}
    customers = _customers(world, command)
    for customer in customers:
        for permit in customer.permits.values():
            if permit.lapses(now):
                found[permit.permit_id] = None
    for permit_id in _holders(world, command, customers):
        held = world.permit(permit_id)
        if held is not None and held.lapses(now):
            found[permit_id] = None
    return [Lapse(permit_id) for permit_id in found]


def _replay(world: World, command: RequestPermit) -> Outcome | None:
    """The stored grant of this Idempotency-Key, a conflict, or None: judge afresh.

    Only a grant binds a key, and only while its permit is not freed; it is replayed while the
    permit is live and unredeemed, to a key that must redeem it (contract: Idempotency-Key).
    """
    assert command.idempotency is not None
    bound = world.binding(command.idempotency.scope)
    if bound is None or bound.permit_id is None:
        return None
    if bound.created_at <= world.now - timedelta(days=world.policy.idempotency_days):
        return None
    permit = world.permit(bound.permit_id)
    if permit is None or permit.is_freed(world.now):
        return None
    if bound.fingerprint != command.idempotency.fingerprint:
        return denied(Denial("key_conflict", "this Idempotency-Key was used for another request"))
    in_time = permit.state is State.GRANTED and permit.lapsed_state(world.now) is None
    if not in_time or not permit.redeem_required:
        return None
    return Outcome(
        status=200,
        replayed=True,
        granted=permit,
        address=permit.address,
        **ids_of(permit),
    )


def _customers(world: World, command: RequestPermit) -> list[Customer]:
    subject = command.subject
    ids: list[str] = []
    if isinstance(subject, Reminder):
        invoices = [world.invoice(invoice_id) for invoice_id in subject.invoices]
        ids = list({i.customer_id: None for i in invoices if i is not None and i.snapshot})
    elif isinstance(subject, PaymentFailedNotice):
        invoice = world.invoice(subject.invoice_id)
        ids = [invoice.customer_id] if invoice is not None and invoice.snapshot else []
    elif isinstance(subject, ApologyRequest):
        ids = [subject.customer_id]
    elif isinstance(subject, Reply | FollowUp | IntentMessage):
        thread = world.thread(_home(world, subject))
        if thread is not None:
            ids = [thread.customer_id]
    if not ids and isinstance(subject, Notification | Digest | FollowUp | IntentMessage):
        if subject.customer_id is not None:
            ids = [subject.customer_id]
            if subject.to is not None:
                owner = owner_of_named(world, subject.customer_id, subject.to)
                ids += [owner] if owner is not None else []
        elif subject.to is not None:
            claimed = world.name("address", subject.to.fingerprint)
            ids = [claimed or customer_known_by(subject.to)]
    found = [world.customer(customer_id) for customer_id in ids]
    return [customer for customer in found if customer is not None]


def _holders(world: World, command: RequestPermit, customers: list[Customer]) -> list[str]:
    """Permits that hold the send key from another customer's windows, after a move of owner."""
    subject = command.subject
    held: list[str] = []
    if isinstance(subject, Reminder):
        for invoice_id in subject.invoices:
            invoice = world.invoice(invoice_id)
            if invoice is not None and invoice.stages:
                live = (r for r in invoice.cycle_records() if r.state == "permitted")
                held.extend(r.permit_id for r in live if r.permit_id is not None)
    elif isinstance(subject, Reply | FollowUp | IntentMessage):
        thread = world.thread(_home(world, subject))
        if thread is not None:
            sends = thread.book.sends.values()
            held.extend(s.permit_id for s in sends if s.state in LIVE)
    elif isinstance(subject, PaymentFailedNotice):
        invoice = world.invoice(subject.invoice_id)
        notices = invoice.notices.sends.values() if invoice is not None else ()
        held.extend(s.permit_id for s in notices if s.state in LIVE)
    if not held:
        return held
    known = {permit_id for customer in customers for permit_id in customer.permits}
    return [permit_id for permit_id in dict.fromkeys(held) if permit_id not in known]


def _home(world: World, subject: Reply | FollowUp | IntentMessage) -> str:
    if isinstance(subject, Reply):
        return world.name("message", subject.in_reply_to) or subject.thread_id
    return subject.thread_id
