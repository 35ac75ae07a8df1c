"""Celery: a task that sends at most once, however often the queue runs it (extra `celery`).

@app.task(bind=True, acks_late=True, max_retries=20)
def shipped(self, order_id):
    ask = kinds.notification(event_type="shipped", event_id=order_id, customer_id=…)
    return send_in_task(self, ledger, ask, send=lambda permit: mailer.send(permit, …))
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from sendledger.client import Ledger
from sendledger.delivery import Refused
from sendledger.errors import Denied, Unavailable
from sendledger.kinds import Ask
from sendledger.permit import Permit

_SOON = 60.0
_LATEST = 6 * 3600.0
"""Seconds: brokers take a task that is acknowledged late and waits longer for one that is lost."""


def send_in_task(
    task: Any, ledger: Ledger, ask: Ask, *, send: Callable[[Permit], Any]
) -> dict[str, Any]:
    """Send, or say what is known of the first send; a result that any serializer takes.

    Where waiting helps, the task is retried: after a definite refusal, when the ledger cannot be
    asked, or at the time that it names. A denial that waiting does not change is an outcome of the
    task (`state` is `denied`), as nobody may send. A mail in doubt is not retried: its error fails
    the task, and the ledger's queue of unknown sends has it.
    """
    try:
        result = ledger.send_once(ask, send=send)
    except (Unavailable, Refused) as error:
        raise task.retry(exc=error, countdown=_SOON) from error
    except Denied as denied:
        if denied.retryable and denied.next_action == "retry_at":
            raise task.retry(exc=denied, countdown=_wait(denied)) from denied
        return {
            "state": "denied",
            "code": denied.code,
            "next_action": denied.next_action,
            "next_step": denied.next_step,
            "permit_id": denied.permit_id,
        }
    return {
        "state": result.state,
        "duplicate": result.duplicate,
        "permit_id": result.permit_id,
        "provider_message_id": result.provider_message_id,
    }


def _wait(denied: Denied) -> float:
    """Seconds until the ledger may say yes; a denial that names no time is asked again soon."""
    if denied.retry_after is not None:
        return min(_LATEST, denied.retry_after)
    if denied.available_at is None:
        return _SOON
    left = (denied.available_at - datetime.now(timezone.utc)).total_seconds()
    return min(_LATEST, max(1.0, left))
