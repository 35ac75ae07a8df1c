"""Has the log compared with the witness at the start and while nobody asks (design D13)."""

import asyncio
import uuid

from api.running.parts import Parts
from ledger.application.commands import Lapse
from ledger.application.ports import Need, StoreUnavailable
from ledger.store.witness.witness_file import WitnessError, WitnessFile

PERIOD = 1.0
"""Seconds between two looks at the end of the log."""
_NOBODY = str(uuid.UUID(int=0))


async def watch(parts: Parts) -> None:
    """Look at the end of the log once a second, for ever: people hear of a loss before senders."""
    compared = False
    while True:
        try:
            position = await end_of_log(parts)
            begun = position > 0 or had_begun(parts)
            if position < parts.engine.position or (begun and not compared):
                compared = await compare_now(parts)
        except StoreUnavailable:
            pass
        await asyncio.sleep(PERIOD)


async def end_of_log(parts: Parts) -> int:
    """The position of the last event. Raises StoreUnavailable."""
    return (await parts.reader.load(Need())).position


def had_begun(parts: Parts) -> bool:
    """Does the witness know of a log? An empty one is left empty, for a test clock to start on."""
    try:
        kept = WitnessFile(parts.witness_path).read()
    except WitnessError:
        return True
    return kept is not None and kept.mark.position > 0


async def compare_now(parts: Parts) -> bool:
    """Begin a batch that changes nothing: the writer compares as it does before each one."""
    answer = await parts.engine.submit(Lapse(_NOBODY))
    return answer.status < 500
