"""The grant: the permit, the events that record it, and the body of the 201."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from ledger.application.commands import RequestPermit
from ledger.application.effects import NameClaim, Outcome
from ledger.application.kinds.kind import Ask, Granted, Judged
from ledger.application.mail_copies import count_copies, take_copies
from ledger.application.sent_proofs import note_also_sent
from ledger.application.world import World
from ledger.domain import sendkey, windows
from ledger.domain.customer import Customer
from ledger.domain.permit import Item, Lane, Permit, State
from ledger.domain.reasons import Denial
from ledger.domain.send_imprint import imprint_text, key_digest
from ledger.domain.sends import repeat_slot

_MOST_ALIASES = 8
"""Former ids of a customer under which a mail names its send: each lengthens its token."""


def grant(
    world: World,
    command: RequestPermit,
    ask: Ask,
    passed: list[Judged],
    withheld: dict[str, Denial],
) -> Outcome:
    """Record the permit for the subjects that passed, to which the ask was narrowed."""
    outcome = ask.setup
    holders = {j.ref: held for j in passed if (held := j.judged.holder()) is not None}
    if ask.book is not None:
        ask.slots = tuple(
            repeat_slot(slot, command.decision_id) if slot in ask.book.sends else slot
            for slot in ask.slots
        )
    keys = ask.keys
    if command.override is not None:
        keys = (*keys, sendkey.override_key(command.override.action_id))
    permit = _permit(world, command, ask, _imprint(world, command, ask, keys))
    if command.cc or ask.another_s is not None:
        copies = take_copies(world, outcome, permit, command.cc, ask.another_s)
        permit = replace(permit, copies=copies)
    outcome.status, outcome.granted = 201, permit
    outcome.permits.append(permit)
    outcome.address = permit.address
    outcome.customer_id, outcome.thread_id = ask.customer_id, ask.thread_id
    outcome.invoice_id = ask.invoice_id
    if command.override is not None:
        action = command.override.action_id
        outcome.names.append(NameClaim("override", action, permit.permit_id, replaces=True))
    provider_key = sendkey.provider_idempotency_key(keys, ask.rejections)
    outcome.body = _body(world, ask, permit, withheld, provider_key)
    if holders:
        others = (holder.permit_id for holder in holders.values())
        note_also_sent(world, outcome, others, permit.permit_id)
    command.subject.record(world, outcome, Granted(permit, ask, passed, holders.keys()))
    outcome.change("customer", permit.customer_id, Customer.MailPermitted, permit=permit)
    if permit.may_be_out:
        count_copies(world, outcome, permit)
    return outcome


def _imprint(
    world: World, command: RequestPermit, ask: Ask, keys: tuple[sendkey.SendKey, ...]
) -> str:
    """What the mail carries of the permit: its send keys, those of its former customer ids last."""
    secret = world.identity.secret
    digests = [key_digest(secret, key) for key in (*keys, *ask.aliases[:_MOST_ALIASES])]
    return imprint_text(command.subject.code, ask.case.lane, digests)


def _permit(world: World, command: RequestPermit, ask: Ask, imprint: str) -> Permit:
    permit = Permit(
        permit_id=command.decision_id,
        kind=ask.case.kind,
        lane=ask.case.lane,
        state=State.GRANTED,
        customer_id=ask.customer_id,
        key_id=command.caller.key_id,
        sender=command.caller.name,
        redeem_required=command.caller.redeem_required,
        granted_at=world.now,
        send_by=_send_by(world, ask),
        items=ask.items,
        thread_id=ask.thread_id,
        invoice_id=None if ask.items else ask.invoice_id,
        incident_id=ask.incident_id,
        slots=ask.slots,
        named=ask.names[0] if ask.names else None,
        address=ask.case.address,
        address_named=ask.address_named,
        control_version=ask.case.control.version,
        rejections=ask.rejections,
        action=command.override.action_id if command.override is not None else None,
        idempotency=command.idempotency.scope.hex() if command.idempotency else None,
        imprint=imprint,
    )
    return permit.redeemed(world.now, None) if command.redeem else permit


def _send_by(world: World, ask: Ask) -> datetime:
    """When it lapses: after its life, or where the mail would be too late before that."""
    ends = world.now + world.policy.permit_life
    return ends if ask.case.not_after is None else min(ends, ask.case.not_after)


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
        "message_id": world.identity.message_id(permit.permit_id, permit.imprint),
        "send_token": world.identity.send_token(permit.permit_id, permit.imprint),
        "windows": _windows(world, ask, permit),
    }
    if permit.copies:
        body["copies"] = copies_body(permit)
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
        "observed_at": item.observed_at,
    }


def copies_body(permit: Permit) -> list[dict[str, str]]:
    """Who gets a copy as the contract shows it: the customers, without their addresses."""
    return [{"customer_id": copy.customer_id} for copy in permit.copies]


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
