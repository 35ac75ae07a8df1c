"""What an agent is told: every answer has one sentence, `next`, that says what to do now."""

from collections.abc import Mapping
from typing import Any

from sendledger import Denied, Permit, Unavailable

from ledger.domain.instants import told

Answer = dict[str, Any]
AWAY = "The ledger cannot be asked now: send nothing, and ask again later."
_DENIED_READS = {
    401: "Have a person check LEDGER_KEY of this server: the ledger does not know the key.",
    403: "This server's key may not read that; have a person give it one with the scope audit.",
}


def yes(permit: Permit) -> Answer:
    """A permit that is redeemed: the mail may go out once, now."""
    whom = f" to {permit.to}" if permit.to else ""
    until = f" before {told(permit.send_by)}" if permit.send_by else ""
    found = {
        "may_send": True,
        "permit_id": permit.permit_id,
        "to": permit.to,
        "cc": list(permit.cc) or None,
        "headers": permit.headers,
        "items": permit.items or None,
        "statement": permit.statement,
        "next": f"Send this mail once{whom}{until}, with these headers if you can set any; then "
        "call report with this permit_id.",
    }
    return {name: value for name, value in found.items() if value is not None}


def no(denied: Denied) -> Answer:
    """A no to a question: why, and what to do."""
    found: Answer = {"may_send": False, "code": denied.code, "why": denied.detail or denied.title}
    if denied.original is not None and denied.original.sent_at is not None:
        found["sent_at"] = told(denied.original.sent_at)
        found["sent_by"] = denied.original.sender
    if denied.decision_id is not None:
        found["decision_id"] = denied.decision_id
    wait = denied.available_at
    found["next"] = denied.next_step
    if wait is not None:
        found["available_at"] = told(wait)
        found["next"] = f"{denied.next_step.rstrip('.')}, {told(wait)} at the earliest."
    return found


def away(error: Unavailable) -> Answer:
    """No decision."""
    return {"may_send": False, "code": "unavailable", "why": error.why, "next": AWAY}


def not_read(denied: Denied) -> Answer:
    """A no to a call that only reads."""
    step = _DENIED_READS.get(denied.status, denied.next_step)
    return {"code": denied.code, "why": denied.detail or denied.title, "next": step}


def reported(permit: Mapping[str, Any], outcome: str) -> Answer:
    """An outcome was taken."""
    steps = {
        "sent": "Done: do not send this mail again.",
        "rejected": "The send is free again: call ask_to_send before another try.",
        "unknown": "Do not send this mail again; a person finds out whether it went out.",
    }
    return {
        "permit_id": permit.get("permit_id"),
        "state": permit.get("state"),
        "next": steps[outcome],
    }
