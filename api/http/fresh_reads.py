"""Read-your-writes: a query waits, bounded, until its read model has passed the log (D15)."""

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
"""What a read may ask for (contract: `?after=`)."""


async def log_has_reached(context: Context, after: str | None) -> None:
    """Nothing, where the log is as far as the position. Raises ProblemError (stale).

    A position beyond the log's end may be of before a restore: the witness is asked at once. Alone
    it proves nothing, since anybody can make one up (design D13). To callers a position is a token,
    and so it is in the document; what cannot be one is 422.
    """
    if after is None:
        return
    if not (after.isascii() and after.isdecimal() and len(after) <= 18):
        raise ProblemError("invalid_request", "after is the position of an earlier answer")
    head = (await context.reader.load(Need())).position
    if head < int(after):
        await compare_now(context)
        raise ProblemError("stale", f"the log ends at {head}, before the position {after}")


async def current_projection(
    context: Context, after: str | None, names: Collection[str] | None = None
) -> dict[str, str]:
    """Wait until these read models (None: all) are as far as the log was when the query arrived.

    Answers the header `Ledger-Stale` (seconds) where that takes too long; a query that names the
    position it must have seen gets 503 instead. Naming an earlier one asks for no older answer.
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
