"""Facts about mail: messages of threads, and sends past the ledger."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import uuid5

from ledger.application.breakers import open_breaker
from ledger.application.effects import NameClaim, Outcome
from ledger.application.fact_data import Delivery, Fact, FactData, SendObserved, ThreadMessage
from ledger.application.facts import fact_names
from ledger.application.facts.addresses import (
    claim_address,
    customer_of_address,
    ensure_customer,
    unite,
)
from ledger.application.facts.deliveries import mark_bounced, permit_of, sent_after_end
from ledger.application.permit_settlement import displace, revoke_rival, settle
from ledger.application.recovery import note_unknown_permit
from ledger.application.world import World
from ledger.domain import windows
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, aggregate_id, known_by_address
from ledger.domain.invoice import Invoice
from ledger.domain.permit import FREED, Lane, Permit, State
from ledger.domain.policy import Stage
from ledger.domain.sends import SendRecord
from ledger.domain.stages import unrecorded_below
from ledger.domain.thread import Message, Thread, intent_slot

_MINE = aggregate_id("observed", "send")


def message_seen(world: World, fact: Fact, data: ThreadMessage) -> Outcome:
    """Take a message of a thread in; a message id belongs to the first thread that named it.

    Under whichever of its names a message is told of first, that name is its own from then on.
    """
    outcome = Outcome(result="applied", thread_id=data.thread_id)
    names = tuple(dict.fromkeys((data.message_id, *data.aliases)))
    known = next((name for name in names if world.name("message", name) is not None), None)
    if known is not None:
        outcome.result = "duplicate"
        home = world.name("message", known) or data.thread_id
        _alias(outcome, [n for n in names if n != known], message_named(world, known), home)
        _note_more(world, outcome, data, message_named(world, known), home)
        _note_correspondent(world, outcome, data)
        return outcome
    sent = (world.name("sent_message", name) for name in names)
    ours = data.ours or next(filter(None, sent), None)
    if data.ours is not None and world.permit(data.ours) is None:
        note_unknown_permit(world, outcome, data.ours, "a message of a thread")
    thread = world.thread(data.thread_id)
    if thread is None:
        customer_id = _customer_of_message(world, outcome, data)
        if customer_id is None:
            outcome.result = "rejected"
            outcome.body = {"detail": "the thread is new: name a customer_id, or from and to"}
            return outcome
        start_thread(world, outcome, data.thread_id, customer_id)
    elif data.customer_id is not None and data.customer_id != thread.customer_id:
        ensure_customer(world, outcome, data.customer_id)
        outcome.change("thread", data.thread_id, Thread.Moved, customer_id=data.customer_id)
        before = world.customer(thread.customer_id)
        if before is not None and known_by_address(before.customer_id):
            unite(world, outcome, data.customer_id, before)
    _note_correspondent(world, outcome, data)
    outcome.names.append(NameClaim("message", data.message_id, data.thread_id))
    _alias(outcome, names[1:], data.message_id, data.thread_id)
    outcome.change(
        "thread",
        data.thread_id,
        Thread.MessageSeen,
        message_id=data.message_id,
        message=Message(data.direction, data.automatic, ours is not None),
        sender=data.sender.fingerprint if data.sender else None,
        recipient=data.recipient.fingerprint if data.recipient else None,
        seen_at=data.at or fact.time or world.now,
    )
    if data.automatic is not None and data.direction == "inbound":
        _note_report(world, outcome, data)
    return outcome


def _note_more(
    world: World, outcome: Outcome, data: ThreadMessage, message_id: str, home: str
) -> None:
    """Whoever tells that a known message is a machine's, or our own, is heard in any order."""
    thread = world.thread(home)
    seen = thread.messages.get(message_id) if thread is not None else None
    if seen is None:
        return
    outbound = "outbound" in (seen.direction, data.direction)
    told = Message(
        "outbound" if outbound else seen.direction,
        seen.automatic or data.automatic,
        seen.ours or data.ours is not None,
    )
    if told == seen:
        return
    outcome.result = "applied"
    outcome.change(
        "thread",
        home,
        Thread.MessageSeen,
        message_id=message_id,
        message=told,
        sender=data.sender.fingerprint if data.sender else None,
        recipient=data.recipient.fingerprint if data.recipient else None,
        seen_at=data.at or world.now,
    )


def _note_correspondent(world: World, outcome: Outcome, data: ThreadMessage) -> None:
    """A person's message that names its customer says whose the correspondent's address is (D9).

    A machine's sender is nobody's address, and that of our own mail coming back is ours.
    """
    address = _correspondent(data)
    if data.customer_id is None or address is None:
        return
    if data.automatic is not None or (data.ours is not None and data.direction == "inbound"):
        return
    ensure_customer(world, outcome, data.customer_id)
    claim_address(world, outcome, data.customer_id, address)


def message_named(world: World, name: str) -> str:
    """The name under which replies to a message are on record; one that nobody knows stays."""
    return world.name("message_alias", name) or name


def _alias(outcome: Outcome, names: Iterable[str], message_id: str, thread_id: str) -> None:
    """Let replies that give one of these names be replies to that message."""
    for name in names:
        outcome.names.append(NameClaim("message", name, thread_id))
        outcome.names.append(NameClaim("message_alias", name, message_id))


def start_thread(world: World, outcome: Outcome, thread_id: str, customer_id: str) -> None:
    """Register a thread of this customer."""
    ensure_customer(world, outcome, customer_id)
    outcome.register(
        "thread",
        thread_id,
        Thread.Created,
        Thread.TOPIC,
        thread_id=thread_id,
        customer_id=customer_id,
    )


def send_observed(world: World, fact: Fact, data: SendObserved) -> Outcome:
    """A mail went out past the ledger: it uses up its stage or intent and counts in the windows.

    One within the last 24 hours that passes the cap opens the breaker; an older one opens nothing
    (design D8).
    """
    outcome = Outcome(
        result="applied",
        customer_id=data.customer_id,
        invoice_id=data.invoice_id,
        thread_id=data.thread_id,
    )
    stage = world.policy.stage(data.stage) if data.stage is not None else None
    if data.stage is not None and stage is None:
        outcome.result = "rejected"
        outcome.body = {"detail": f"{data.stage!r} is not a stage of the policy"}
        return outcome
    customer = ensure_customer(world, outcome, data.customer_id)
    customer_id = customer.customer_id if customer else data.customer_id
    name = f"{fact_names.fact_name(fact)}:{data}" if fact.fact_id else f"{data}:{world.now}"
    sent_at = min(data.at, world.now)
    mail = Permit(
        permit_id=str(uuid5(_MINE, name)),
        kind="observed",
        lane=Lane.OUTREACH,
        state=State.SENT,
        customer_id=customer_id,
        key_id="",
        sender=f"observed:{fact.source}",
        redeem_required=False,
        granted_at=sent_at,
        send_by=sent_at,
        settled_at=sent_at,
        thread_id=data.thread_id,
        invoice_id=data.invoice_id,
    )
    outcome.change("customer", customer_id, Customer.MailObserved, permit=mail)
    if data.invoice_id is not None and stage is None:
        stage = _stage_reached(world, data.invoice_id, mail)
    if data.invoice_id is not None and stage is not None:
        _use_up_stage(world, outcome, data.invoice_id, stage.name, mail)
    if data.thread_id is not None and data.intent is not None:
        _use_up_intent(world, outcome, data.thread_id, data.intent, mail)
    _open_breaker_if_passed(world, outcome, customer, mail)
    return outcome


def lapsed_by_fact(world: World, data: FactData) -> list[str]:
    """The permits that a fact about mail speaks of, or counts, and whose time is up (design D6)."""
    found: list[Permit | None] = []
    if isinstance(data, Delivery):
        found.append(permit_of(world, data))
    elif isinstance(data, ThreadMessage) and data.automatic is not None:
        found.extend(_permit_reported_on(world, reference) for reference in data.references)
    elif isinstance(data, SendObserved):
        customer = world.customer(data.customer_id)
        found.extend(customer.lapsed(world.now) if customer else ())
        found.append(_holder_of_observed(world, data))
    due = (p.permit_id for p in found if p is not None and p.lapsed_state(world.now) is not None)
    return list(dict.fromkeys(due))


def _holder_of_observed(world: World, data: SendObserved) -> Permit | None:
    """The permit on record for the stage or intent of a mail that went out past the ledger."""
    permit_id: str | None = None
    invoice = world.invoice(data.invoice_id) if data.invoice_id is not None else None
    if invoice is not None:
        live = (r.permit_id for r in invoice.cycle_records() if r.state == "permitted")
        permit_id = next(live, None)
    thread = world.thread(data.thread_id) if data.thread_id is not None else None
    if thread is not None and data.intent is not None:
        held = thread.book.sends.get(intent_slot(data.intent))
        permit_id = held.permit_id if held is not None else None
    return world.permit(permit_id) if permit_id is not None else None


def _customer_of_message(world: World, outcome: Outcome, data: ThreadMessage) -> str | None:
    if data.customer_id is not None:
        return data.customer_id
    address = _correspondent(data)
    return customer_of_address(world, outcome, address) if address is not None else None


def _correspondent(data: ThreadMessage) -> Address | None:
    """The address at the other end."""
    return data.sender if data.direction == "inbound" else data.recipient


def _note_report(world: World, outcome: Outcome, data: ThreadMessage) -> None:
    """A machine's message about one of our mails: the mail bounced; nobody is replied to."""
    for reference in data.references:
        permit = _permit_reported_on(world, reference)
        if permit is None:
            continue
        if permit.state in FREED:
            outcome.alerts.append(sent_after_end(permit))
        if permit.state is not State.SENT:
            permit = settle(world, outcome, permit, State.SENT, "a delivery report came back")
        if data.automatic is not None and "report" in data.automatic:
            mark_bounced(world, outcome, permit)
        return


def _permit_reported_on(world: World, reference: str) -> Permit | None:
    permit_id = world.identity.permit_of(reference) or world.name("sent_message", reference)
    return world.permit(permit_id) if permit_id else None


def _stage_reached(world: World, invoice_id: str, mail: Permit) -> Stage | None:
    """The highest stage that was reached when the mail went out: providers do not know ours."""
    invoice = world.invoice(invoice_id)
    age = invoice.days_past_due(mail.granted_at, world.policy.time_zone) if invoice else None
    reached = [s for s in world.policy.stages if age is not None and s.days <= age]
    return reached[-1] if reached else None


def _use_up_stage(
    world: World, outcome: Outcome, invoice_id: str, stage: str, mail: Permit
) -> None:
    invoice = world.invoice(invoice_id)
    rung = world.policy.stage(stage)
    assert rung is not None
    cycle, lower = 1, world.policy.below(rung)
    if invoice is None:
        outcome.register(
            "invoice", invoice_id, Invoice.Created, Invoice.TOPIC, invoice_id=invoice_id
        )
    else:
        cycle = invoice.standing.cycle
        starts_on = invoice.standing.starts_on
        sent_on = invoice.local_date(mail.granted_at, world.policy.time_zone)
        if cycle > 1 and starts_on is not None and sent_on < starts_on:
            cycle -= 1
        held = invoice.stages.get((cycle, stage))
        if held is not None and held.state in ("sent", "bounced"):
            return
        if held is not None:
            displace(world, outcome, held, mail)
        lower = unrecorded_below(invoice, rung, world.policy)
    outcome.change(
        "invoice",
        invoice_id,
        Invoice.ReminderSent,
        permit_id=None,
        sender=mail.sender,
        cycle=cycle,
        stage=stage,
        supersedes=tuple(s.name for s in lower),
        sent_at=mail.granted_at,
        provider_message_id=None,
    )


def _use_up_intent(
    world: World, outcome: Outcome, thread_id: str, intent: str, mail: Permit
) -> None:
    thread = world.thread(thread_id)
    slot = intent_slot(intent)
    if thread is None:
        start_thread(world, outcome, thread_id, mail.customer_id)
    else:
        held = thread.book.sends.get(slot)
        if held is not None and held.state is State.SENT:
            return
        if held is not None:
            revoke_rival(world, outcome, held.permit_id, mail)
    record = SendRecord(mail.permit_id, State.SENT, mail.sender, mail.granted_at)
    outcome.change("thread", thread_id, Thread.SendSettled, slot=slot, record=record, rejections=0)


def _open_breaker_if_passed(
    world: World, outcome: Outcome, customer: Customer | None, mail: Permit
) -> None:
    if mail.granted_at <= world.now - timedelta(hours=24) or customer is None:
        return
    window = windows.outreach(customer.permits.values(), world.policy, world.now)
    if window.used < window.limit or customer.breaker is not None:
        return
    open_breaker(outcome, customer, "outreach", "mails went out past the ledger")
