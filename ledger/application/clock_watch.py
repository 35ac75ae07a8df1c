"""Compares the database's clock with this process's own before each batch (design D16)."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from ledger.application import answers
from ledger.application.answers import Answer
from ledger.application.clock import process_time, stopwatch
from ledger.application.commands import AcceptClock, Command, DryRun, Redeem, RequestPermit
from ledger.application.effects import Alert
from ledger.application.ports import Head, Need, WriterSession
from ledger.domain.clock_trust import Reading, Suspicion, judge
from ledger.domain.control import CONTROL_ID, Control

_log = logging.getLogger("ledger.clock")


class ClockWatch:
    """What one process knows of the time, apart from the database.

    It begins with this machine's own time: a process that has just started has no earlier reading.
    While the clock is `suspect`, nothing is granted and nothing redeemed; what else is written gets
    a time that is neither ahead of the clock nor of the seconds that passed.
    """

    def __init__(self, bound: timedelta) -> None:
        self.suspicion: Suspicion | None = None
        self._bound = bound
        self._trusted = Reading(process_time(), stopwatch())

    async def checked(
        self, head: Head, commands: Sequence[Command], session: WriterSession
    ) -> Head:
        """The head with the time that this batch goes by. Raises StoreUnavailable.

        A batch in which a human accepts the clock goes by what it shows, also where the log's last
        event is later: with that event the log's time is set back.
        """
        if head.read_at is None:
            self.suspicion = None
            return head
        read = Reading(head.read_at, stopwatch())
        found = judge(self._trusted, read, head.log_at, None, self._bound)
        if found is not None:
            control = (await session.load(Need({CONTROL_ID}))).aggregates.get(CONTROL_ID)
            accepted = control.clock_accepted_at if isinstance(control, Control) else None
            found = judge(self._trusted, read, head.log_at, accepted, self._bound)
        self._note(found)
        if found is None:
            self._trusted = read
            return head
        accepts = any(isinstance(command, AcceptClock) for command in commands)
        return replace(head, now=head.read_at if accepts else found.now)

    def alerts(self, head: Head) -> list[Alert]:
        """The page of a suspicion; all processes together page once an hour."""
        if self.suspicion is None:
            return []
        key = f"clock_suspect:{head.now:%Y-%m-%dT%H}"
        return [Alert("clock_suspect", key, f"nothing is granted: {self.suspicion.cause}")]

    def refusal(self, command: Command) -> Answer | None:
        """503 for what would let a mail out while the clock is suspect."""
        if self.suspicion is None or not isinstance(command, RequestPermit | Redeem | DryRun):
            return None
        return answers.plain_problem("clock_suspect", self.suspicion.cause)

    def _note(self, found: Suspicion | None) -> None:
        if found is not None and self.suspicion is None:
            _log.error("nothing is granted: %s", found.cause)
        elif found is None and self.suspicion is not None:
            _log.warning("the database's clock is trusted again")
        self.suspicion = found
