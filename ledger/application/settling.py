"""Ends a permit: the events on customer, invoices, thread and incident that its new state means."""

from dataclasses import replace
from datetime import datetime

from ledger.application.effects import Alert, NameClaim, Outcome
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.incident import Incident
from ledger.domain.invoice import Invoice
from ledger.domain.permit import FREED, Item, Permit, State
from ledger.domain.sends import SendRecord
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
    rejections = settled.rejections if state is State.REJECTED else 0
    outcome.permits.append(settled)
    outcome.customer_id = permit.customer_id
    _customer_side(world, outcome, settled, reason)
    for item in permit.items:
        _invoice_side(world, outcome, settled, item, rejections)
    for slot in permit.slots:
        _slot_side(outcome, settled, slot, rejections)
    if permit.incident_id is not None:
        outcome.change(
            "incident",
            permit.incident_id,
            Incident.ApologySettled,
            customer_id=permit.customer_id,
            permit_id=permit.permit_id,
            state=str(state),
            rejections=rejections,
        )
    for kind, name in (("provider_message", provider_message_id), ("sent_message", message_id)):
        if name is not None:
            outcome.names.append(NameClaim(kind, name, permit.permit_id))
    if rejections >= world.policy.rejections_before_hold:
        outcome.alerts.append(
            Alert(
                "send_key_held",
                f"send_key_held:{permit.permit_id}",
                f"the provider refused the {permit.kind} mail of permit {permit.permit_id} "
                f"and {rejections - 1} tries before it; its send key is on hold",
                permit.customer_id,
                permit.permit_id,
            )
        )
    return settled


def revoke_rival(world: World, outcome: Outcome, permit_id: str | None, sent_by: str) -> None:
    """Revoke the live permit of a send key whose mail turned out to be sent already (D6)."""
    if permit_id is None or permit_id == sent_by:
        return
    rival = world.permit(permit_id)
    if rival is not None and rival.live:
        settle(world, outcome, rival, State.REVOKED, "the mail was sent by somebody else")


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


def _invoice_side(
    world: World, outcome: Outcome, settled: Permit, item: Item, rejections: int
) -> None:
    invoice = world.invoice(item.invoice_id)
    if invoice is None:
        return
    if settled.state is State.SENT:
        held = invoice.stages.get((item.cycle, item.stage))
        if held is not None and held.permit_id != settled.permit_id:
            if held.state in ("sent", "bounced"):
                return
            revoke_rival(world, outcome, held.permit_id, settled.permit_id)
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


def _slot_side(outcome: Outcome, settled: Permit, slot: str, rejections: int) -> None:
    record = SendRecord(
        settled.permit_id,
        settled.state,
        settled.sender,
        settled.counts_at or settled.granted_at,
        settled.provider_message_id,
    )
    fields = {"slot": slot, "record": record, "rejections": rejections}
    if settled.invoice_id is not None:
        outcome.change("invoice", settled.invoice_id, Invoice.NoticeSettled, **fields)
    elif settled.thread_id is not None:
        outcome.change("thread", settled.thread_id, Thread.SendSettled, **fields)
