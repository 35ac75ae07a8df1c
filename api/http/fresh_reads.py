"""Read-your-writes: a query waits, with a timeout, until its read model has caught up (D15)."""

from collections.abc import Collection
from typing import Annotated

from fastapi import Query

from api.contract.problems import ProblemError
from api.http.context import Context
from api.upkeep.witness_watch import compare_now
from ledger.application.ports import Need

After = Annotated[
    str | None,
    Query(description="A position of an earlier answer that this read must have seen, else 503"),
]
"""The query parameter `after` of reads (contract: `?after=`)."""


async def log_has_reached(context: Context, after: str | None) -> None:
    """Check that the log has reached the position. Raises ProblemError (stale, log_changed).

    A position beyond the log's head may come from before a restore, so the log is compared with the
    witness at once. The position alone proves nothing: a caller can invent one (design D13). Where
    the ledger has noticed a restore, waiting will not bring the position back: 409 instead of 503.
    For callers and in the OpenAPI document a position is an opaque token; an invalid one is a 422.
    """
    if after is None:
        return
    if not (after.isascii() and after.isdecimal() and len(after) <= 18):
        raise ProblemError("invalid_request", "after is the position of an earlier answer")
    head = (await context.reader.load(Need())).position
    if head < int(after):
        await compare_now(context)
        control, _ = await context.reader.aggregate("control", "ledger")
        if control is not None and control.recovery_version:
            detail = f"the log ends at {head}: it was restored, and {after} was lost; read again"
            raise ProblemError("log_changed", f"{detail} without after")
        raise ProblemError("stale", f"the log ends at {head}, before the position {after}")


async def current_projection(
    context: Context, after: str | None, names: Collection[str] | None = None
) -> dict[str, str]:
    """Wait until these read models (None: all) reach the log's position at the query's arrival.

    After a timeout returns the header `Ledger-Stale` (seconds); raises ProblemError (stale, 503)
    if the query has `after`. An earlier `after` does not shorten the wait.
    """
    position = (await context.reader.load(Need())).position
    if after is not None:
        position = max(position, int(after))
    behind = await context.projector.wait_for(position, context.read_wait, names)
    if behind <= 0:
        return {}
    if after is not None:
        raise ProblemError("stale", f"the read model is {behind:.1f} seconds behind; ask again")
    return {"Ledger-Stale": f"{max(1, round(behind))}"}
