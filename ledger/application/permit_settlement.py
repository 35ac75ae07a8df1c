"""Ends a permit: the events on customer, invoices, thread and incident that its new state means."""

from dataclasses import replace
from datetime import datetime

from ledger.application.effects import Alert, NameClaim, Outcome
from ledger.application.mail_copies import settle_copies
from ledger.application.sent_proofs import note_also_sent
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.incident import Apology, Incident
from ledger.domain.invoice import Invoice, StageRecord
from ledger.domain.permit import FREED, Item, Permit, State
from ledger.domain.sends import SendBook, SendRecord
from ledger.domain.thread import Thread


def settle(
    world: World,
    outcome: Outcome,
    permit: Permit,
    state: State,
    reason: str | None = None,
    provider_message_id: str | None = None,
    message_id: str | None = None,
) -> Permit:
    """Take a permit to `sent`, `rejected`, `unknown`, `revoked` or `expired`.

    Rejections of a send key are counted: the provider's key of the next try differs, and after
    `rejections_before_hold` of them the key is held and a human is told (design D6).
    """
    settled = permit.settled(state, world.now, provider_message_id, message_id)
    if state is State.REJECTED:
        settled = replace(settled, rejections=permit.rejections + 1)
    outcome.permits.append(settled)
    _customer_side(world, outcome, settled, reason)
    settle_copies(world, outcome, permit, settled)
    for item in permit.items:
        _invoice_side(world, outcome, settled, item)
    for slot in permit.slots:
        _slot_side(world, outcome, settled, slot)
    if permit.named is not None and state is State.SENT:
        _name_side(world, outcome, settled, permit.named)
    if permit.action is not None and state is State.SENT:
        _action_side(world, outcome, settled, permit.action)
    if permit.incident_id is not None:
        _incident_side(world, outcome, settled, permit.incident_id)
    for kind, name in (("provider_message", provider_message_id), ("sent_message", message_id)):
        if name is not None:
            outcome.names.append(NameClaim(kind, name, permit.permit_id))
    if state is State.REJECTED and settled.rejections >= world.policy.rejections_before_hold:
        outcome.alerts.append(
            Alert(
                "send_key_held",
                f"send_key_held:{permit.permit_id}",
                f"the provider refused the {permit.kind} mail of permit {permit.permit_id} "
                f"and {permit.rejections} tries before it; its send key is on hold",
                permit.customer_id,
                permit.permit_id,
            )
        )
    outcome.customer_id = permit.customer_id
    return settled


def revoke_rival(world: World, outcome: Outcome, permit_id: str | None, sent: Permit) -> None:
    """Revoke the live permit of a send key whose mail turned out to be sent already (D6).

    One that names further sends and may have been handed over becomes unknown instead: to free
    those would let them out twice. One whose time is up has lapsed, whether it was visited or not.
    """
    if permit_id is None or permit_id == sent.permit_id:
        return
    rival = world.permit(permit_id)
    if rival is None or not rival.live or any(p.permit_id == permit_id for p in outcome.permits):
        return
    lapsed = rival.lapsed_state(world.now)
    if lapsed is not None:
        settle(world, outcome, rival, lapsed, "not settled by its send_by")
        return
    others = _sends_of(rival) - _sends_of(sent)
    alone = len(others) <= (0 if _sends_of(sent) else 1)
    state = State.REVOKED if alone or not rival.may_be_out else State.UNKNOWN
    settle(world, outcome, rival, state, "the mail was sent by somebody else")


def _sends_of(permit: Permit) -> set[tuple[str, ...]]:
    """The stages and slots that a permit names; none for a mail that went out past the ledger."""
    stages = {(item.invoice_id, str(item.cycle), item.stage) for item in permit.items}
    return stages | {(slot,) for slot in permit.slots}


def window_time(permit: Permit, now: datetime) -> datetime:
    """From when a permit counts, `now` where it counts in no window any more."""
    return permit.counts_at or now


def _customer_side(world: World, outcome: Outcome, settled: Permit, reason: str | None) -> None:
    customer = world.customer(settled.customer_id)
    outcome.change(
        "customer",
        customer.customer_id if customer else settled.customer_id,
        Customer.MailSettled,
        permit_id=settled.permit_id,
        state=settled.state,
        reason=reason,
        provider_message_id=settled.provider_message_id,
        message_id=settled.message_id,
    )


def _invoice_side(world: World, outcome: Outcome, settled: Permit, item: Item) -> None:
    invoice = world.invoice(item.invoice_id)
    if invoice is None:
        return
    if settled.state is State.SENT:
        held = invoice.stages.get((item.cycle, item.stage))
        if held is not None and held.permit_id != settled.permit_id:
            if held.state in ("sent", "bounced"):
                note_also_sent(world, outcome, (held.permit_id,), settled.permit_id)
                return
            displace(world, outcome, held, settled)
        outcome.change(
            "invoice",
            item.invoice_id,
            Invoice.ReminderSent,
            permit_id=settled.permit_id,
            sender=settled.sender,
            cycle=item.cycle,
            stage=item.stage,
            supersedes=item.supersedes,
            sent_at=window_time(settled, world.now),
            provider_message_id=settled.provider_message_id,
        )
    elif settled.state is State.UNKNOWN:
        outcome.change(
            "invoice",
            item.invoice_id,
            Invoice.ReminderOutcomeUnknown,
            permit_id=settled.permit_id,
            cycle=item.cycle,
            stage=item.stage,
        )
    elif settled.state in FREED:
        refused = settled.state is State.REJECTED
        rejections = invoice.rejections_of(item.cycle, item.stage) + 1 if refused else 0
        outcome.change(
            "invoice",
            item.invoice_id,
            Invoice.ReminderFreed,
            permit_id=settled.permit_id,
            cycle=item.cycle,
            stage=item.stage,
            state=str(settled.state),
            rejections=rejections,
        )


def displace(world: World, outcome: Outcome, held: StageRecord, sent: Permit) -> None:
    """Take back the permit on record for a stage whose mail turned out to be sent.

    A permit that merely superseded the stage is for a later stage; it is too early for that one
    now (design D7, days between reminders), but only what is provably not out can be taken back.
    """
    superseded = held.state == "superseded"
    by = world.permit(held.permit_id) if superseded and held.permit_id is not None else None
    if superseded and (by is None or by.may_be_out):
        return
    revoke_rival(world, outcome, held.permit_id, sent)


def _slot_side(world: World, outcome: Outcome, settled: Permit, slot: str) -> None:
    book = _book_of(world, settled)
    if book is None:
        return
    held = book.sends.get(slot)
    if held is not None and settled.state is State.SENT:
        if held.state is State.SENT:
            note_also_sent(world, outcome, (held.permit_id,), settled.permit_id)
        revoke_rival(world, outcome, held.permit_id, settled)
    record = SendRecord(
        settled.permit_id,
        settled.state,
        settled.sender,
        settled.counts_at or settled.granted_at,
        settled.provider_message_id,
        counts=settled.counts_at is not None,
    )
    refused = settled.state is State.REJECTED
    rejections = book.rejections.get(slot, 0) + 1 if refused else 0
    fields = {"slot": slot, "record": record, "rejections": rejections}
    if settled.invoice_id is not None:
        outcome.change("invoice", settled.invoice_id, Invoice.NoticeSettled, **fields)
    elif settled.thread_id is not None:
        outcome.change("thread", settled.thread_id, Thread.SendSettled, **fields)


def _book_of(world: World, permit: Permit) -> SendBook | None:
    if permit.invoice_id is not None:
        invoice = world.invoice(permit.invoice_id)
        return invoice.notices if invoice else None
    thread = world.thread(permit.thread_id) if permit.thread_id is not None else None
    return thread.book if thread else None


def _name_side(world: World, outcome: Outcome, settled: Permit, named: str) -> None:
    """The name of the send leads to the permit whose mail went out, not to a later try."""
    holder_id = world.name("send", named)
    holder = world.permit(holder_id) if holder_id is not None else None
    if holder is None or holder.permit_id == settled.permit_id:
        return
    if holder.state is State.SENT:
        note_also_sent(world, outcome, (holder.permit_id,), settled.permit_id)
        return
    revoke_rival(world, outcome, holder.permit_id, settled)
    outcome.names.append(NameClaim("send", named, settled.permit_id, replaces=True))


def _action_side(world: World, outcome: Outcome, settled: Permit, action: str) -> None:
    """A human's repeat that was carried out after all takes back the second try of its action."""
    holder_id = world.name("override", action)
    holder = world.permit(holder_id) if holder_id is not None else None
    if holder is None or holder.permit_id == settled.permit_id:
        return
    if holder.state is State.SENT:
        note_also_sent(world, outcome, (holder.permit_id,), settled.permit_id)
        return
    revoke_rival(world, outcome, holder.permit_id, settled)
    outcome.names.append(NameClaim("override", action, settled.permit_id, replaces=True))


def _incident_side(world: World, outcome: Outcome, settled: Permit, incident_id: str) -> None:
    incident = world.incident(incident_id)
    customer_id = settled.customer_id
    if settled.state is State.SENT:
        customer = world.customer(customer_id)
        for held in _apologies_to(incident, customer, customer_id):
            if held.state == State.SENT:
                note_also_sent(world, outcome, (held.permit_id,), settled.permit_id)
            revoke_rival(world, outcome, held.permit_id, settled)
        outcome.change(
            "customer",
            customer.customer_id if customer else customer_id,
            Customer.ApologySent,
            permit_id=settled.permit_id,
            sent_at=window_time(settled, world.now),
        )
    rejections = 0
    if settled.state is State.REJECTED:
        rejections = (incident.rejections.get(customer_id, 0) if incident else 0) + 1
    outcome.change(
        "incident",
        incident_id,
        Incident.ApologySettled,
        customer_id=customer_id,
        permit_id=settled.permit_id,
        sender=settled.sender,
        state=str(settled.state),
        rejections=rejections,
    )


def _apologies_to(
    incident: Incident | None, customer: Customer | None, customer_id: str
) -> list[Apology]:
    """The incident's apologies on record for a customer, under every id merged into one."""
    if incident is None:
        return []
    ids = {customer_id}
    if customer is not None:
        ids |= {customer.customer_id, *customer.absorbed}
    return [incident.apologies[id_] for id_ in sorted(ids) if id_ in incident.apologies]
