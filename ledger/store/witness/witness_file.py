"""The witness: a file beside the database that says how far its log had come (design D13).

A database that was restored from a backup, or promoted with a loss, looks whole from inside. What
gives it away is a position that had been seen and is gone, or holds another event now.

- What it names was committed: it is written after the commit was acknowledged, and never before,
  so a contradiction always proves a loss.
- It may lag: a running process writes at most every PERIOD seconds and at its end. A loss that
  takes back less than that, while the process ends too, shows nowhere. What a running process
  itself has seen is kept in memory and does not lag.
- Processes that share a file keep the furthest position in it; those that cannot keep one each.
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
"""Seconds between two writes of the file."""


class WitnessError(Exception):
    """The witness cannot be used, or is of another ledger; the message says what to do."""


class Mark(NamedTuple):
    """The end of a log: its last event's position, hash and time (UTC); no time at position 0."""

    position: int
    hash: bytes
    at: datetime | None


START = Mark(0, GENESIS, None)
"""The end of a log without any event."""


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the file says: of which ledger (its epoch), and how far its log had come."""

    __test__ = False
    epoch: str
    mark: Mark


class WitnessFile:
    """The file: replaced as a whole and synced to the disk, so it is never half written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Testimony | None:
        """What it says, None where there is no such file. Raises WitnessError."""
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
            return Testimony(str(found["epoch"]), mark)
        except (ValueError, KeyError, TypeError) as error:
            raise WitnessError(
                f"the witness {self.path} is damaged; put a good copy of it in its place, or, if "
                "the database was not restored, remove it"
            ) from error

    def write(self, testimony: Testimony, *, back: bool = False) -> None:
        """Keep the testimony, unless another process has seen the log come further.

        `back` writes a lower position too, after a loss that was noted, and makes sure that it
        stays; should the machine lose another renaming, the file only lags. Raises OSError.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with _alone_in(folder):
                if not back and self._is_further(testimony):
                    return
                fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
                with open(os.open(fresh, flags, 0o600), "w", encoding="ascii") as file:
                    file.write(_text(testimony))
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self.path)
                if back:
                    os.fsync(folder)
        finally:
            os.close(folder)

    def _is_further(self, testimony: Testimony) -> bool:
        try:
            kept = self.read()
        except WitnessError:
            return False
        return (
            kept is not None
            and kept.epoch == testimony.epoch
            and kept.mark.position >= testimony.mark.position
        )


class Witness:
    """What one process has seen of the log, in memory and, where it has a path, in the file."""

    def __init__(self, path: Path | None = None) -> None:
        self.epoch: str | None = None
        self.seen: Mark | None = None
        self._file = WitnessFile(path) if path is not None else None
        self._unwritten: Mark | None = None
        self._back = False
        self._failing = False
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def testimonies(self) -> list[Testimony]:
        """What this process has seen, and what the file says. Raises WitnessError."""
        found: list[Testimony] = []
        if self.epoch is not None and self.seen is not None:
            found.append(Testimony(self.epoch, self.seen))
        kept = self._file.read() if self._file is not None else None
        if kept is not None:
            found.append(kept)
        return found

    def contradicts(self, head: Mark) -> bool:
        """Does the log end before, or differ at, what this process has seen of it?"""
        if self.seen is None:
            return False
        if head.position == self.seen.position:
            return head.hash != self.seen.hash
        return head.position < self.seen.position

    def note(self, head: Mark) -> None:
        """The log was seen to end there, durably; the file follows soon."""
        if self.seen is None or head.position > self.seen.position:
            self._take(head, back=False)

    def accept(self, head: Mark, *, back: bool) -> None:
        """Go by this end of the log from now on; `back`: although more had been seen."""
        self._take(head, back=back)

    async def close(self) -> None:
        """Write what is not written yet."""
        self._closing.set()
        if self._writing is not None:
            await self._writing

    def _take(self, head: Mark, *, back: bool) -> None:
        self.seen = self._unwritten = head
        self._back = self._back or back
        if self._file is not None and (self._writing is None or self._writing.done()):
            self._writing = asyncio.get_running_loop().create_task(self._follow(self._file))

    async def _follow(self, file: WitnessFile) -> None:
        """Write at once, and then not more often than every PERIOD, until nothing is new."""
        while self._unwritten is not None and self.epoch is not None:
            testimony, back = Testimony(self.epoch, self._unwritten), self._back
            self._unwritten, self._back = None, False
            try:
                await asyncio.to_thread(file.write, testimony, back=back)
                self._failing = False
            except OSError as error:
                self._back = self._back or back
                self._complain(file.path, error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), PERIOD)

    def _complain(self, path: Path, error: OSError) -> None:
        """Once per outage: the log goes on, and the next write tries again."""
        if not self._failing:
            _log.warning(
                "the witness %s cannot be written, so a restored database may go unnoticed: %s",
                path,
                error,
            )
        self._failing = True


def check_witness(conninfo: str, path: Path) -> None:
    """Refuse to start on a database of another ledger than the witness's, and begin a new file.

    Raises WitnessError, OSError where the file cannot be written, psycopg.Error.
    """
    file = WitnessFile(path)
    with psycopg.connect(conninfo, autocommit=True) as db:
        row = db.execute(statement("ledger", "get_setting"), {"name": "epoch"}).fetchone()
    assert row is not None
    kept = file.read()
    if kept is not None and kept.epoch != row[0]:
        raise WitnessError(other_ledger(path, kept, row[0]))
    file.write(Testimony(row[0], START))


def other_ledger(path: Path | None, kept: Testimony, epoch: str) -> str:
    """What to say where a witness and a database are not of one ledger."""
    return (
        f"the witness {path or 'in memory'} is of the ledger {kept.epoch}, whose log had come to "
        f"position {kept.mark.position}; this database holds the ledger {epoch}. If the database "
        "was lost, restore a backup of it: a new one would let every mail out again. If this is "
        "meant to be another ledger, give it a witness of its own (LEDGER_WITNESS) or move this "
        "one away"
    )


def _text(testimony: Testimony) -> str:
    mark = testimony.mark
    content = {
        "epoch": testimony.epoch,
        "position": mark.position,
        "hash": mark.hash.hex(),
        "at": mark.at.isoformat() if mark.at is not None else None,
    }
    return json.dumps(content) + "\n"


@contextlib.contextmanager
def _alone_in(folder: int) -> Iterator[None]:
    """One process at a time looks and writes; where the file system has no such locks, all may."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)
