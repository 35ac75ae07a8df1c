"""Reads a kept body again after a fix, and takes in what can be used now (design D10)."""

from api.webhooks.intake import Intake, Post, Taken, read_post
from ledger.store.connections import Connections
from ledger.store.webhooks.rejected import RejectedBody, get_rejected, note_replay


class NotKept(LookupError):
    """There is no kept body of that id, or it was resolved and its bytes are gone."""


class NotConfigured(LookupError):
    """The provider has no credentials now, so its settings (mode, prefix) are not known."""


async def replay(intake: Intake, connections: Connections, rejected_id: int) -> Taken:
    """Take a kept body as if it arrived now; its signature was checked when it did.

    What was applied before is a duplicate. Raises NotKept, NotConfigured, and what Intake.apply
    raises; then the body stays as it is.
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
