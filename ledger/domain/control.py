"""The ledger's own switches: pauses, recovery mode and guard checks, as one aggregate (D13)."""

from datetime import datetime
from typing import ClassVar

from eventsourcing.domain import Aggregate

from ledger.domain.identity import aggregate_id
from ledger.domain.permit import Lane, Permit
from ledger.domain.value import value

CONTROL_ID = aggregate_id("control", "ledger")
"""The id of the one control aggregate."""


@value
class Pause:
    """A pause in force: since when (UTC), why, and who called it."""

    since: datetime
    reason: str
    by: str


@value
class GuardCheck:
    """A guard check: when it started (UTC) and whether every probe passed.

    `started_version` is the version that the control aggregate had when it started: it tells what
    came before it, also where a stopped clock cannot.
    """

    check_id: str
    started_at: datetime
    passed: bool
    started_version: int = 0


class Control(Aggregate):
    """What holds for every decision."""

    TOPIC: ClassVar[str] = "ledger:Control"

    class Event(Aggregate.Event):
        """A switch was moved."""

        class_version: ClassVar[int] = 1

    class Created(Event, Aggregate.Created):
        """The ledger was set up."""

        TOPIC: ClassVar[str] = "ledger:Control.Created"

    class Paused(Event):
        """A human paused `all`, `outreach`, a `kind:…` or a `sender:…`."""

        TOPIC: ClassVar[str] = "ledger:Control.Paused"
        scope: str
        reason: str
        by: str

        def apply(self, aggregate: "Control") -> None:
            pause = Pause(self.timestamp, self.reason, self.by)
            aggregate.pauses[self.scope] = pause
            aggregate.last_paused[self.scope] = self.originator_version

    class Resumed(Event):
        """A named human lifted a pause, after a guard check that passed."""

        TOPIC: ClassVar[str] = "ledger:Control.Resumed"
        scope: str
        reason: str
        by: str
        guard_check_id: str

        def apply(self, aggregate: "Control") -> None:
            aggregate.pauses.pop(self.scope, None)

    class GuardChecked(Event):
        """A guard check ended."""

        TOPIC: ClassVar[str] = "ledger:Control.GuardChecked"
        check_id: str
        started_at: datetime
        passed: bool
        failed: tuple[str, ...]
        started_version: int = 0

        def apply(self, aggregate: "Control") -> None:
            check = GuardCheck(self.check_id, self.started_at, self.passed, self.started_version)
            aggregate.guard_checks[self.check_id] = check
            while len(aggregate.guard_checks) > 100:
                del aggregate.guard_checks[next(iter(aggregate.guard_checks))]

    class RecoveryEntered(Event):
        """The ledger noticed that its database is an older copy (design D13)."""

        TOPIC: ClassVar[str] = "ledger:Control.RecoveryEntered"
        cause: str
        import_from: datetime | None

        def apply(self, aggregate: "Control") -> None:
            aggregate.recovery_since = self.timestamp
            aggregate.recovery_version = self.originator_version
            aggregate.recovery_cause = self.cause
            aggregate.import_from = self.import_from

    class RecoveryEnded(Event):
        """A named human declared the gap filled."""

        TOPIC: ClassVar[str] = "ledger:Control.RecoveryEnded"
        by: str
        reason: str

        def apply(self, aggregate: "Control") -> None:
            aggregate.recovery_since = None
            aggregate.recovery_cause = None
            aggregate.import_from = None

    class LostSendNoted(Event):
        """The first mail was heard of whose permit was lost: its send keys are looked up now."""

        TOPIC: ClassVar[str] = "ledger:Control.LostSendNoted"
        mail_id: str

        def apply(self, aggregate: "Control") -> None:
            aggregate.lost_sends = True

    class FeedFellSilent(Event):
        """A source that tells of invoices has not been heard for longer than the policy allows."""

        TOPIC: ClassVar[str] = "ledger:Control.FeedFellSilent"
        source: str
        heard_at: datetime

        def apply(self, aggregate: "Control") -> None:
            aggregate.silent_feeds[self.source] = self.heard_at

    class FeedHeardAgain(Event):
        """A source that had fallen silent told something."""

        TOPIC: ClassVar[str] = "ledger:Control.FeedHeardAgain"
        source: str

        def apply(self, aggregate: "Control") -> None:
            aggregate.silent_feeds.pop(self.source, None)

    class ClockAccepted(Event):
        """A named human declared the database's clock right, as this event's time shows it."""

        TOPIC: ClassVar[str] = "ledger:Control.ClockAccepted"
        by: str
        reason: str

        def apply(self, aggregate: "Control") -> None:
            aggregate.clock_accepted_at = self.timestamp

    def __init__(self) -> None:
        self.pauses: dict[str, Pause] = {}
        self.last_paused: dict[str, int] = {}
        self.guard_checks: dict[str, GuardCheck] = {}
        self.recovery_since: datetime | None = None
        self.recovery_version = 0
        self.recovery_cause: str | None = None
        self.import_from: datetime | None = None
        self.silent_feeds: dict[str, datetime] = {}
        self.clock_accepted_at: datetime | None = None
        self.lost_sends = False

    def pause_for(self, kind: str, lane: Lane, sender: str) -> tuple[str, Pause] | None:
        """The pause that binds a mail of this kind, lane and sender, or None."""
        if not self.pauses:
            return None
        for scope in scopes_of(kind, lane, sender):
            pause = self.pauses.get(scope)
            if pause is not None:
                return scope, pause
        return None

    def paused_since(self, permit: Permit) -> bool:
        """Was a pause that binds this permit called after its grant, even if lifted since?"""
        if not self.last_paused:
            return False
        for scope in scopes_of(permit.kind, permit.lane, permit.sender):
            if self.last_paused.get(scope, 0) > permit.control_version:
                return True
        return False


def scopes_of(kind: str, lane: Lane, sender: str) -> tuple[str, ...]:
    """The pause scopes that bind a mail. An apology passes all but the one that names it (D14).

    `all` binds every kind but the apology; `outreach` binds what we start, save the mails of
    transactional keys (design D8).
    """
    if lane is Lane.APOLOGY:
        return (f"kind:{kind}",)
    named = ("all", f"kind:{kind}", f"sender:{sender}")
    return (*named, "outreach") if lane is Lane.OUTREACH else named
