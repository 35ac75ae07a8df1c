"""Compares the log with what was seen of it before, under the writer lock (design D13)."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncConnection

from ledger.application.ports import Loss
from ledger.domain.control import CONTROL_ID
from ledger.store.statements import statement
from ledger.store.witness.witness_file import Mark, Testimony

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of it.

    `loss` is a loss that nobody has noted yet. `contradicted` tells that more, or something else,
    had been seen; where `loss` is None all the same, another process has noted it.
    """

    epoch: str
    loss: Loss | None
    contradicted: bool


class OtherLedger(Exception):
    """The database is not of the ledger whose log was seen."""

    def __init__(self, seen: Testimony, epoch: str) -> None:
        super().__init__(f"the database holds the ledger {epoch}, not {seen.epoch}")
        self.seen, self.epoch = seen, epoch


async def compare(
    connection: AsyncConnection[Any], head: Mark, testimonies: list[Testimony]
) -> Comparison:
    """Is everything still in the log that was seen in it? Raises OtherLedger, psycopg.Error."""
    marks = [seen.mark for seen in testimonies if seen.mark.position > 0]
    cursor = await connection.execute(
        statement("witness", "compare"), {"positions": [mark.position for mark in marks]}
    )
    row = await cursor.fetchone()
    assert row is not None, "the ledger has no epoch: migrate it"
    epoch, stored = row
    for seen in testimonies:
        if seen.epoch != epoch:
            raise OtherLedger(seen, epoch)
    hashes = {int(position): bytes.fromhex(digest) for position, digest in (stored or {}).items()}
    gone = [mark for mark in marks if hashes.get(mark.position) != mark.hash]
    if not gone:
        return Comparison(epoch, None, False)
    latest = max(gone, key=lambda mark: (mark.at or _LONG_AGO, mark.position))
    found = {"seen_at": latest.at, "control": CONTROL_ID}
    lost = await (await connection.execute(statement("witness", "lost"), found)).fetchone()
    assert lost is not None
    kept_until, noted = lost
    loss = None if noted else Loss(_cause(head, latest), kept_until)
    return Comparison(epoch, loss, True)


def _cause(head: Mark, seen: Mark) -> str:
    had = f"position {seen.position}{_at(seen.at)} had been seen"
    if seen.position > head.position:
        return f"the log ends at position {head.position}{_at(head.at)}, but {had}"
    return f"{had}, and another event stands there now"


def _at(at: datetime | None) -> str:
    return f" ({at.isoformat()})" if at is not None else ""
