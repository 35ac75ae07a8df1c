"""Schemas of the ledger's switches: pauses, breakers, the clock and the policy."""

from typing import Any, Literal

from api.contract.fields import Body, Instant


class PauseState(Body):
    """A pause in force."""

    scope: str
    since: Instant
    reason: str
    by: str


class RecoveryState(Body):
    """Recovery mode: the database was restored from an older copy, and a person must act."""

    since: Instant
    cause: str | None
    import_from: Instant | None


class GuardCheckState(Body):
    """A finished guard check."""

    id: str
    started_at: Instant
    passed: bool


class Switches(Body):
    """The pauses in force, recovery mode, and the last guard checks."""

    paused: bool
    pauses: list[PauseState]
    recovery: RecoveryState | None
    guard_checks: list[GuardCheckState]
    position: str


class ControlState(Switches):
    """The switches, and the ledger's time.

    `clock_suspect` says why nothing is granted, as the process that answers saw it last; or null.
    """

    now: Instant
    test_clock: bool
    clock_suspect: str | None


class ClockMoved(Body):
    """The new time of the test clock."""

    now: Instant
    position: str


class ClockAccepted(Body):
    """The time that the ledger goes by from now on."""

    result: Literal["applied"]
    now: Instant
    position: str


class Written(Body):
    """Whether a change was made (`applied`) or there was nothing to change (`ignored`)."""

    result: Literal["applied", "ignored"]
    position: str


class BreakersClosed(Body):
    """The customers whose breakers were closed, and those that the ledger does not know.

    `would_reset` is there after a `dry_run`, which closes none.
    """

    reset: list[str]
    would_reset: list[str] | None = None
    unknown: list[str]
    position: str


class FindingState(Body):
    """What is wrong, or worth a note, and what to do about it. New codes may be added."""

    code: str
    level: Literal["wrong", "note"]
    what: str
    advice: str


class DiagnosisState(Body):
    """What an expert would find; `ok` says that nothing is wrong, though there may be notes."""

    ok: bool
    findings: list[FindingState]
    versions: dict[str, str]
    position: str


class PolicyState(Body):
    """The policy in force; every decision records its `version`."""

    version: str
    policy: dict[str, Any]


class Health(Body):
    """Whether the process answers, or accepts requests."""

    status: Literal["ok", "ready"]
