"""What commands will look at, so that a whole batch is loaded in a few round trips.

A walk goes as deep as what is loaded leads, and notes what is missing. It may guess too little: a
decision that misses something says so by NotLoaded.
"""

from ledger.application.commands import (
    ApplyFact,
    Command,
    DryRun,
    Lapse,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
from ledger.application.facts.intake import load_fact
from ledger.application.lost_sends import load_used, load_used_elsewhere
from ledger.application.reported_names import load_reported
from ledger.application.walk import Walk


def follow(walk: Walk, command: Command) -> None:
    """Note everything that this command leads to."""
    if isinstance(command, RequestPermit):
        _request(walk, command)
    elif isinstance(command, Redeem | ReportOutcome | Lapse):
        permit = walk.permit(command.permit_id)
        if permit is not None:
            walk.permit_parts(permit, isinstance(command, Redeem))
            if isinstance(command, Redeem):
                load_used_elsewhere(walk, permit)
        if isinstance(command, ReportOutcome):
            load_reported(walk, command)
    elif isinstance(command, ApplyFact):
        load_fact(walk, command.fact)
    elif isinstance(command, DryRun):
        for request in command.requests:
            _request(walk, request)


def _request(walk: Walk, command: RequestPermit) -> None:
    if command.idempotency is not None:
        walk.need.bindings.add(command.idempotency.scope)
    if command.job is not None:
        walk.aggregate("job", command.job.name)
    if command.override is not None:
        walk.name("override", command.override.action_id)
    for fact in command.facts:
        load_fact(walk, fact)
    walk.claims(command.cc)
    command.subject.load(walk)
    if walk.any_lost:
        load_used(walk, command.subject, command.override.action_id if command.override else None)
