"""Explains a decision: evaluates its request again on the ledger's state at that time (D11)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson
from psycopg import AsyncConnection
from pydantic import ValidationError

from api.contract.permits import PERMIT_REQUEST
from api.contract.translation import Translator
from ledger.application.caller import SYSTEM
from ledger.application.commands import JobToken, Override, Redeem, RequestPermit
from ledger.application.guard_verdicts import (
    DENIED,
    Judgement,
    Verdict,
    judge_redeem,
    judge_request,
    not_judged,
)
from ledger.application.kinds.registry import KINDS
from ledger.application.views import address_holds, customer_view, invoice_view
from ledger.application.world import Identity, World
from ledger.domain.control import Control
from ledger.domain.customer import Customer
from ledger.domain.identity import Address
from ledger.domain.incident import Incident
from ledger.domain.invoice import Invoice
from ledger.domain.permit import Permit
from ledger.domain.policy import Policy, PolicyError, policy_of
from ledger.domain.thread import Thread
from ledger.store.keys import caller_named
from ledger.store.looking_back.past import Past, PastEvent

_KEY_RULE = "Its Idempotency-Key is bound to a grant: the same request hears it again."
_FACTS_RULE = "It was judged with facts that rode along and were forgotten: nothing else has them."


@dataclass(frozen=True, slots=True)
class Explanation:
    """The guards' verdicts, and the state at `position`, right before the decision's own events.

    `reproduced`: the result is the answer that was given. `state` is the guards' input.
    """

    position: str
    reproduced: bool
    guards: list[Verdict]
    state: dict[str, Any]


async def explain(
    connection: AsyncConnection[Any], identity: Identity, row: dict[str, Any]
) -> Explanation | None:
    """The explanation of a row of the decision log; None where its policy is not stored."""
    if row["policy_text"] is None:
        return None
    try:
        policy = policy_of(orjson.dumps(row["policy_text"]).decode())
    except (PolicyError, ValueError):
        return None
    command = await _command(connection, identity, row)
    end = Past(connection, int(row["position"]), row["customer_id"])
    own = _own_events(row, await end.last_events())
    found: list[tuple[bool, Explanation]] = []
    for count in dict.fromkeys((own, 0)):
        past = Past(connection, end.position - count, row["customer_id"])
        world = await past.world(row["decided_at"], policy, identity)
        judged = await _judge(past, world, row, command)
        explanation = await _explained(past, world, row, command, judged, count)
        same_words = judged is None or judged.detail == row["answer"].get("detail")
        if explanation.reproduced and same_words:
            return explanation
        found.append((explanation.reproduced, explanation))
    best = max(found, key=lambda pair: pair[0])[1]
    return _by_forgotten_facts(row, best) if _facts_forgotten(row) else best


def _facts_forgotten(row: dict[str, Any]) -> bool:
    """Did facts ride along of a key that is believed only together with a grant (ADR 0014)?"""
    return "riding_facts" in row["answer"]


def _by_forgotten_facts(row: dict[str, Any], found: Explanation) -> Explanation:
    """The answer stands by itself where what is on record does not come to it."""
    said = (DENIED, row["code"], row["answer"].get("detail"))
    verdict = Verdict("riding_facts", _FACTS_RULE, None, *said)
    return replace(found, reproduced=True, guards=[verdict, *not_judged()])


async def _judge(
    past: Past, world: World, row: dict[str, Any], command: RequestPermit | Redeem | None
) -> Judgement | None:
    if row["replayed"] or row["code"] == "key_conflict" or command is None:
        return None
    if isinstance(command, Redeem):
        redeem = command
        return await past.ask(world, lambda: judge_redeem(world, redeem))
    request = command
    return await past.ask(world, lambda: judge_request(world, request))


async def _explained(
    past: Past,
    world: World,
    row: dict[str, Any],
    command: RequestPermit | Redeem | None,
    judged: Judgement | None,
    own_events: int,
) -> Explanation:
    state = await _state(past, world, row, command)
    if judged is None:
        by_key = row["replayed"] or row["code"] == "key_conflict"
        verdict = Verdict("idempotency_key", _KEY_RULE, None, DENIED, row["code"])
        guards = [verdict, *not_judged()] if by_key else not_judged()
        return Explanation(str(past.position), by_key, guards, state)
    same = (judged.status, judged.code) == (row["status"], row["code"])
    reproduced = same and judged.changes == own_events
    return Explanation(str(past.position), reproduced, judged.verdicts, state)


async def _command(
    connection: AsyncConnection[Any], identity: Identity, row: dict[str, Any]
) -> RequestPermit | Redeem | None:
    """The request as a command; None where the stored request is not enough to rebuild it."""
    caller = SYSTEM
    if row["key_id"] != SYSTEM.key_id:
        known = await caller_named(connection, row["key_id"])
        if known is None:
            return None
        caller = known
    if row["operation"] == "redeem":
        permit_id = _redeemed_permit(row)
        if permit_id is None:
            return None
        attempt = row["request"].get("attempt")
        return Redeem(permit_id, attempt, caller, row["decision_id"], b"{}")
    asked = _asked(row)
    if asked is None:
        return None
    subject = Translator(identity).subject(asked).as_logged(row["request"])
    override = asked.override
    return RequestPermit(
        subject=subject,
        caller=caller,
        decision_id=row["decision_id"],
        request=b"{}",
        redeem=asked.redeem,
        override=Override(override.action_id, override.by, override.reason) if override else None,
        job=JobToken(asked.job.name, asked.job.token) if asked.job else None,
        cc=tuple(Address("", name) for name in row["request"].get("cc_fingerprints", ())),
    )


def _asked(row: dict[str, Any]) -> Any:
    """The stored request, parsed as at its arrival; None where it is not valid."""
    request = dict(row["request"])
    for name in ("to_fingerprint", "cc_fingerprints", "claim"):
        request.pop(name, None)
    if _sets_up(request.get("kind")) and request.get("customer_id") is None:
        request["customer_id"] = row["customer_id"]
    try:
        return PERMIT_REQUEST.validate_json(orjson.dumps(request))
    except ValidationError:
        return None


def _sets_up(kind: str | None) -> bool:
    found = KINDS.get(kind) if kind is not None else None
    return found is not None and found.sets_up


def _own_events(row: dict[str, Any], events: list[PastEvent]) -> int:
    """How many of `events` (newest first) this decision wrote itself."""
    mine = _recogniser(row)
    count = 0
    for past in events:
        if not mine(past.event):
            break
        count += 1
    if row["status"] >= 400 and row["operation"] == "permit":
        return min(count, 1)
    return count


def _recogniser(row: dict[str, Any]) -> Callable[[Any], bool]:
    granted, permit_id = row["decision_id"], _redeemed_permit(row)
    if row["operation"] == "redeem":
        redeemed = (Customer.MailRedeemed, Thread.SendRedeemed)
        settled = (
            Customer.MailSettled,
            Invoice.ReminderFreed,
            Invoice.NoticeSettled,
            Thread.SendSettled,
            Incident.ApologySettled,
        )
        kinds = redeemed if row["status"] == 200 else settled
        return lambda event: isinstance(event, kinds) and _permit_of(event) == permit_id
    if row["status"] == 201:
        setup = (Customer.Created, Customer.AddressesObserved, Thread.Created)
        registers = setup if _sets_up(row["kind"]) else ()
        return lambda event: _permit_of(event) == granted or isinstance(event, registers)
    if row["code"] == "cap_reached":
        return lambda event: isinstance(event, Customer.BreakerOpened | Customer.CapRefused)
    if row["code"] == "loop_guard":
        return lambda event: isinstance(event, Thread.LoopGuardTripped)
    return lambda event: False


def _redeemed_permit(row: dict[str, Any]) -> str | None:
    permit_id: str | None = row["request"].get("permit_id") or row["answer"].get("permit_id")
    return permit_id


def _permit_of(event: Any) -> str | None:
    for holder in (event, getattr(event, "permit", None), getattr(event, "record", None)):
        permit_id = getattr(holder, "permit_id", None)
        if permit_id is not None:
            return str(permit_id)
    return None


async def _state(
    past: Past, world: World, row: dict[str, Any], command: RequestPermit | Redeem | None
) -> dict[str, Any]:
    """The guards' input as JSON, without addresses (design D18)."""
    now, policy = world.now, world.policy
    customer_id, thread_id = row["customer_id"], row["thread_id"]
    permit: Permit | None = None
    invoice_ids = [row["invoice_id"]] if row["invoice_id"] else []
    if isinstance(command, Redeem):
        redeem = command
        permit = await past.ask(world, lambda: world.permit(redeem.permit_id))
        invoice_ids = [item.invoice_id for item in permit.items] if permit else invoice_ids
    elif command is not None:
        invoice_ids = list(command.subject.shown_invoices()) or invoice_ids
    invoices = [await past.ask(world, partial(world.invoice, name)) for name in invoice_ids]
    customer = await past.ask(world, lambda: world.customer(customer_id)) if customer_id else None
    thread = await past.ask(world, lambda: world.thread(thread_id)) if thread_id else None
    return {
        "control": _control(world.control),
        "customer": await _customer(past, world, customer, permit) if customer else None,
        "invoices": [invoice_view(i, now, policy) for i in invoices if i is not None],
        "thread": _thread(thread) if thread is not None else None,
        "permit": _permit(permit) if permit is not None else None,
    }


def _control(control: Control) -> dict[str, Any]:
    return {
        "pauses": {scope: pause.since for scope, pause in control.pauses.items()},
        "recovery_since": control.recovery_since,
        "silent_feeds": control.silent_feeds,
    }


async def _customer(
    past: Past, world: World, customer: Customer, permit: Permit | None
) -> dict[str, Any]:
    """The customer, and what held their addresses and the permit's, by their fingerprints."""
    view = customer_view(customer, [], world.now, world.policy)
    del view["owed"], view["open_invoices"]
    ours = [permit.address] if permit is not None and permit.address is not None else []
    names = dict.fromkeys((*customer.addresses, *ours))
    found = [await past.ask(world, partial(world.mailbox, name)) for name in names]
    holds = address_holds(customer, (m for m in found if m is not None), world.now)
    view["addresses_on_hold"] = len({hold["fingerprint"] for hold in holds})
    view["address_holds"] = holds
    view["reminded_at"] = customer.reminded_at
    return view | {"permits": [_permit(held) for held in customer.permits.values()]}


def _permit(permit: Permit) -> dict[str, Any]:
    return {
        "permit_id": permit.permit_id,
        "kind": permit.kind,
        "lane": str(permit.lane),
        "state": str(permit.state),
        "sender": permit.sender,
        "granted_at": permit.granted_at,
        "send_by": permit.send_by,
        "counts_at": permit.counts_at,
    }


def _thread(thread: Thread) -> dict[str, Any]:
    return {
        "thread_id": thread.thread_id,
        "customer_id": thread.customer_id,
        "version": thread.version,
        "messages": len(thread.messages),
        "sends": {
            slot: {
                "state": str(record.state),
                "permit_id": record.permit_id,
                "sender": record.sender,
                "counts_at": record.counts_at,
            }
            for slot, record in thread.book.sends.items()
        },
        "loop_guard_until": thread.loop_guard_until,
    }


def settings_changed_since(then: Policy, now: Policy) -> dict[str, tuple[object, object]]:
    """The policy settings that differ, each with its old and its new value."""
    names = Policy.__dataclass_fields__
    both = {name: (getattr(then, name), getattr(now, name)) for name in names}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}
