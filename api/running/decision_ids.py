"""Generates random decision ids, before the transaction (design D4)."""

import os
import threading

_AT_ONCE = 512


class DecisionIds:
    """Version-4 UUIDs as text, from a buffer of random bytes.

    A system call for each id would cost more than the rest of its generation.
    """

    def __init__(self) -> None:
        self._bytes = b""
        self._used = 0
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def next(self) -> str:
        """A new id."""
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
        """Empty the buffer after a fork: the child must not generate its parent's ids."""
        self._bytes, self._used = b"", 0
        self._lock = threading.Lock()


DECISION_IDS = DecisionIds()
