"""Outcomes that the ledger has not heard yet, kept in files that outlive a killed process.

Each process writes a file of its own in the folder and holds a lock on it (flock) while it lives. A
file that can be locked is of a process that is gone: what it left is taken over and reported. Lines
are only appended, and written to disk before the mail is handed over and before its outcome is
reported. They hold ids and outcomes, no addresses. A file system without flock (NFS) will not do.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sendledger.observing import log

try:
    import fcntl
except ImportError:  # Windows has no flock.
    fcntl = None  # type: ignore[assignment]

DIED = {"outcome": "unknown", "detail": "the process ended before it told the outcome"}
MOST_BYTES = 1 << 20
MOST_PENDING = 10_000


class Spool:
    """The spool of one client. `owner` (the ledger's URL and key) keeps spools of several apart."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        owner: str,
        most_bytes: int = MOST_BYTES,
        most_pending: int = MOST_PENDING,
    ) -> None:
        if fcntl is None:
            raise OSError("a spool needs flock, which this system does not have")
        self.folder = Path(folder)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._prefix = hashlib.sha256(owner.encode()).hexdigest()[:12]
        self._most_bytes, self._most_pending = most_bytes, most_pending
        self._lock = threading.RLock()
        self._pending: dict[str, Mapping[str, Any]] = {}
        self._leftover: set[str] = set()
        self._file = -1
        self._path = self.folder
        self._pid = 0

    def handing_over(self, permit_id: str) -> None:
        """From now on the mail may be out: a process that dies leaves `unknown`."""
        self._write(permit_id, DIED)

    def outcome(self, permit_id: str, body: Mapping[str, Any]) -> None:
        """The outcome is known, and not yet reported."""
        self._write(permit_id, body)

    def done(self, permit_id: str) -> None:
        """The ledger has heard the outcome."""
        with self._lock:
            self._leftover.discard(permit_id)
            if self._own() and self._pending.pop(permit_id, None) is not None:
                self._append({"permit_id": permit_id, "done": True}, sync=False)
                self._shrink()

    def unreported(self, permit_id: str) -> None:
        """The report failed for now: it is among the leftovers."""
        with self._lock:
            if permit_id in self._pending:
                self._leftover.add(permit_id)

    def leftovers(self) -> list[tuple[str, Mapping[str, Any]]]:
        """What is to be reported: left by processes that are gone, or by a report that failed."""
        with self._lock:
            self._own()
            self._take_over()
            return [(name, self._pending[name]) for name in sorted(self._leftover)]

    def close(self) -> None:
        """Give the file up: without anything in it it goes, else the next process takes it over."""
        with self._lock:
            if self._file >= 0 and self._pid == os.getpid():
                if not self._pending:
                    self._path.unlink(missing_ok=True)
                os.close(self._file)
            self._file, self._pid = -1, 0
            self._pending, self._leftover = {}, set()

    def _write(self, permit_id: str, body: Mapping[str, Any]) -> None:
        with self._lock:
            self._own()
            if permit_id not in self._pending and len(self._pending) >= self._most_pending:
                log.error("the spool is full: what becomes of permit %s is not kept", permit_id)
                return
            self._pending[permit_id] = body
            self._append({"permit_id": permit_id, "report": dict(body)}, sync=True)
            self._shrink()

    def _own(self) -> bool:
        """Have a file of this process: a child of a fork does not write into its parent's."""
        if self._file >= 0 and self._pid == os.getpid():
            return True
        if self._file >= 0:
            os.close(self._file)
            self._pending, self._leftover = {}, set()
        self._pid = os.getpid()
        self._begin()
        return True

    def _begin(self) -> None:
        """Make and lock a new file; another process may take an unlocked one away meanwhile."""
        while True:
            path = self.folder / f"{self._prefix}-{self._pid}-{uuid.uuid4().hex}.spool"
            file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
            if _locked(file) and _is_at(file, path):
                self._file, self._path = file, path
                self._sync_folder()
                return
            os.close(file)

    def _append(self, entry: Mapping[str, Any], sync: bool) -> None:
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        try:
            os.write(self._file, line)
            if sync:
                os.fsync(self._file)
        except OSError as error:
            log.error("the spool cannot be written: %s", error.strerror)

    def _shrink(self) -> None:
        """Go on in a new file once the old one is long and mostly done."""
        if os.fstat(self._file).st_size <= self._most_bytes:
            return
        old, old_path = self._file, self._path
        self._begin()
        for permit_id, body in self._pending.items():
            self._append({"permit_id": permit_id, "report": dict(body)}, sync=False)
        os.fsync(self._file)
        old_path.unlink(missing_ok=True)
        os.close(old)

    def _take_over(self) -> None:
        for path in sorted(self.folder.glob(f"{self._prefix}-*.spool")):
            if path == self._path:
                continue
            try:
                file = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                continue
            try:
                if _locked(file) and _is_at(file, path):
                    for permit_id, body in _read(file).items():
                        self._write(permit_id, body)
                        self.unreported(permit_id)
                    path.unlink(missing_ok=True)
            finally:
                os.close(file)

    def _sync_folder(self) -> None:
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(file: int, path: Path) -> bool:
    """Is this the file that the path leads to, and not one that was taken away before the lock?"""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _read(file: int) -> dict[str, Mapping[str, Any]]:
    """What a file still has to report; a last line that was cut short is left out."""
    pending: dict[str, Mapping[str, Any]] = {}
    with os.fdopen(os.dup(file), "rb") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
                name = entry["permit_id"]
            except (ValueError, KeyError, TypeError):
                continue
            if entry.get("done"):
                pending.pop(name, None)
            elif isinstance(entry.get("report"), dict):
                pending[name] = entry["report"]
    return pending
