"""The witness: a file outside the database with the last known position of its log (design D13).

A database that was restored from a backup, or a standby promoted with data loss, is consistent in
itself. The loss shows only if a position seen before is missing or has another event now.

- The file names only committed positions: it is written after the commit was acknowledged, so a
  contradiction always proves a loss.
- The file may lag: a running process writes it at most every `period` seconds and when it ends. A
  loss of less than that is not detected if the process ends at the same time. The position in a
  running process's memory does not lag. With a period of 0 the file does not lag either: it is
  written before an answer leaves, and without it there is no answer.
- Processes that share a file keep the highest position in it; otherwise each has its own file.
"""

import asyncio
import contextlib
import fcntl
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import psycopg

from ledger.store.hashchain import GENESIS
from ledger.store.statements import statement

_log = logging.getLogger("ledger.witness")
PERIOD = 0.2
"""The shortest time between two writes of the file, in seconds, if no other is set."""


class WitnessError(Exception):
    """The witness is unusable or belongs to another ledger; the message says what to do."""


class Mark(NamedTuple):
    """The head of a log: its last event's position, hash and time (UTC); no time at position 0."""

    position: int
    hash: bytes
    at: datetime | None


START = Mark(0, GENESIS, None)
"""The head of an empty log."""


@dataclass(frozen=True, slots=True)
class WitnessRecord:
    """The content of the file: a ledger's epoch and the last known head of its log."""

    __test__ = False
    epoch: str
    mark: Mark


class WitnessFile:
    """The witness file, replaced atomically and synced to disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> WitnessRecord | None:
        """The file's content, None where there is no file. Raises WitnessError."""
        try:
            text = self.path.read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise WitnessError(f"the witness {self.path} cannot be read: {error}") from error
        try:
            found = json.loads(text)
            at = datetime.fromisoformat(found["at"]).astimezone(UTC) if found["at"] else None
            mark = Mark(int(found["position"]), bytes.fromhex(found["hash"]), at)
            return WitnessRecord(str(found["epoch"]), mark)
        except (ValueError, KeyError, TypeError) as error:
            raise WitnessError(
                f"the witness {self.path} is damaged; put a good copy of it in its place, or, if "
                "the database was not restored, remove it"
            ) from error

    def write(self, record: WitnessRecord, *, back: bool = False) -> None:
        """Write the record, unless the file already has a higher position of the same ledger.

        `back` also writes a lower position, after a recorded loss, and syncs the folder so that
        the rename survives a crash; without that sync a crash makes the file lag. Raises OSError.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with _alone_in(folder):
                if not back and self._is_further(record):
                    return
                fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
                with open(os.open(fresh, flags, 0o600), "w", encoding="ascii") as file:
                    file.write(_text(record))
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self.path)
                if back:
                    os.fsync(folder)
        finally:
            os.close(folder)

    def _is_further(self, record: WitnessRecord) -> bool:
        try:
            kept = self.read()
        except WitnessError:
            return False
        return (
            kept is not None
            and kept.epoch == record.epoch
            and kept.mark.position >= record.mark.position
        )


class Witness:
    """The last head of the log that a process has seen, in memory and, with a path, in the file."""

    def __init__(self, path: Path | None = None, period: float | None = None) -> None:
        self.period = PERIOD if period is None else period
        self.epoch: str | None = None
        self.seen: Mark | None = None
        self._file = WitnessFile(path) if path is not None else None
        self._unwritten: Mark | None = None
        self._back = False
        self._failing = False
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def records(self) -> list[WitnessRecord]:
        """The heads known from this process's memory and from the file. Raises WitnessError."""
        found: list[WitnessRecord] = []
        if self.epoch is not None and self.seen is not None:
            found.append(WitnessRecord(self.epoch, self.seen))
        kept = self._file.read() if self._file is not None else None
        if kept is not None:
            found.append(kept)
        return found

    def contradicts(self, head: Mark) -> bool:
        """True where the log ends before the head that this process has seen, or differs at it."""
        if self.seen is None:
            return False
        if head.position == self.seen.position:
            return head.hash != self.seen.hash
        return head.position < self.seen.position

    def note(self, head: Mark) -> None:
        """Remember a committed head; the file is written soon after."""
        if self.seen is None or head.position > self.seen.position:
            self._take(head, back=False)

    def accept(self, head: Mark, *, back: bool) -> None:
        """Replace the remembered head by this one; `back`: a lower position is intended."""
        self._take(head, back=back)

    @property
    def precedes_answers(self) -> bool:
        """Must `confirm` be called after a commit, before its answers leave?"""
        return self.period == 0 and self._file is not None

    async def confirm(self) -> None:
        """Write what is remembered, before an answer leaves. Raises WitnessError: no answer may."""
        await self._write()
        if self._failing:
            raise WitnessError("the witness cannot be written, and no answer may leave before it")

    async def close(self) -> None:
        """Write the file if the remembered head is newer."""
        self._closing.set()
        if self._writing is not None:
            await self._writing
        await self._write()

    def _take(self, head: Mark, *, back: bool) -> None:
        self.seen = self._unwritten = head
        self._back = self._back or back
        if self._file is None or self.precedes_answers:
            return
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._follow())

    async def _follow(self) -> None:
        """Write at once, then at most every `period` seconds, until the file is up to date."""
        while await self._write():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), self.period)

    async def _write(self) -> bool:
        """Write the file, where it is not up to date; False where there was nothing to write."""
        if self._file is None or self._unwritten is None or self.epoch is None:
            return False
        mark, back = self._unwritten, self._back
        self._unwritten, self._back = None, False
        try:
            await asyncio.to_thread(self._file.write, WitnessRecord(self.epoch, mark), back=back)
            self._failing = False
        except OSError as error:
            self._back = self._back or back
            if self.precedes_answers:
                self._unwritten = self._unwritten or mark
            self._complain(self._file.path, error)
        return True

    def _complain(self, path: Path, error: OSError) -> None:
        """Log an error once per outage; the ledger keeps working and the next write retries."""
        if not self._failing:
            _log.warning(
                "the witness %s cannot be written, so a restored database may go unnoticed: %s",
                path,
                error,
            )
        self._failing = True


def check_witness(conninfo: str, path: Path) -> None:
    """Refuse to start if the witness names another ledger; make the file if it is missing.

    Raises WitnessError, OSError where the file cannot be written, psycopg.Error.
    """
    file = WitnessFile(path)
    with psycopg.connect(conninfo, autocommit=True) as db:
        row = db.execute(statement("ledger", "get_setting"), {"name": "epoch"}).fetchone()
    assert row is not None
    kept = file.read()
    if kept is not None and kept.epoch != row[0]:
        raise WitnessError(other_ledger(path, kept, row[0]))
    file.write(WitnessRecord(row[0], START))


def other_ledger(path: Path | None, kept: WitnessRecord, epoch: str) -> str:
    """The error message for a witness and a database of different ledgers."""
    return (
        f"the witness {path or 'in memory'} is of the ledger {kept.epoch}, whose log had come to "
        f"position {kept.mark.position}; this database holds the ledger {epoch}. If the database "
        "was lost, restore a backup of it: a new one would let every mail out again. If this is "
        "meant to be another ledger, give it a witness of its own (LEDGER_WITNESS) or move this "
        "one away"
    )


def _text(record: WitnessRecord) -> str:
    mark = record.mark
    content = {
        "epoch": record.epoch,
        "position": mark.position,
        "hash": mark.hash.hex(),
        "at": mark.at.isoformat() if mark.at is not None else None,
    }
    return json.dumps(content) + "\n"


@contextlib.contextmanager
def _alone_in(folder: int) -> Iterator[None]:
    """Lock the folder, so that one process at a time reads and writes the file.

    On a file system without flock, processes are not kept apart.
    """
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)
