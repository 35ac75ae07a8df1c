"""Makes the row of one decision for the decision log (design D11)."""

from datetime import datetime

from ledger.application.commands import Redeem, RequestPermit
from ledger.application.effects import Outcome
from ledger.application.ports import DecisionRow


def decision_row(
    command: RequestPermit | Redeem,
    outcome: Outcome,
    stored: bytes,
    now: datetime,
    position: int,
    policy_version: str,
) -> DecisionRow:
    """The row of a decision taken now (UTC) at this position of the log; `stored` is its answer."""
    asked = isinstance(command, RequestPermit)
    return DecisionRow(
        decision_id=command.decision_id,
        decided_at=now,
        position=position,
        operation="permit" if asked else "redeem",
        key_id=command.caller.key_id,
        sender=command.caller.name,
        kind=command.kind if isinstance(command, RequestPermit) else None,
        customer_id=outcome.customer_id,
        invoice_id=outcome.invoice_id,
        thread_id=outcome.thread_id,
        status=outcome.status,
        code=outcome.denial.code if outcome.denial else None,
        replayed=outcome.replayed,
        policy=policy_version,
        request=command.request,
        answer=stored,
    )
