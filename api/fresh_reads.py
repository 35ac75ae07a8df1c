"""Read-your-writes: a query waits, bounded, until its read model has passed the log (D15)."""

from api.context import Context
from api.problems import ProblemError
from ledger.application.ports import Need


async def current_projection(context: Context, after: str | None) -> dict[str, str]:
    """Wait until the read models are as far as the log was when the query arrived.

    Answers the header `Ledger-Stale` (seconds) where that takes too long; a query that names the
    position it must have seen gets 503 instead.
    """
    if after is not None:
        position = int(after)
    else:
        position = (await context.reader.load(Need())).position
    behind = await context.projector.wait_for(position, context.settings.read_wait)
    if behind <= 0:
        return {}
    if after is not None:
        raise ProblemError("stale", f"the read model is {behind:.1f} seconds behind; ask again")
    return {"Ledger-Stale": f"{max(1, round(behind))}"}
