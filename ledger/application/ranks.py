"""Whose places in the queue a command takes: a caller's, an operator's or the ledger's own."""

from ledger.application.caller import SYSTEM
from ledger.application.commands import (
    AcceptClock,
    BindAnswer,
    CallPause,
    CallResume,
    CloseIncident,
    Command,
    DeclareIncident,
    NoteGuardCheck,
    ReleaseAddress,
    ResetBreaker,
)
from ledger.application.fair_queue import Rank

_OF_OPERATORS = (
    CallPause,
    CallResume,
    AcceptClock,
    ResetBreaker,
    ReleaseAddress,
    NoteGuardCheck,
    DeclareIncident,
    CloseIncident,
)


def rank_of(command: Command) -> Rank:
    """The rank of a command, by who asks and what for."""
    if command.caller.key_id == SYSTEM.key_id:
        return Rank.LEDGER
    return Rank.OPERATOR if _is_of_operator(command) else Rank.CALLER


def _is_of_operator(command: Command) -> bool:
    """Is it what a human does in need? The answer of such a call is kept among it."""
    if isinstance(command, BindAnswer):
        return command.caller.may("operate")
    return isinstance(command, _OF_OPERATORS)
