"""Recomputes the hash chain of the log from the stored rows and reports the first bad position.

The hashes are computed here and not by the database, since the audit must not trust the database.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from struct import Struct
from struct import error as ShortRow
from typing import Any, NamedTuple

import psycopg

from ledger.store.hashchain import GENESIS, row_hash
from ledger.store.statements import statement

PAGE = 50_000
"""How many events one statement reads; short statements do not hold back vacuum for long."""

_SESSION = "-c work_mem=64MB -c jit=off -c statement_timeout=0 -c default_transaction_read_only=on"
_COPY_HEADER = b"PGCOPY\n\xff\r\n\x00"
_COPY_HEADER_LENGTH = 19
_COPY_TRAILER = b"\xff\xff"
# The number of columns, then the length and the value of each: position, originator_id,
# originator_version, recorded_at, hash, and at the end the length of topic.
_FIXED = Struct(">h i q i 16s i i i q i 32s i")
_LENGTH = Struct(">i")
_SHAPE = (7, 8, 16, 4, 8, 32)
_YEAR_2000 = 946_684_800_000_000
"""PostgreSQL's binary timestamps start in 2000, the hash chain's microseconds in 1970."""


class Checkpoint(NamedTuple):
    """A position of the log and the hash of its event at an earlier time."""

    position: int
    hash: bytes


class Problem(StrEnum):
    """What is wrong with the event at the first bad position."""

    MISSING = "missing"
    """There is no event at this position, but later ones exist."""
    CHANGED = "changed"
    """Its content, its hash or the event before it was changed: the hash does not match."""
    OUT_OF_PLACE = "out_of_place"
    """The position is invalid: before the first one, or used twice."""
    VERSION = "version"
    """Its version is not the previous version of its aggregate plus one."""
    REWRITTEN = "rewritten"
    """The chain is consistent but contradicts a checkpoint: an event up to it was rewritten."""
    CUT_OFF = "cut_off"
    """A checkpoint is after the head of the log: the last events were removed."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verify().

    `head_position` and `head_hash` are those of the last valid event; a later run can start there.
    `checked` counts the valid events of this run. `end` is the last position of the log when the
    run began.
    """

    ok: bool
    first_bad_position: int | None
    problem: Problem | None
    checked: int
    head_position: int
    head_hash: bytes
    end: int

    @property
    def complete(self) -> bool:
        """True where the run reached `end`, the last position of the log."""
        return self.ok and self.head_position >= self.end


class _Bad(Exception):
    """Ends the run at the first bad position."""

    def __init__(self, position: int, problem: Problem) -> None:
        super().__init__(position, problem)
        self.position = position
        self.problem = problem


def verify(
    conninfo: str,
    *,
    start: Checkpoint | None = None,
    against: Sequence[Checkpoint] = (),
    limit: int | None = None,
    progress: Callable[[Checkpoint, int], None] | None = None,
) -> Verification:
    """Check every event from `start` (by default the first) to the head of the log as it is now.

    Memory is bounded; with `limit` at most that many events are checked. `progress` is called
    after each page with the last event checked, which can be the `start` of a later run, and the
    last position of the log. Every checkpoint in `against`, and `start` itself, must match the log:
    a log that was rewritten completely has a consistent chain, and only a checkpoint stored
    elsewhere reveals it. Raises psycopg.Error where the database does not answer.
    """
    chain = _Chain(start or Checkpoint(0, GENESIS))
    found: list[_Bad] = []
    with psycopg.connect(
        conninfo, autocommit=True, options=_SESSION, application_name="send-ledger audit"
    ) as db:
        first, last = _ends(db)
        try:
            if first < 1:
                raise _Bad(first, Problem.OUT_OF_PLACE)
            upto = last if limit is None else min(last, chain.position + limit)
            for page in range(chain.position, upto, PAGE):
                _check_page(db, chain, min(page + PAGE, upto))
                if progress is not None:
                    progress(Checkpoint(chain.position, chain.hash), last)
        except _Bad as bad:
            found.append(bad)
        found.extend(_wrong_versions(db, start.position if start else 0, chain.position))
        found.extend(_lost_checkpoints(db, [*against, start] if start else against, last))
    worst = min(found, key=lambda bad: bad.position, default=None)
    return Verification(
        ok=worst is None,
        first_bad_position=worst.position if worst else None,
        problem=worst.problem if worst else None,
        checked=chain.checked,
        head_position=chain.position,
        head_hash=chain.hash,
        end=last,
    )


def stored_checkpoint(conninfo: str, position: int) -> Checkpoint | None:
    """The hash that the database has at a position, None where it has no event there."""
    with psycopg.connect(conninfo, autocommit=True, options=_SESSION) as db:
        wanted = {"positions": [position]}
        row = db.execute(statement("audit", "hashes"), wanted).fetchone()
    return Checkpoint(row[0], bytes(row[1])) if row is not None else None


class _Chain:
    """The part of the chain that was found valid."""

    def __init__(self, start: Checkpoint) -> None:
        self.position, self.hash = start
        self.checked = 0

    def take(self, rows: Iterator[bytes]) -> None:
        """Check rows in COPY's binary format; raises _Bad at the first that does not match."""
        position, before, started = self.position, self.hash, self.position
        unpack, fixed, length = _FIXED.unpack_from, _FIXED.size, _LENGTH.unpack_from
        try:
            for row in rows:
                columns, n1, found, n2, id_, n3, version, n4, at, n5, hash_, n6 = unpack(row)
                if (columns, n1, n2, n3, n4, n5) != _SHAPE:
                    raise _Bad(position + 1, Problem.CHANGED)
                if found != position + 1:
                    raise _Bad(*_misplaced(found, position + 1))
                end = fixed + n6
                state = row[end + 4 :]
                if length(row, end)[0] != len(state) or hash_ != row_hash(
                    before, found, id_, version, at + _YEAR_2000, row[fixed:end], state
                ):
                    raise _Bad(found, Problem.CHANGED)
                position, before = found, hash_
        except ShortRow:
            raise _Bad(position + 1, Problem.CHANGED) from None
        finally:
            self.position, self.hash = position, before
            self.checked += position - started


def _misplaced(found: int, expected: int) -> tuple[int, Problem]:
    if found > expected:
        return expected, Problem.MISSING
    return found, Problem.OUT_OF_PLACE


def _ends(db: psycopg.Connection[Any]) -> tuple[int, int]:
    row = db.execute(statement("audit", "ends")).fetchone()
    assert row is not None
    first, last = row
    return (1, 0) if last is None else (first, last)


def _check_page(db: psycopg.Connection[Any], chain: _Chain, upto: int) -> None:
    wanted = {"after": chain.position, "upto": upto}
    with db.cursor().copy(statement("audit", "rows"), wanted) as copy:
        chain.take(_rows(copy))
    if chain.position != upto:
        raise _Bad(chain.position + 1, Problem.MISSING)


def _rows(copy: psycopg.Copy) -> Iterator[bytes]:
    """The rows of a binary COPY without its header and trailer."""
    blocks = iter(copy)
    first = bytes(next(blocks))
    assert first.startswith(_COPY_HEADER)
    row = first[_COPY_HEADER_LENGTH:]
    if row and row != _COPY_TRAILER:
        yield row
    for block in blocks:
        if block != _COPY_TRAILER:
            yield bytes(block)


def _wrong_versions(db: psycopg.Connection[Any], after: int, upto: int) -> Iterator[_Bad]:
    """Find wrong versions, which the hash chain cannot show: it accepts any sequence of them."""
    wanted = {"after": after, "upto": upto}
    row = db.execute(statement("audit", "versions"), wanted).fetchone()
    if row is not None and row[0] is not None:
        yield _Bad(row[0], Problem.VERSION)


def _lost_checkpoints(
    db: psycopg.Connection[Any], known: Sequence[Checkpoint], last: int
) -> Iterator[_Bad]:
    positions = [checkpoint.position for checkpoint in known]
    stored = dict(db.execute(statement("audit", "hashes"), {"positions": positions}).fetchall())
    for position, hash_ in known:
        if position > last:
            yield _Bad(last + 1, Problem.CUT_OFF)
        elif position > 0 and stored.get(position) != hash_:
            yield _Bad(position, Problem.REWRITTEN)
