"""Processes a rejected body again after a fix (design D10)."""

from api.webhooks.intake import Intake, Post, Taken, read_post
from ledger.store.connections import Connections
from ledger.store.webhooks.rejected import RejectedBody, get_rejected, note_replay


class NotKept(LookupError):
    """There is no rejected body with that id, or it is resolved and its bytes are deleted."""


class NotConfigured(LookupError):
    """The provider is not configured now, so its settings (mode, prefix) are unknown."""


async def replay(intake: Intake, connections: Connections, rejected_id: int) -> Taken:
    """Process a rejected body as if it arrived now; its signature was checked at its arrival.

    Facts applied before are duplicates. Raises NotKept, NotConfigured, and what Intake.apply
    raises; the stored body is then unchanged.
    """
    async with connections.use() as connection:
        kept = await get_rejected(connection, rejected_id)
    if kept is None:
        raise NotKept(f"there is no kept body {rejected_id}")
    if kept.row.resolution is not None:
        raise NotKept(f"body {rejected_id} was {kept.row.resolution}; its bytes are not kept")
    taken = await _take(intake, kept)
    async with connections.use() as connection:
        await note_replay(connection, kept.row, taken.refused)
    return taken


async def _take(intake: Intake, kept: RejectedBody) -> Taken:
    name = kept.row.provider
    endpoint = intake.endpoint(name)
    if endpoint is None:
        raise NotConfigured(f"no webhook of {name} is configured")
    translation = read_post(endpoint, Post(name, kept.headers, kept.body, kept.row.fetched))
    return await intake.submit(name, translation)
