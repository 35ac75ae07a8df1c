"""The grant: the permit, the events that record it, and the body of the 201."""

from typing import Any

from ledger.application.asking import Ask, Judged
from ledger.application.commands import RequestPermit
from ledger.application.effects import NameClaim, Outcome
from ledger.application.statement import statement_body, statement_of
from ledger.application.world import World
from ledger.domain import sendkey, windows
from ledger.domain.customer import Customer
from ledger.domain.incident import Incident
from ledger.domain.invoice import Invoice
from ledger.domain.permit import Item, Lane, Permit, State
from ledger.domain.reasons import Denial
from ledger.domain.sends import SendBook, repeat_slot
from ledger.domain.subjects import InvoiceStage
from ledger.domain.thread import Thread


def grant(
    world: World,
    command: RequestPermit,
    ask: Ask,
    passed: list[Judged],
    withheld: dict[str, Denial],
) -> Outcome:
    """Record the permit for the subjects that passed, and answer with it."""
    outcome = ask.setup
    items, crossed = _items(passed)
    keys = ask.keys or tuple(sendkey.stage_key(i.invoice_id, i.cycle, i.stage) for i in items)
    rejections = max([ask.rejections, *(_rejections_of(j) for j in passed)])
    repeated = {j.ref for j in passed if j.judged.holder() is not None}
    book = _book_of(world, ask)
    ask.slots = tuple(
        repeat_slot(slot, command.decision_id) if slot in book.sends else slot for slot in ask.slots
    )
    permit = _permit(world, command, ask, items, rejections)
    outcome.status, outcome.granted = 201, permit
    outcome.permits.append(permit)
    outcome.address = permit.address
    outcome.customer_id, outcome.thread_id = ask.customer_id, ask.thread_id
    outcome.invoice_id = ask.invoice_id
    _record_items(outcome, permit, crossed, repeated)
    _record_slots(outcome, permit)
    if not repeated:
        for name in ask.names:
            outcome.names.append(NameClaim("send", name, permit.permit_id, replaces=True))
    if command.override is not None:
        action = command.override.action_id
        outcome.names.append(NameClaim("override", action, permit.permit_id, replaces=True))
        keys = (*keys, sendkey.override_key(action))
    provider_key = sendkey.provider_idempotency_key(keys, rejections)
    outcome.body = _body(world, ask, permit, withheld, provider_key)
    if permit.incident_id is not None:
        statement = statement_of(world, ask.case.customer)
        outcome.body["statement"] = statement_body(statement, world)
        outcome.change(
            "incident",
            permit.incident_id,
            Incident.ApologyPermitted,
            customer_id=permit.customer_id,
            permit_id=permit.permit_id,
            sender=permit.sender,
            statement=statement,
        )
    outcome.change("customer", permit.customer_id, Customer.MailPermitted, permit=permit)
    return outcome


def _book_of(world: World, ask: Ask) -> SendBook:
    """Where the slots of the ask are on record; what is held there is repeated by an override."""
    if ask.case.thread is not None:
        return ask.case.thread.book
    invoice = world.invoice(ask.invoice_id) if ask.slots and ask.invoice_id else None
    return invoice.notices if invoice is not None else SendBook()


def _permit(
    world: World, command: RequestPermit, ask: Ask, items: tuple[Item, ...], rejections: int
) -> Permit:
    permit = Permit(
        permit_id=command.decision_id,
        kind=ask.case.kind,
        lane=ask.case.lane,
        state=State.GRANTED,
        customer_id=ask.customer_id,
        key_id=command.caller.key_id,
        sender=command.caller.name,
        redeem_required=command.caller.redeem_required or ask.case.claim,
        granted_at=world.now,
        send_by=world.now + world.policy.permit_life,
        items=items,
        thread_id=ask.thread_id,
        invoice_id=None if items else ask.invoice_id,
        incident_id=ask.incident_id,
        slots=ask.slots,
        named=ask.names[0] if ask.names else None,
        address=ask.case.address,
        control_version=world.control.version,
        rejections=rejections,
        action=command.override.action_id if command.override is not None else None,
        idempotency=command.idempotency.scope.hex() if command.idempotency else None,
    )
    return permit.redeemed(world.now, None) if command.redeem else permit


def _items(passed: list[Judged]) -> tuple[tuple[Item, ...], dict[str, dict[str, Any]]]:
    items: list[Item] = []
    crossed: dict[str, dict[str, Any]] = {}
    for subject in passed:
        stage = subject.judged
        if not isinstance(stage, InvoiceStage):
            continue
        invoice, due = stage.invoice, stage.due()
        snapshot = invoice.snapshot
        assert snapshot is not None
        items.append(
            Item(
                invoice.invoice_id,
                invoice.standing.cycle,
                due.stage.name,
                due.supersedes,
                invoice.standing.balance,
                snapshot.currency,
                invoice.standing.starts_on,
            )
        )
        crossed[invoice.invoice_id] = dict(due.crossed)
    return tuple(items), crossed


def _rejections_of(subject: Judged) -> int:
    stage = subject.judged
    if not isinstance(stage, InvoiceStage):
        return 0
    invoice = stage.invoice
    return invoice.rejections_of(invoice.standing.cycle, stage.due().stage.name)


def _record_items(
    outcome: Outcome, permit: Permit, crossed: dict[str, dict[str, Any]], repeated: set[str]
) -> None:
    """Put the stages on record; a deliberate repeat leaves the record of the first send alone."""
    for item in permit.items:
        if item.invoice_id in repeated:
            continue
        outcome.change(
            "invoice",
            item.invoice_id,
            Invoice.ReminderPermitted,
            permit_id=permit.permit_id,
            sender=permit.sender,
            cycle=item.cycle,
            stage=item.stage,
            supersedes=item.supersedes,
            crossed=crossed[item.invoice_id],
        )


def _record_slots(outcome: Outcome, permit: Permit) -> None:
    for slot in permit.slots:
        fields = {"permit_id": permit.permit_id, "sender": permit.sender, "slot": slot}
        if permit.invoice_id is not None:
            outcome.change("invoice", permit.invoice_id, Invoice.NoticePermitted, **fields)
        elif permit.thread_id is not None:
            outcome.change("thread", permit.thread_id, Thread.SendPermitted, **fields)


def _body(
    world: World, ask: Ask, permit: Permit, withheld: dict[str, Denial], provider_key: str
) -> dict[str, Any]:
    """The 201 without `to`, `position` and `decision_id`, which are added as it leaves."""
    body: dict[str, Any] = {
        "permit_id": permit.permit_id,
        "state": str(permit.state),
        "kind": permit.kind,
        "customer_id": permit.customer_id,
        "items": [item_body(item) for item in permit.items],
        "withheld": [
            {"invoice_id": ref, "code": denial.code, "available_at": denial.available_at}
            for ref, denial in withheld.items()
        ],
        "granted_at": permit.granted_at,
        "send_by": permit.send_by,
        "provider_idempotency_key": provider_key,
        "message_id": world.identity.message_id(permit.permit_id),
        "windows": _windows(world, ask, permit),
    }
    if permit.thread_id is not None:
        body["thread_id"] = permit.thread_id
    body.update(ask.extras)
    return body


def item_body(item: Item) -> dict[str, Any]:
    """One invoice of a reminder as the contract shows it."""
    return {
        "invoice_id": item.invoice_id,
        "cycle": item.cycle,
        "stage": item.stage,
        "supersedes": item.supersedes,
        "amount_remaining": item.amount_remaining,
        "currency": item.currency,
    }


def _windows(world: World, ask: Ask, permit: Permit) -> dict[str, dict[str, int]]:
    """The windows that the mail counts in, with itself in them."""
    known = list(ask.case.customer.permits.values()) if ask.case.customer else []
    known.append(permit)
    policy, now = world.policy, world.now
    if permit.lane is Lane.REPLY:
        counted = [
            windows.replies_hour(known, policy, now),
            windows.replies_day(known, policy, now),
        ]
    elif permit.lane is Lane.TRANSACTIONAL:
        counted = [windows.transactional(known, policy, now)]
    else:
        counted = [windows.outreach(known, policy, now)]
    return {w.name: {"used": w.used, "limit": w.limit} for w in counted}
