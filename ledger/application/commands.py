"""The commands that the ledger takes: who asks, and for what."""

from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from ledger.application.caller import SYSTEM, Caller
from ledger.application.facts.fact import Fact
from ledger.application.kinds.kind import PermitSubject
from ledger.domain.identity import Address
from ledger.domain.value import value


@value
class Override:
    """A human's deliberate repeat (contract: override), once per action id."""

    action_id: str
    by: str
    reason: str


@value
class JobToken:
    """The lease under which a permit is asked for."""

    name: str
    token: int


@value
class Idempotency:
    """An Idempotency-Key: `scope` is the digest of (API key, method, path, key), `fingerprint`
    that of the request without its trace ids."""

    scope: bytes
    fingerprint: bytes


@value
class RequestPermit:
    """Ask for a permit."""

    subject: PermitSubject
    caller: Caller
    decision_id: str
    request: bytes
    idempotency: Idempotency | None = None
    redeem: bool = False
    override: Override | None = None
    job: JobToken | None = None
    facts: tuple[Fact, ...] = ()
    cc: tuple[Address, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of mail asked for."""
        return self.subject.kind


@value
class DryRun:
    """Say what these requests would be answered, in order, and keep nothing.

    `alone`: there is one request, and its answer is that of the command; else the command is
    answered by `Rehearsed`, with an answer for each request.
    """

    requests: tuple[RequestPermit, ...]
    caller: Caller
    alone: bool = False


def is_of_claim(command: object) -> bool:
    """Does it tell the log of nothing but the standing of a customer whom a claim asks for?"""
    if isinstance(command, RequestPermit):
        return command.subject.claim
    return isinstance(command, BindAnswer)


@value
class Redeem:
    """Turn a permit into the right to hand one mail over, now."""

    permit_id: str
    attempt: str | None
    caller: Caller
    decision_id: str
    request: bytes


@value
class Correction:
    """A named human's word, with a reason, that a `sent` was false: the mail never went out."""

    by: str
    reason: str


@value
class ReportOutcome:
    """What became of a mail: `sent`, `rejected` (a definite refusal) or `unknown`.

    `provider` and `detail` are kept with the outcome, for people; no address may be in them. A
    `correction` goes with `rejected` alone; its caller must have the scope `operate`.
    """

    permit_id: str
    outcome: str
    caller: Caller
    provider: str | None = None
    provider_message_id: str | None = None
    message_id: str | None = None
    detail: str | None = None
    correction: Correction | None = None

    @property
    def reason(self) -> str:
        """Who reported it, of which provider, and what they said."""
        corrected = self.correction and f"corrected by {self.correction.by}"
        why = self.correction and self.correction.reason
        said = (f"reported by {self.caller.name}", self.provider, self.detail, corrected, why)
        return ": ".join(part for part in said if part)


@value
class ApplyFact:
    """Take one fact in."""

    fact: Fact
    caller: Caller
    answer_with_state: bool = False


@value
class Lapse:
    """Let a permit lapse whose time is up; a sweeper asks, decide does it."""

    permit_id: str
    caller: Caller = SYSTEM


NOBODY = str(UUID(int=0))
"""The id of no permit: its lapse changes nothing, but brings the writer to look and write."""


@value
class ResetBreaker:
    """A named human closes a customer's breaker."""

    customer_id: str
    by: str
    reason: str
    caller: Caller


@value
class ReleaseAddress:
    """A named human lifts the holds of a customer's addresses, or of the one that is named."""

    customer_id: str
    by: str
    reason: str
    caller: Caller
    address: Address | None = None


@value
class CallPause:
    """Stop sending of a scope."""

    scope: str
    reason: str
    by: str
    caller: Caller


@value
class CallResume:
    """Lift a pause, or end recovery mode (scope `recovery`)."""

    scope: str
    reason: str
    by: str
    guard_check_id: str | None
    caller: Caller


@value
class AcceptClock:
    """A named human says that the database's clock is right, whatever the log or a process says."""

    by: str
    reason: str
    caller: Caller


@value
class NoteGuardCheck:
    """Record that a guard check ended; `started_version`: the control aggregate's at its start."""

    check_id: str
    started_at: datetime
    started_version: int
    failed: tuple[str, ...]
    caller: Caller


@value
class EnterRecovery:
    """The database turned out to be an older copy."""

    cause: str
    import_from: datetime | None
    caller: Caller = SYSTEM


@value
class NoteFeedSilence:
    """A source of facts was last heard at `heard_at` (UTC), too long ago."""

    source: str
    heard_at: datetime
    caller: Caller = SYSTEM


@value
class TakeLease:
    """Take or renew a job's lease for `ttl_seconds`."""

    job: str
    holder: str
    ttl_seconds: int
    caller: Caller


@value
class GiveUpLease:
    """Give a job's lease up, named by its holder or its token; by neither, whoever holds it."""

    job: str
    holder: str | None
    token: int | None
    caller: Caller


@value
class DeclareIncident:
    """A human declares an incident over a window of time (UTC, half-open)."""

    incident_id: str
    title: str
    cause: str
    window_from: datetime
    window_to: datetime
    by: str
    caller: Caller


@value
class CloseIncident:
    """A human closes an incident."""

    incident_id: str
    by: str
    caller: Caller


@value
class Erase:
    """Remove a customer's addresses (design D18)."""

    customer_id: str
    by: str
    caller: Caller


@value
class BindAnswer:
    """Keep the answer of a write under its Idempotency-Key."""

    idempotency: Idempotency
    status: int
    body: bytes
    caller: Caller


Command: TypeAlias = (
    RequestPermit
    | DryRun
    | Redeem
    | ReportOutcome
    | ApplyFact
    | Lapse
    | ResetBreaker
    | ReleaseAddress
    | CallPause
    | CallResume
    | AcceptClock
    | NoteGuardCheck
    | EnterRecovery
    | NoteFeedSilence
    | TakeLease
    | GiveUpLease
    | DeclareIncident
    | CloseIncident
    | Erase
    | BindAnswer
)
