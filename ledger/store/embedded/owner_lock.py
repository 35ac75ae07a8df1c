"""The lock that a process holds on its data folder until it ends (D17)."""

import fcntl
import os
from pathlib import Path

from ledger.store.embedded.error import EmbeddedPostgresError
from ledger.store.embedded.postmaster import wait_until

_NAMING_SECONDS = 1.0

_held: set[int] = set()


def _let_go_in_child() -> None:
    # A flock belongs to the open file, which fork() shares: a worker that kept its copy open
    # would keep the folder locked after its parent was killed.
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_let_go_in_child)


class OwnerLock:
    """An exclusive flock on a file that contains the owner's process id.

    The kernel releases it when the owner ends, also by kill -9. Neither children started by exec
    (PostgreSQL) nor forked ones inherit it. The file is never removed: otherwise two owners could
    hold locks on two files of the same name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._owner = 0

    @property
    def held(self) -> bool:
        """True in the process that acquired the lock and has not released it."""
        return self._owner == os.getpid()

    def acquire(self) -> None:
        """Takes the lock without waiting.

        Raises EmbeddedPostgresError where another process holds it, OSError where the file cannot
        be opened.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A new owner may not have written its process id over its predecessor's yet.
            wait_until(lambda: _lives(_name(descriptor)), _NAMING_SECONDS)
            owner = _name(descriptor) or "unknown"
            os.close(descriptor)
            raise EmbeddedPostgresError(
                f"The ledger in {self._path.parent} is already running as pid {owner}; stop that "
                "process first, or set LEDGER_DATA_DIR to another folder."
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        _held.add(descriptor)
        self._descriptor, self._owner = descriptor, os.getpid()

    def release(self) -> None:
        """Releases the lock; does nothing where this process does not hold it."""
        if self.held:
            _held.discard(self._descriptor)
            os.close(self._descriptor)
            self._descriptor, self._owner = -1, 0


def _name(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode(errors="replace").strip()


def _lives(pid: str) -> bool:
    return pid.isdecimal() and Path(f"/proc/{pid}").is_dir()
