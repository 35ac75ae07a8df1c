"""The model's answers to requests, redeems and outcomes, guard by guard (D6, D8, D12)."""

from copy import deepcopy
from datetime import timedelta
from typing import Any

from ledger.application.commands import (
    ApplyFact,
    CallPause,
    Lapse,
    Redeem,
    ReleaseAddress,
    ReportOutcome,
    RequestPermit,
    ResetBreaker,
)
from ledger.application.kinds.digest import Digest
from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.kind import PermitSubject
from ledger.application.kinds.message import IntentMessage
from ledger.application.kinds.notification import Notification
from tests.support.model import Expected, Model, ModelCustomer, deliver
from tests.support.model_owners import another_owner, forbids, lost_owner, misdirected
from tests.support.model_permits import FREED, ModelPermit
from tests.support.model_subjects import REQUESTS, Request, Wish

DUPLICATE = {
    "message": "duplicate_intent",
    "reply": "already_replied",
    "apology": "apology_already_sent",
}
SLOTTED = ("payment_failed", "reply", "follow_up", "message")
RECEIPTS = ("notification", "digest", "message", "payment_failed")


def take(model: Model, command: Any) -> Expected:
    """What must be answered to the next command; afterwards it has happened in the model."""
    model.number += 1
    model.holdings.lapse(model.now)
    if isinstance(command, RequestPermit):
        for fact in command.facts:
            model.fact(fact)
        apart = (deepcopy(model.customers), dict(model.into))
        _hear_whom(model, command.subject)
        expected = ask(model, command)
        if expected.status != 201 and not _closes_both(model, command.subject, expected, apart[0]):
            model.customers, model.into = apart
        return expected
    if isinstance(command, Redeem):
        return redeem(model, command)
    if isinstance(command, ReportOutcome):
        return report(model, command)
    if isinstance(command, ApplyFact):
        return Expected(result=model.fact(command.fact))
    if isinstance(command, CallPause):
        model.pauses.add(command.scope)
        model.paused_at[command.scope] = model.number
    elif isinstance(command, ResetBreaker | ReleaseAddress):
        if model.root(command.customer_id) not in model.customers:
            return Expected(404, "unknown_customer")
        customer = model.customer(command.customer_id)
        if isinstance(command, ResetBreaker):
            customer.breaker = None
        else:
            for address in customer.addresses:
                model.mailbox(address).release(model.now)
    else:
        assert isinstance(command, Lapse)
    return Expected()


def ask(model: Model, command: RequestPermit) -> Expected:
    """What must be answered to a request, after its riding facts."""
    replay = _replay(model, command)
    if replay is not None:
        return replay
    if command.override is not None:
        used = model.holdings.permits.get(
            model.holdings.actions.get(command.override.action_id, "")
        )
        if used is not None and used.state not in FREED:
            return Expected(409, "already_sent")
    kind = command.subject.kind
    request = REQUESTS[kind](model, command, command.subject)
    if isinstance(request, Expected):
        return request
    subject = command.subject
    in_thread = isinstance(subject, FollowUp | IntentMessage) and not request.begins_thread
    if in_thread and misdirected(model, request.customer, subject.to):
        return Expected(422, "invalid_request")
    codes = [_judge(model, command, kind, wish) for wish in request.wishes]
    passed = [w for w, code in zip(request.wishes, codes, strict=True) if code is None]
    if not passed:
        return _no(codes[0] or "")
    lane = _lane(kind, command.caller.transactional)
    code = _judge_customer(model, command, kind, lane, request)
    return _no(code) if code is not None else _grant(model, command, kind, lane, request, passed)


def _hear_whom(model: Model, subject: PermitSubject) -> None:
    """A request that names a customer and an address tells that they belong together.

    They are judged so. It is forgotten after a denial, unless by a breaker that only one of them
    would have. A known thread has its customer, and ignores both.
    """
    if not isinstance(subject, Notification | Digest | FollowUp | IntentMessage):
        return
    begins = isinstance(subject, Notification | Digest) or subject.thread_id not in model.threads
    if begins and subject.customer_id is not None and subject.to is not None:
        model.named_together(subject.customer_id, subject.to.fingerprint)


def _closes_both(
    model: Model, subject: PermitSubject, no: Expected, apart: dict[str, ModelCustomer]
) -> bool:
    if no.code != "breaker_open":
        return no.code == "cap_reached"
    named = getattr(subject, "customer_id", None)
    before = apart.get(model.root(named)) if named is not None else None
    return before is None or before.breaker is None


def redeem(model: Model, command: Redeem) -> Expected:
    """What must be answered to a redeem."""
    permit = model.holdings.permits[command.permit_id]
    if permit.key_id != command.caller.key_id and not command.caller.may("operate"):
        return Expected(403)
    if permit.state == "expired":
        return Expected(409, "expired")
    if permit.state in FREED:
        return Expected(409, "revoked")
    again = permit.state == "redeemed" and command.attempt is not None
    same = again and command.attempt == permit.attempt
    if permit.state != "granted" and not same:
        return Expected(409, "already_redeemed")
    if model.recovering:
        return Expected(409, "recovery_mode")
    if same:
        return Expected(200)
    if model.taken_back(permit) or lost_owner(model, permit):
        model.holdings.settle(permit, "revoked", model.now)
        return Expected(409, "revoked")
    if not permit.may_be_out:
        model.holdings.may_be_out(permit)
    permit.state, permit.redeemed, permit.attempt = "redeemed", model.now, command.attempt
    return Expected(200)


def report(model: Model, command: ReportOutcome) -> Expected:
    """What must be answered to a sender's word on its mail."""
    permit = model.holdings.permits[command.permit_id]
    if permit.key_id != command.caller.key_id and not command.caller.may("operate"):
        return Expected(403)
    freed = permit.state in FREED
    same = command.outcome == permit.state or (command.outcome == "rejected" and freed)
    if same and command.outcome != "sent":
        return Expected(200)
    if not same and (permit.state == "sent" or (command.outcome == "unknown" and freed)):
        return Expected(409, "already_settled")
    mail = _id_to_keep(model, permit, command.provider_message_id)
    early = model.early.get(mail or "", set())
    if not same:
        model.holdings.settle(permit, "sent" if early else command.outcome, model.now)
    if mail is not None:
        model.mails[mail] = permit.id
        permit.mail = mail
    if early:
        deliver(model, permit, early, mail)
        early.clear()
    return Expected(200)


def _id_to_keep(model: Model, permit: ModelPermit, mail: str | None) -> str | None:
    """The provider's id of a report, None if the mail has another or another mail has it (D6)."""
    if mail is None or permit.mail not in (None, mail):
        return None
    return mail if model.mails.get(mail) in (None, permit.id) else None


def _no(code: str) -> Expected:
    status = 404 if code.startswith("unknown_") else 409
    return Expected(429 if code in ("cap_reached", "loop_guard") else status, code)


def _replay(model: Model, command: RequestPermit) -> Expected | None:
    bound = model.bound.get(command.idempotency.scope) if command.idempotency else None
    if bound is None or command.idempotency is None or bound[2] <= model.now - timedelta(days=30):
        return None
    permit = model.holdings.permits[bound[1]]
    if permit.state in FREED:
        return None
    if bound[0] != command.idempotency.fingerprint:
        return Expected(422, "key_conflict")
    return Expected(200) if permit.state == "granted" and permit.required else None


def _judge(model: Model, command: RequestPermit, kind: str, wish: Wish) -> str | None:
    """Final duplicate, live or unknown permit, then the facts."""
    held = [holder for holder in map(model.holdings.holder, wish.keys) if holder is not None]
    found = next((holder for holder in held if holder != "sent"), held[0] if held else None)
    if found == "sent" and command.override is None:
        return DUPLICATE.get(kind, "already_sent")
    if found in ("live", "unknown"):
        return "permit_held" if found == "live" else "outcome_unknown"
    code = wish.obstacle()
    if code is None and command.override is None:
        refusals = max((model.holdings.refused(key) for key in wish.keys), default=0)
        code = "on_hold" if refusals >= 3 else None
    return code


def _judge_customer(
    model: Model, command: RequestPermit, kind: str, lane: str, request: Request
) -> str | None:
    """Hold, recovery, pause, address, breaker, caps."""
    customer, claim = model.customer(request.customer), getattr(command.subject, "claim", False)
    if customer.holds.held(model.now, kind):
        return "on_hold"
    address = _address(model, kind, request)
    reasons = model.mailbox(address).reasons(model.now, kind) if address is not None else set()
    if "unsubscribed" in reasons:
        return "on_hold"
    if model.recovering:
        return "recovery_mode"
    if model.paused(kind, lane, command.caller.name):
        return "paused"
    if reasons:
        return "address_on_hold"
    if lane == "apology":
        return None
    if customer.breaker == "all" or (customer.breaker == "outreach" and lane == "outreach"):
        return "breaker_open"
    if lane == "reply":
        assert request.thread is not None
        if model.holdings.replies(request.thread, model.now) >= 5:
            return "loop_guard"
    for window in ("replies_hour", "replies_day") if lane == "reply" else (lane,):
        if model.holdings.full(request.customer, window, model.now):
            if not claim:
                model.meet(request.customer).breaker = "outreach" if lane == "outreach" else "all"
            return "cap_reached"
    owner = another_owner(model, request.customer, request.goes_to)
    return forbids(model, owner, kind, lane) if owner is not None else None


def _grant(
    model: Model, command: RequestPermit, kind: str, lane: str, request: Request, passed: list[Wish]
) -> Expected:
    wanted = [key for wish in passed for key in wish.keys]
    held = [key for key in wanted if model.holdings.holder(key) is not None]
    items = tuple(wish.item for wish in passed if wish.item is not None)
    customer = model.root(request.customer)
    owner = another_owner(model, customer, request.goes_to)
    model.meet(customer)
    if request.address is not None:
        model.claim(customer, request.address)
    if request.begins_thread and request.thread is not None:
        model.threads[request.thread] = customer
    permit = ModelPermit(
        id=command.decision_id,
        number=model.number,
        kind=kind,
        lane=lane,
        customer=customer,
        key_id=command.caller.key_id,
        sender=command.caller.name,
        required=command.caller.redeem_required,
        granted=model.now,
        keys=tuple(key for key in wanted if key not in held),
        sends=tuple(
            (*key, command.decision_id) if key in held and kind in SLOTTED else key
            for key in wanted
        ),
        action=command.override.action_id if command.override is not None else None,
        items=items,
        invoice=None if items else request.invoice,
        thread=request.thread,
        address=_address(model, kind, request),
        address_named=request.goes_to is not None,
        scope=command.idempotency.scope if command.idempotency else None,
        owner=owner,
    )
    if command.redeem:
        permit.state, permit.redeemed = "redeemed", model.now
    if permit.may_be_out:
        model.holdings.may_be_out(permit)
    model.holdings.permits[permit.id] = permit
    if command.idempotency is not None:
        bound = (command.idempotency.fingerprint, permit.id, model.now)
        model.bound[command.idempotency.scope] = bound
    if command.override is not None:
        model.holdings.actions[command.override.action_id] = permit.id
    told = tuple((i.invoice, i.stage, i.supersedes, i.owed) for i in items) if items else None
    return Expected(201, items=told)


def _address(model: Model, kind: str, request: Request) -> str | None:
    if kind == "reply":
        return request.writer
    addresses = model.customer(request.customer).addresses
    return request.address or (addresses[0] if addresses else None)


def _lane(kind: str, transactional: bool) -> str:
    if kind in ("reply", "apology"):
        return kind
    return "transactional" if transactional and kind in RECEIPTS else "outreach"
