"""Compares the log with its earlier heads to detect lost history, under the writer lock (D13)."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncConnection

from ledger.application.ports import Loss
from ledger.domain.control import CONTROL_ID
from ledger.domain.instants import told
from ledger.store.statements import statement
from ledger.store.witness.witness_file import Mark, WitnessRecord

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `compare`.

    `loss` is a loss that is not recorded in the log yet. `contradicted` is True where an earlier
    head is missing from the log or differs; if `loss` is None then, another process recorded it.
    """

    epoch: str
    loss: Loss | None
    contradicted: bool


class OtherLedger(Exception):
    """The database contains another ledger than the one that the witness names."""

    def __init__(self, seen: WitnessRecord, epoch: str) -> None:
        super().__init__(f"the database holds the ledger {epoch}, not {seen.epoch}")
        self.seen, self.epoch = seen, epoch


async def compare(
    connection: AsyncConnection[Any], head: Mark, records: list[WitnessRecord]
) -> Comparison:
    """Check that the log still has every head seen before. Raises OtherLedger, psycopg.Error."""
    marks = [seen.mark for seen in records if seen.mark.position > 0]
    cursor = await connection.execute(
        statement("witness", "compare"), {"positions": [mark.position for mark in marks]}
    )
    row = await cursor.fetchone()
    assert row is not None, "the ledger has no epoch: migrate it"
    epoch, stored = row
    for seen in records:
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
    return f" ({told(at)})" if at is not None else ""
