"""`send.observed`: a mail that went out without a permit."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import chain
from typing import ClassVar
from uuid import uuid5

from ledger.application.breakers import open_breaker
from ledger.application.effects import Outcome
from ledger.application.facts.addresses import ensure_customer
from ledger.application.facts.answers_by_hand import (
    load_answered,
    note_answer,
    replies_overtaken,
)
from ledger.application.facts.delivered_mail import Word, apply_deliveries
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_names import fact_name
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.invoices import register_invoice
from ledger.application.facts.lost_mail import (
    NOTHING,
    Carried,
    count_mail,
    load_carried,
    lost_mail,
    lost_mail_id,
    note_lost_mail,
    observed_mail,
    proof_of,
)
from ledger.application.facts.threads import owned_thread, start_thread
from ledger.application.kinds.kind import PermitSubject
from ledger.application.lost_sends import LostMail, digests_of, put_on_record
from ledger.application.permit_settlement import displace, revoke_rival
from ledger.application.sent_proofs import note_also_sent
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain import windows
from ledger.domain.conversation import ByHand
from ledger.domain.customer import Customer
from ledger.domain.identity import aggregate_id
from ledger.domain.invoice import Invoice
from ledger.domain.permit import Lane, Permit, State
from ledger.domain.policy import Stage
from ledger.domain.send_imprint import MailProof, SendImprint
from ledger.domain.sends import SendRecord
from ledger.domain.stages import cycle_at, stage_reached, unrecorded_below
from ledger.domain.thread import Thread, intent_slot
from ledger.domain.value import value

_MINE = aggregate_id("observed", "send")


@value
class SendObserved(FactData):
    """A mail that went out without a permit that is known; `at` None means now (UTC).

    `in_reply_to` is the message that it answers, `subject` what a permit for it would be asked for,
    `carried` what may tell of a permit that is lost.
    """

    TIMES: ClassVar[tuple[str, ...]] = ("at",)

    customer_id: str
    at: datetime | None
    invoice_id: str | None = None
    stage: str | None = None
    thread_id: str | None = None
    intent: str | None = None
    in_reply_to: str | None = None
    subject: PermitSubject | None = None
    carried: Carried = NOTHING


class SendObservedType(FactType[SendObserved]):
    """Mails that went out past the ledger."""

    data = SendObserved

    def load(self, walk: Walk, data: SendObserved) -> None:
        """The customer, and the invoice and thread that it names."""
        walk.customer(data.customer_id)
        if data.invoice_id is not None:
            walk.invoice(data.invoice_id)
        if data.thread_id is not None:
            walk.aggregate("thread", data.thread_id)
        if data.in_reply_to is not None:
            load_answered(walk, (data.in_reply_to,))
        if data.subject is not None:
            data.subject.load(walk)
        load_carried(walk, data.carried)

    def permits(self, world: World, data: SendObserved) -> Iterable[Permit | None]:
        """Those that count in the windows of the customer, and the one of its stage or intent."""
        customer = world.customer(data.customer_id)
        lapsed = customer.lapsed(world.now) if customer else ()
        found: list[Permit | None] = [*lapsed, _holder_of_observed(world, data)]
        proof = proof_of(world, data.carried)
        if proof is not None:
            found.append(world.permit(proof.permit_id))
        thread_id = _thread_answered(world, data)
        if data.in_reply_to is not None and thread_id is not None:
            found += replies_overtaken(world, (data.in_reply_to,), thread_id)
        return found

    def apply(self, world: World, fact: Fact, data: SendObserved) -> Outcome:
        """Let the mail use up its stage or intent, and count it in the windows.

        One within the last 24 hours that passes the cap opens the breaker; an older one opens
        nothing (design D8).
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
        thread_id = _thread_answered(world, data)
        if data.in_reply_to is not None and thread_id is None:
            outcome.result = "rejected"
            outcome.body = {"detail": "the message answered is not known: name its thread_id"}
            return outcome
        proof = proof_of(world, data.carried)
        if proof is None and data.carried.token is not None:
            outcome.result = "rejected"
            outcome.body = {"detail": "the send_token is none of this ledger's"}
            return outcome
        permit = world.permit(proof.permit_id) if proof is not None else None
        if permit is not None:
            apply_deliveries(world, outcome, permit, [Word("delivered")], None)
            return outcome
        customer = ensure_customer(world, outcome, data.customer_id)
        customer_id = customer.customer_id if customer else data.customer_id
        name = f"{fact_name(fact)}:{data}" if fact.fact_id else f"{data}:{world.now}"
        mail_id = lost_mail_id(proof.permit_id) if proof else str(uuid5(_MINE, name))
        sent = lost_mail(world, mail_id, proof, f"observed:{fact.source}", data.at or world.now)
        lane, keys = _lane_of(data, proof), _digests_told(world, data, sent)
        imprint = proof.imprint if proof is not None else None
        if imprint is None and data.subject is not None:
            imprint = SendImprint(data.subject.code, lane, keys)
        mail = observed_mail(sent, customer_id, lane, imprint, data.thread_id, data.invoice_id)
        if customer is None or mail_id not in customer.permits:
            count_mail(world, outcome, mail)
        put_on_record(world, outcome, keys, sent)
        if data.carried != NOTHING:
            note_lost_mail(world, outcome, proof, data.carried.provider_key, sent, "a sent mail")
        if data.invoice_id is not None and stage is None:
            stage = _stage_reached(world, data.invoice_id, mail)
        if data.invoice_id is not None and stage is not None:
            _use_up_stage(world, outcome, data.invoice_id, stage.name, mail)
        if data.thread_id is not None and data.intent is not None:
            _use_up_intent(world, outcome, data.thread_id, data.intent, mail)
        if data.in_reply_to is not None and thread_id is not None:
            if owned_thread(world, thread_id) is None:
                start_thread(world, outcome, thread_id, customer_id)
            answer = ByHand(None, mail.sender, mail.granted_at)
            note_answer(world, outcome, (data.in_reply_to,), thread_id, answer)
        _open_breaker_if_passed(world, outcome, customer, mail)
        return outcome


def _lane_of(data: SendObserved, proof: MailProof | None) -> Lane:
    """As it was permitted, as its kind has it, else outreach or an answer to somebody."""
    if proof is not None and proof.imprint is not None:
        return proof.imprint.lane
    if data.subject is not None:
        return data.subject.lane(transactional=False)
    return Lane.OUTREACH if data.in_reply_to is None else Lane.REPLY


def _digests_told(world: World, data: SendObserved, sent: LostMail) -> tuple[str, ...]:
    """The digests of the send keys that the fields of the mail make."""
    if data.subject is None:
        return ()
    return digests_of(world, chain.from_iterable(data.subject.send_keys(world, sent.at)))


def _thread_answered(world: World, data: SendObserved) -> str | None:
    """The thread of the message that the mail answers, as far as it is told or known."""
    if data.in_reply_to is None or data.thread_id is not None:
        return data.thread_id
    return world.name("message", data.in_reply_to)


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


def _stage_reached(world: World, invoice_id: str, mail: Permit) -> Stage | None:
    """The highest stage that was reached when the mail went out: providers do not know ours."""
    invoice = world.invoice(invoice_id)
    return stage_reached(invoice, mail.granted_at, world.policy) if invoice else None


def _use_up_stage(
    world: World, outcome: Outcome, invoice_id: str, stage: str, mail: Permit
) -> None:
    invoice = world.invoice(invoice_id)
    rung = world.policy.stage(stage)
    assert rung is not None
    cycle, lower = 1, world.policy.below(rung)
    if invoice is None:
        register_invoice(outcome, invoice_id)
    else:
        cycle = cycle_at(invoice, mail.granted_at, world.policy)
        held = invoice.stages.get((cycle, stage))
        if held is not None and held.state in ("sent", "bounced"):
            note_also_sent(world, outcome, (held.permit_id,), mail.permit_id)
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
    if owned_thread(world, thread_id) is None:
        start_thread(world, outcome, thread_id, mail.customer_id)
    if thread is not None:
        held = thread.book.sends.get(slot)
        if held is not None and held.state is State.SENT:
            note_also_sent(world, outcome, (held.permit_id,), mail.permit_id)
            return
        if held is not None:
            revoke_rival(world, outcome, held.permit_id, mail)
    record = SendRecord(mail.permit_id, State.SENT, mail.sender, mail.granted_at)
    outcome.change("thread", thread_id, Thread.SendSettled, slot=slot, record=record, rejections=0)


def _open_breaker_if_passed(
    world: World, outcome: Outcome, customer: Customer | None, mail: Permit
) -> None:
    old = mail.granted_at <= world.now - timedelta(hours=24)
    if old or customer is None or mail.lane is not Lane.OUTREACH:
        return
    window = windows.outreach(customer.permits.values(), world.policy, world.now)
    if window.used < window.limit or customer.breaker is not None:
        return
    open_breaker(outcome, customer, "outreach", "mails went out past the ledger")
