"""Decides one command: a pure function of what was loaded, the command, the time and the policy."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ledger.application import operator_commands, permit_life
from ledger.application.commands import (
    AcceptClock,
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
    NoteFeedSilence,
    NoteGuardCheck,
    Redeem,
    ReleaseAddress,
    ReportOutcome,
    RequestPermit,
    ResetBreaker,
    TakeLease,
)
from ledger.application.effects import Outcome, denied, ids_of
from ledger.application.facts.intake import apply_fact, lapsed_by_fact
from ledger.application.feeds import note_silence
from ledger.application.permit_decision import request_permit
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.permit import State
from ledger.domain.reasons import Denial

_DECIDE: dict[type, Callable[[World, Any], Outcome]] = {
    RequestPermit: request_permit,
    Redeem: permit_life.redeem,
    ReportOutcome: permit_life.report_outcome,
    Lapse: permit_life.lapse,
    ApplyFact: apply_fact,
    ResetBreaker: operator_commands.reset_breaker,
    ReleaseAddress: operator_commands.release_address,
    CallPause: operator_commands.call_pause,
    CallResume: operator_commands.call_resume,
    AcceptClock: operator_commands.accept_clock,
    NoteGuardCheck: operator_commands.note_guard_check,
    EnterRecovery: operator_commands.enter_recovery,
    NoteFeedSilence: note_silence,
    TakeLease: operator_commands.take_lease,
    GiveUpLease: operator_commands.give_up_lease,
    DeclareIncident: operator_commands.declare_incident,
    CloseIncident: operator_commands.close_incident,
    Erase: operator_commands.erase,
    BindAnswer: operator_commands.bind_answer,
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
        if permit is None:
            return []
        due = [command.permit_id] if permit.lapsed_state(world.now) is not None else []
        if isinstance(command, Redeem):
            getting = (world.customer(copy.customer_id) for copy in permit.copies)
            due += [p.permit_id for c in getting if c is not None for p in c.lapsed(world.now)]
        return [Lapse(permit_id) for permit_id in dict.fromkeys(due)]
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
    ids = command.subject.customers(world)
    getting = (world.name("address", address.fingerprint) for address in command.cc)
    ids += [owner_id for owner_id in getting if owner_id is not None]
    found = [world.customer(customer_id) for customer_id in dict.fromkeys(ids)]
    return [customer for customer in found if customer is not None]


def _holders(world: World, command: RequestPermit, customers: list[Customer]) -> list[str]:
    """Permits that hold the send key from another customer's windows, after a move of owner."""
    held = command.subject.holders(world)
    if not held:
        return held
    known = {permit_id for customer in customers for permit_id in customer.permits}
    return [permit_id for permit_id in dict.fromkeys(held) if permit_id not in known]
