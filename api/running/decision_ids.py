"""Random ids of decisions, assigned before the transaction (design D4)."""

import os
import threading

_AT_ONCE = 512


class DecisionIds:
    """Version-4 UUIDs as text, from random bytes that are drawn many at a time.

    A system call for each id costs more than the rest of making it.
    """

    def __init__(self) -> None:
        self._bytes = b""
        self._used = 0
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def next(self) -> str:
        """A fresh id."""
        with self._lock:
            if self._used == len(self._bytes):
                self._bytes, self._used = os.urandom(16 * _AT_ONCE), 0
            raw = self._bytes[self._used : self._used + 16]
            self._used += 16
        digits = raw.hex()
        variant = "89ab"[raw[8] & 3]
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
        )

    def _forget(self) -> None:
        """A forked child must not give the ids that its parent gives."""
        self._bytes, self._used = b"", 0
        self._lock = threading.Lock()


DECISION_IDS = DecisionIds()
