"""The life of a permit after its grant: redeem, outcome and lapse (design D6)."""

from dataclasses import replace
from typing import Any

from ledger.application.caller import Caller
from ledger.application.commands import Lapse, Redeem, ReportOutcome
from ledger.application.effects import NameClaim, Outcome, denied, ids_of
from ledger.application.facts.delivered_mail import (
    Word,
    apply_deliveries,
    sent_after_end,
    take_early_deliveries,
)
from ledger.application.lost_sends import used_elsewhere
from ledger.application.mail_copies import copies_overtaken, count_copies
from ledger.application.permit_grant import copies_body, item_body
from ledger.application.permit_settlement import settle
from ledger.application.reported_names import ids_to_keep
from ledger.application.sent_correction import correct_sent
from ledger.application.skipped_redeem import SKIPPED, note_sent, skips_redeem
from ledger.application.statement import covered_currencies
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.invoice import Invoice
from ledger.domain.payment_attempts import joined_slots
from ledger.domain.permit import FREED, Item, Permit, State
from ledger.domain.reasons import Denial
from ledger.domain.stages import money_obstacle
from ledger.domain.subjects import covered_by_credit, hold_obstacle, in_flight_obstacle
from ledger.domain.thread import Thread
from ledger.domain.thread_subjects import overtaken_in_thread


def redeem(world: World, command: Redeem) -> Outcome:
    """Turn a granted permit into the right to hand one mail over; judged again by the facts.

    The same `attempt` hears its yes again while the permit is redeemed; anything else is told
    that it was redeemed already.
    """
    permit = world.permit(command.permit_id)
    if permit is None and world.control.recovery_since is not None:
        return denied(Denial("recovery_mode", "the ledger was restored and may have lost it"))
    if permit is None:
        return denied(Denial("unknown_permit", "there is no such permit"))
    ids = ids_of(permit)
    if not may_handle(command.caller, permit):
        return Outcome(status=403, **ids)
    denial = not_redeemable(permit, command.attempt)
    if denial is not None:
        return denied(denial, **ids)
    if world.control.recovery_since is not None and not permit.synthetic:
        # Also where it was redeemed before: its mail may have gone out in what was lost.
        return denied(
            Denial("recovery_mode", "the ledger was restored and waits for a human"), **ids
        )
    if permit.state is State.REDEEMED:
        outcome = Outcome(**ids, body=_hand_over(world, permit))
        outcome.address = permit.address
        return outcome
    why = overtaken(world, permit)
    if why is not None:
        outcome = denied(
            Denial("revoked", f"permit {permit.permit_id}: {why}", permit_id=permit.permit_id),
            **ids,
        )
        settle(world, outcome, permit, State.REVOKED, why)
        return outcome
    redeemed = permit.redeemed(world.now, command.attempt)
    outcome = Outcome(**ids, body=_hand_over(world, redeemed))
    outcome.address = permit.address
    outcome.permits.append(redeemed)
    customer = world.customer(permit.customer_id)
    outcome.change(
        "customer",
        customer.customer_id if customer else permit.customer_id,
        Customer.MailRedeemed,
        permit_id=permit.permit_id,
        attempt=command.attempt,
    )
    if not permit.may_be_out:
        count_copies(world, outcome, redeemed)
    if permit.thread_id is not None:
        for slot in permit.slots:
            outcome.change(
                "thread",
                permit.thread_id,
                Thread.SendRedeemed,
                permit_id=permit.permit_id,
                slot=slot,
            )
    return outcome


def report_outcome(world: World, command: ReportOutcome) -> Outcome:
    """Take a sender's word on its mail, in any order and repeated.

    `sent` after `unknown` is a settlement; after `expired` or `revoked` it is taken as the fact
    that it is, and a human is told. So is `sent` for a permit that had to be redeemed and was not:
    the answer warns of it. `rejected` after `sent` is refused (already_settled), but for a named
    human's correction with a reason. An id that is another mail's is not taken, and the answer
    warns of it.
    """
    permit = world.permit(command.permit_id)
    if permit is None:
        return denied(Denial("unknown_permit", "there is no such permit"))
    if not may_handle(command.caller, permit):
        return Outcome(status=403, customer_id=permit.customer_id)
    wanted = State(command.outcome)
    outcome = Outcome(customer_id=permit.customer_id)
    if wanted is State.SENT and skips_redeem(permit):
        outcome.warnings.append(SKIPPED)
    if wanted == permit.state or (wanted is State.REJECTED and permit.state in FREED):
        if wanted is State.SENT:
            permit = _note_ids(world, outcome, permit, command)
        outcome.body = permit_body(permit)
        return outcome
    if permit.state is State.SENT and command.correction is not None:
        outcome, corrected = correct_sent(world, command, permit, command.correction)
        if outcome.denial is None:
            outcome.body = permit_body(corrected)
        return outcome
    if permit.state is State.SENT or (wanted is State.UNKNOWN and permit.state in FREED):
        denial = Denial(
            "already_settled",
            f"permit {permit.permit_id} is {permit.state}, not {wanted}",
            permit_id=permit.permit_id,
        )
        return denied(denial, customer_id=permit.customer_id)
    if permit.state in FREED:
        outcome.alerts.append(sent_after_end(permit))
    if wanted is State.SENT:
        note_sent(outcome, permit)
    ids = ids_to_keep(world, outcome, permit, command)
    settled = settle(world, outcome, permit, wanted, command.reason, *ids)
    early = take_early_deliveries(world, outcome, *ids)
    if early:
        settled = _apply_early_deliveries(world, outcome, permit, settled, early)
    outcome.body = permit_body(settled)
    return outcome


def lapse(world: World, command: Lapse) -> Outcome:
    """Let a permit become expired or unknown whose `send_by` has passed."""
    permit = world.permit(command.permit_id)
    state = permit.lapsed_state(world.now) if permit else None
    outcome = Outcome(result="ignored")
    if permit is None or state is None:
        return outcome
    outcome.result = "applied"
    settle(world, outcome, permit, state, "not settled by its send_by")
    return outcome


def permit_body(permit: Permit) -> dict[str, Any]:
    """What a permit is now; `to` is added as it leaves."""
    body: dict[str, Any] = {
        "permit_id": permit.permit_id,
        "state": str(permit.state),
        "kind": permit.kind,
        "customer_id": permit.customer_id,
        "items": [item_body(item) for item in permit.items],
        "granted_at": permit.granted_at,
        "send_by": permit.send_by,
        "redeemed_at": permit.redeemed_at,
        "settled_at": permit.settled_at,
        "bounced": permit.bounced,
        "provider_message_id": permit.provider_message_id,
    }
    if permit.copies:
        body["copies"] = copies_body(permit)
    return body


def _hand_over(world: World, permit: Permit) -> dict[str, Any]:
    """A redeemed permit, with the Message-ID and the token to hand over."""
    identity, permit_id, imprint = world.identity, permit.permit_id, permit.imprint
    carried = {"message_id": identity.message_id(permit_id, imprint)}
    if imprint:
        carried["send_token"] = identity.send_token(permit_id, imprint)
    return permit_body(permit) | carried


def may_handle(caller: Caller, permit: Permit) -> bool:
    """May this key redeem the permit and report on it: the granting one, or `operate` (D6)?

    A key with limits may handle its own permits only, whatever its scopes.
    """
    if caller.key_id == permit.key_id:
        return True
    return caller.limits is None and caller.may("operate")


def not_redeemable(permit: Permit, attempt: str | None) -> Denial | None:
    """Why the state of the permit alone forbids a redeem."""
    name = permit.permit_id
    if permit.state is State.GRANTED:
        return None
    if permit.state is State.EXPIRED:
        return Denial("expired", f"permit {name} was not used by its send_by", permit_id=name)
    if permit.state in (State.REVOKED, State.REJECTED):
        return Denial("revoked", f"permit {name} is {permit.state}", permit_id=name)
    same_try = attempt is not None and attempt == permit.attempt
    if permit.state is State.REDEEMED and same_try:
        return None
    return Denial("already_redeemed", f"permit {name} is {permit.state}", permit_id=name)


def overtaken(world: World, permit: Permit) -> str | None:
    """What happened since the grant that takes the permit back, None if nothing did."""
    if permit.granted_at > world.now:
        # Only where a human set the log's time back: the grant was judged by a wrong clock.
        return "it was granted by a clock that was ahead"
    used = used_elsewhere(world, permit)
    if used is not None:
        return used
    control = world.control
    paused = control.pause_for(permit.kind, permit.lane, permit.sender)
    if (paused or control.paused_since(permit)) and not permit.synthetic:
        return "sending was paused since it was granted"
    customer = world.customer(permit.customer_id)
    held = customer.permits.get(permit.permit_id) if customer else None
    if held is not None and held.overtaken is not None:
        return held.overtaken
    if customer is not None and customer.holds.binding(world.now, permit.kind) is not None:
        return "the customer was put on hold"
    why = _address_overtaken(world, permit, customer) or copies_overtaken(world, permit)
    if why is not None:
        return why
    thread = world.thread(permit.thread_id) if permit.thread_id and permit.slots else None
    why = overtaken_in_thread(thread, permit, world.now) if thread is not None else None
    if why is not None:
        return why
    for item in permit.items:
        why = _item_overtaken(world, permit, item)
        if why is not None:
            return f"invoice {item.invoice_id}: {why}"
    if permit.slots and permit.thread_id is not None:
        thread = world.thread(permit.thread_id)
        if thread is not None and world.customer(thread.customer_id) is not customer:
            return "its thread has another owner"
    invoice = world.invoice(permit.invoice_id) if permit.invoice_id else None
    return _notice_overtaken(world, permit, invoice) if invoice is not None else None


def _address_overtaken(world: World, permit: Permit, customer: Customer | None) -> str | None:
    """Whether the mail may still go to the address that it was granted to.

    A permit with an address of its own: while the customer has that address. Any other: its address
    must still be the preferred one, or stand on every invoice of the mail. After a merge the
    preferred address of either customer will do.
    """
    if permit.address is None:
        return None
    mailbox = world.mailbox(permit.address)
    if mailbox is not None and mailbox.held(world.now, permit.kind):
        return "its address was put on hold"
    if customer is None:
        return None
    if permit.address in customer.held_addresses:
        return "its address was put on hold"
    if permit.address_named or customer.addresses[:1] == (permit.address,):
        return None
    if permit.address not in customer.addresses:
        return "its address was removed"
    merged = permit.customer_id != customer.customer_id
    if merged or _named_by_invoices(world, permit):
        return None
    return "another address took the place of its address"


def _named_by_invoices(world: World, permit: Permit) -> bool:
    names = [item.invoice_id for item in permit.items]
    names += [permit.invoice_id] if permit.invoice_id is not None else []
    snapshots = [i.snapshot for i in map(world.invoice, names) if i is not None]
    return bool(snapshots) and all(s and s.address == permit.address for s in snapshots)


def _item_overtaken(world: World, permit: Permit, item: Item) -> str | None:
    """What the stage's record says, or for a repeat, which has none, the facts themselves."""
    invoice = world.invoice(item.invoice_id)
    if invoice is None:
        return None
    record = invoice.stages.get((item.cycle, item.stage))
    if record is not None and record.permit_id == permit.permit_id and record.overtaken:
        return record.overtaken
    if invoice.snapshot is not None and invoice.snapshot.currency != item.currency:
        return "the currency was corrected"
    if invoice.standing.balance != item.amount_remaining:
        return "the amount owed changed"
    if invoice.standing.cycle != item.cycle or invoice.standing.starts_on != item.counts_from:
        return "the due date was changed"
    if world.customer(invoice.customer_id) is not world.customer(permit.customer_id):
        return "it has another owner"
    customer = world.customer(permit.customer_id)
    covered = item.currency in covered_currencies(world, customer)
    if not world.policy.remind_after_subscription_end:
        owner = world.customer(invoice.customer_id)
        if owner is not None and owner.subscriptions.ended(invoice.subscriptions, world.now):
            return "its subscription ended"
    denial = (
        money_obstacle(invoice, world.policy)
        or (covered_by_credit(item.invoice_id) if covered else None)
        or hold_obstacle(invoice, permit.kind, world.now)
        or in_flight_obstacle(invoice, world.policy, world.now)
    )
    return denial.detail if denial is not None else None


def _notice_overtaken(world: World, permit: Permit, invoice: Invoice) -> str | None:
    if world.customer(invoice.customer_id) is not world.customer(permit.customer_id):
        return "it has another owner"
    for slot in permit.slots:
        record = invoice.notices.sends.get(slot)
        if record is not None and record.permit_id == permit.permit_id and record.overtaken:
            return record.overtaken
    denial = money_obstacle(invoice, world.policy) or hold_obstacle(invoice, permit.kind, world.now)
    return denial.detail if denial is not None else _told_already(world, permit, invoice)


def _told_already(world: World, permit: Permit, invoice: Invoice) -> str | None:
    """Whether another mail about the same failed payment is out, or may be (design D10).

    Both may have been granted before a fact told that they are about one. What a human lets repeat
    passes it, as when it was asked for.
    """
    if permit.action is not None:
        return None
    slots = joined_slots(invoice.attempts, permit.slots)
    holders = {send.permit_id for s in slots if (send := invoice.notices.sends.get(s)) is not None}
    for permit_id in sorted(holders - {permit.permit_id}):
        other = world.permit(permit_id)
        if other is not None and other.state not in FREED and other.may_be_out:
            return f"permit {permit_id} is for the same failed payment, and its mail may be out"
    return None


def _note_ids(world: World, outcome: Outcome, permit: Permit, command: ReportOutcome) -> Permit:
    """A delivery event came first, and now the sender reports the provider's ids: keep them."""
    provider_message_id, message_id = ids_to_keep(world, outcome, permit, command)
    if message_id is not None:
        outcome.names.append(NameClaim("sent_message", message_id, permit.permit_id))
    if provider_message_id is not None:
        outcome.names.append(NameClaim("provider_message", provider_message_id, permit.permit_id))
    named = replace(
        permit,
        provider_message_id=provider_message_id or permit.provider_message_id,
        message_id=message_id or permit.message_id,
    )
    if named != permit:
        outcome.permits.append(named)
    early = take_early_deliveries(world, outcome, provider_message_id, message_id)
    if early:
        apply_deliveries(world, outcome, named, early, None)
    return named


def _apply_early_deliveries(
    world: World, outcome: Outcome, permit: Permit, settled: Permit, events: set[Word]
) -> Permit:
    """Delivery events that came before anybody named their mail settle its permit now."""
    if settled.state is State.SENT:
        apply_deliveries(world, outcome, settled, events, settled.provider_message_id)
        return settled
    outcome.changes.clear()
    outcome.permits.clear()
    outcome.alerts.clear()
    apply_deliveries(world, outcome, permit, events, settled.provider_message_id)
    return replace(permit, state=State.SENT)
