"""What can go wrong: the ledger says no, or cannot be asked. In either case: do not send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sendledger.effects import Reply
from sendledger.times import instant, retry_after

DUPLICATES = frozenset(
    {"already_sent", "duplicate_intent", "already_replied", "apology_already_sent"}
)
"""Codes that say for certain: this mail went out already."""


class LedgerError(Exception):
    """The base of every error of this package."""


class Unavailable(LedgerError):
    """The ledger gave no decision within the deadline: nothing may be sent. `why` is a short name.

    `committed` is what the ledger said of the effect of the last try: `no`, `unknown`, or None
    where it did not answer.
    """

    def __init__(self, why: str, committed: str | None = None) -> None:
        super().__init__(f"the ledger gave no decision ({why}); nothing may be sent")
        self.why, self.committed = why, committed


class OutcomeGiven(LedgerError):
    """The permit's outcome was told already, and another one was told now."""


@dataclass(frozen=True)
class Original:
    """The send that a duplicate repeats, as far as the ledger knows it."""

    permit_id: str | None = None
    sender: str | None = None
    sent_at: datetime | None = None
    provider_message_id: str | None = None


class Denied(LedgerError):
    """The ledger said no.

    `code` is the stable code; `next_action` one of `stop`, `retry_at`, `ask_human`, `fix_request`
    and `find_out`; `next_step` a sentence for a person or a model; `retryable` says whether the
    program may ask again by itself, from `available_at` on or after `retry_after` seconds where
    they are told. `frees_at` is a time that helps only after a human has acted. `problem` is the
    whole problem document.
    """

    def __init__(self, reply: Reply) -> None:
        problem = dict(reply.problem)
        self.problem: Mapping[str, Any] = problem
        self.status = reply.status
        self.code = str(problem.get("code", f"http_{reply.status}"))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.next_action = str(problem.get("next_action", "ask_human"))
        self.next_step = str(problem.get("next_step", "Do not send; look at the ledger's answer."))
        self.retryable = problem.get("retryable") is True
        self.available_at = instant(problem.get("available_at"))
        self.frees_at = instant(problem.get("frees_at"))
        self.retry_after = retry_after(reply.headers)
        self.permit_id = _text(problem.get("permit_id"))
        self.decision_id = _text(problem.get("decision_id"))
        self.due_stage = _text(problem.get("due_stage"))
        self.original = _original(problem.get("original"))
        super().__init__(f"{self.code}: {self.detail or self.title}. {self.next_step}")

    @property
    def is_duplicate(self) -> bool:
        """Does the ledger know for certain that this mail went out already?"""
        return self.code in DUPLICATES


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _original(value: Any) -> Original | None:
    if not isinstance(value, dict):
        return None
    return Original(
        _text(value.get("permit_id")),
        _text(value.get("sender")),
        instant(value.get("sent_at")),
        _text(value.get("provider_message_id")),
    )
