"""What the client tells of its work: records without addresses, for logs, traces and metrics."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

log = logging.getLogger("sendledger")


@dataclass(frozen=True)
class CallRecord:
    """One try of one call: `status` is 0 and `code` an error's name where nobody answered.

    `started` is Unix time in nanoseconds, `seconds` what the try took.
    """

    operation: str
    number: int
    status: int
    code: str | None
    permit_id: str | None
    started: int
    seconds: float


@dataclass(frozen=True)
class OutcomeRecord:
    """What became of a permit's mail; `reported` says whether the ledger has heard it."""

    permit_id: str
    kind: str
    outcome: str
    detail: str | None
    reported: bool


class Hook(Protocol):
    """Is told of each call and each outcome; an error of a hook is logged and goes no further."""

    def on_call(self, record: CallRecord) -> None:
        """One try of a call is over."""

    def on_outcome(self, record: OutcomeRecord) -> None:
        """An outcome was reported, or could not be."""


class LogHook:
    """Writes to the logger `sendledger`: calls as DEBUG, outcomes as INFO.

    An unknown outcome is a WARNING, one that could not be reported an ERROR.
    """

    def on_call(self, record: CallRecord) -> None:
        """A line for each try."""
        log.debug(
            "%s try %d: %s %s in %.3f s, permit %s",
            record.operation,
            record.number,
            record.status or "no answer",
            record.code or "",
            record.seconds,
            record.permit_id or "-",
        )

    def on_outcome(self, record: OutcomeRecord) -> None:
        """A line for each outcome; a human must settle an unknown one."""
        level = logging.WARNING if record.outcome == "unknown" else logging.INFO
        if not record.reported:
            level = logging.ERROR
        log.log(
            level,
            "permit %s (%s): %s%s, %s",
            record.permit_id,
            record.kind,
            record.outcome,
            f" ({record.detail})" if record.detail else "",
            "reported" if record.reported else "not reported",
        )


class Hooks:
    """Several hooks as one."""

    def __init__(self, hooks: tuple[Hook, ...]) -> None:
        self._hooks = hooks

    def on_call(self, record: CallRecord) -> None:
        """Tell every hook."""
        for hook in self._hooks:
            try:
                hook.on_call(record)
            except Exception as error:
                # No traceback: it has the sender's own error in it, which may name an address.
                log.error("a hook failed: %s", type(error).__name__)

    def on_outcome(self, record: OutcomeRecord) -> None:
        """Tell every hook."""
        for hook in self._hooks:
            try:
                hook.on_outcome(record)
            except Exception as error:
                # No traceback: it has the sender's own error in it, which may name an address.
                log.error("a hook failed: %s", type(error).__name__)
