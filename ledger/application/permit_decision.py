"""Deciding about a permit: the guards in their order, then the grant or the denial (D2, D12)."""

from ledger.application.breakers import open_breaker
from ledger.application.commands import RequestPermit
from ledger.application.effects import Alert, Outcome, denied
from ledger.application.key_obstacles import customer_obstacle, key_obstacle, subject_obstacle
from ledger.application.kinds.kind import Ask
from ledger.application.lost_sends import judged_by_record, used_as_a_whole
from ledger.application.permit_grant import grant
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.guards import Case, judge_customer, judge_subject
from ledger.domain.reasons import Denial
from ledger.domain.thread import Thread


def request_permit(world: World, command: RequestPermit) -> Outcome:
    """Grant the send at most once, or say why not.

    A denial changes nothing but an opening breaker, a refusal that counts towards one, and a
    tripped loop guard; by a breaker it merges two who turn out to be one, where only one of them
    would be closed.
    """
    refused = key_obstacle(world, command)
    if refused is not None:
        return denied(refused)
    ask = command.subject.ask(world, command)
    if isinstance(ask, Denial):
        return denied(ask)
    refused = customer_obstacle(world, command, ask) or ask.misdirected
    if refused is not None:
        return denied(refused)
    withheld: dict[str, Denial] = {}
    passed = []
    judged = judged_by_record(world, ask, command.subject)
    for subject, by_record in zip(ask.subjects, judged, strict=True):
        denial = judge_subject(ask.case, by_record) or subject_obstacle(command, subject)
        if denial is None:
            passed.append(subject)
        else:
            withheld[subject.ref] = denial
    if not passed:
        return _deny(world, command, ask, next(iter(withheld.values())), withheld)
    command.subject.narrow(ask, passed)
    denial = used_as_a_whole(world, ask, command, passed[0]) or judge_customer(ask.case)
    if denial is not None:
        return _deny(world, command, ask, denial, withheld)
    return grant(world, command, ask, passed, withheld)


def _deny(
    world: World, command: RequestPermit, ask: Ask, denial: Denial, withheld: dict[str, Denial]
) -> Outcome:
    outcome = denied(denial, **ask.ids)
    if ask.lists_withheld and withheld:
        outcome.body["withheld"] = withheld_items(withheld)
    if _closes_both(world, ask, denial):
        _merge(outcome, ask.setup)
    if denial.opens_breaker is not None and ask.case.customer is not None:
        open_breaker(outcome, ask.case.customer, denial.opens_breaker, denial.detail)
    if denial.counts_refusal is not None and ask.case.customer is not None:
        customer_id, window = ask.case.customer.customer_id, denial.counts_refusal
        outcome.change("customer", customer_id, Customer.CapRefused, window=window)
    if denial.trips_loop_guard and ask.case.conversation is not None:
        _trip_loop_guard(outcome, ask.case, denial)
    if command.idempotency is not None and denial.permit_id is not None:
        holder = world.permit(denial.permit_id)
        mine = command.idempotency.scope.hex()
        if holder is not None and holder.idempotency is not None and holder.idempotency != mine:
            outcome.warnings.append("idempotency-key-changes")
    return outcome


def _closes_both(world: World, ask: Ask, denial: Denial) -> bool:
    """Is it a breaker that one of two who turn out to be one has not open yet?

    The other could be mailed past it otherwise: by leaving the address out, or the id.
    """
    if denial.opens_breaker is not None:
        return True
    customer = world.customer(ask.customer_id)
    return denial.code == "breaker_open" and (customer is None or customer.breaker is None)


def _merge(outcome: Outcome, setup: Outcome) -> None:
    """Merge two who turn out to be one, as a grant does."""
    merging = (Customer.MergedInto, Customer.Absorbed)
    if any(change.event in merging for change in setup.changes):
        wanted = (Customer.Created, *merging)
        outcome.changes.extend(c for c in setup.changes if c.event in wanted)
        outcome.names.extend(setup.names)


def withheld_items(withheld: dict[str, Denial]) -> list[dict[str, object]]:
    """The invoices that a reminder leaves out, and why."""
    items = []
    for invoice_id, denial in withheld.items():
        item: dict[str, object] = {"invoice_id": invoice_id, "code": denial.code}
        if denial.available_at is not None:
            item["available_at"] = denial.available_at
        if denial.due_stage is not None:
            item["due_stage"] = denial.due_stage
        items.append(item)
    return items


def _trip_loop_guard(outcome: Outcome, case: Case, denial: Denial) -> None:
    """Page once per episode: until a place in the conversation's window is free again (D8)."""
    if case.conversation is None or denial.available_at is None:
        return
    thread = case.conversation.root
    if thread.loop_guard_until is not None and thread.loop_guard_until > case.now:
        return
    outcome.change("thread", thread.thread_id, Thread.LoopGuardTripped, until=denial.available_at)
    outcome.alerts.append(
        Alert(
            "loop_guard",
            f"loop_guard:{thread.thread_id}:{thread.version}",
            f"{denial.detail}: a loop, by the look of it",
            case.customer.customer_id if case.customer is not None else thread.customer_id,
        )
    )
