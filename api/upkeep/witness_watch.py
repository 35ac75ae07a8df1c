"""Compares the log with the witness at start-up and while there are no requests (design D13)."""

import asyncio

from api.running.parts import Parts
from ledger.application.commands import NOBODY, Lapse
from ledger.application.ports import Need, StoreUnavailable
from ledger.store.witness.witness_file import WitnessError, WitnessFile

PERIOD = 1.0
"""Seconds between two polls of the log's last position."""


async def watch(parts: Parts) -> None:
    """Poll the log's last position once a second, for ever, so that a loss is alerted on early."""
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
    """True where the witness has seen events; an empty log must stay empty for a test clock."""
    try:
        kept = WitnessFile(parts.witness_path).read()
    except WitnessError:
        return True
    return kept is not None and kept.mark.position > 0


async def compare_now(parts: Parts) -> bool:
    """Begin an empty batch: the writer compares the log with the witness before each batch."""
    answer = await parts.engine.submit(Lapse(NOBODY))
    return answer.status < 500
