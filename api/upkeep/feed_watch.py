"""Writes down which sources of facts were heard, and notes those that have fallen silent."""

from api.running.parts import Parts
from ledger.application.commands import NoteFeedSilence
from ledger.store.feeds import HeardFacts, note_heard, note_silence, silent_feeds


async def watch_feeds(parts: Parts) -> None:
    """Write what this process has heard, then put on record which sources are silent by now.

    In this order: a source that was heard a moment ago is not silent. The silence itself is decided
    by the engine, so that a guard can rely on it; a clock that is suspect makes nobody silent. One
    at a time: whoever reads the feeds sees what one that was under way has found. Raises
    StoreUnavailable.
    """
    async with parts.engine.heard.watch:
        await _write_heard(parts)
        await _note_silent(parts)


async def _note_silent(parts: Parts) -> None:
    hours = parts.policy.feed_silent_hours
    if not hours or parts.engine.clock_suspect is not None:
        return
    async with parts.connections.use() as connection:
        silent = await silent_feeds(connection, hours)
    for source, heard_at in silent:
        answer = await parts.engine.submit(NoteFeedSilence(source, heard_at))
        if answer.status >= 500 or answer.result == "stale":
            return
        async with parts.connections.use() as connection:
            await note_silence(connection, source, heard_at)


async def _write_heard(parts: Parts) -> None:
    """What cannot be written now is kept for the next time."""
    taken = parts.engine.heard.take()
    if not taken:
        return
    facts = [
        HeardFacts(source, heard.at, heard.tells_of_money, **heard.results)
        for source, heard in taken.items()
    ]
    try:
        async with parts.connections.use() as connection:
            await note_heard(connection, facts)
    except BaseException:
        parts.engine.heard.give_back(taken)
        raise
