"""What the first statements of a transaction answer: the head of the log, and the clock."""

from datetime import datetime
from typing import NamedTuple

from psycopg.pq.abc import PGresult

from ledger.store.witness.witness_file import START, Mark


class Begun(NamedTuple):
    """The end of the log, the time (UTC) read after the lock, and the version of the keys.

    `awaits_standby`: COMMIT answers only after a standby has the batch on its disk.
    """

    mark: Mark
    read_at: datetime
    keys_version: int
    is_test_clock: bool
    awaits_standby: bool


def read_begun(found: PGresult) -> Begun:
    """Parse the texts of `head.sql`: times in ISO style, the hash in hex."""
    position, hash_, recorded_at, read_at, keys_version, is_test_clock, awaits_standby = (
        value.decode() if (value := found.get_value(0, column)) is not None else None
        for column in range(7)
    )
    assert read_at is not None
    if position is None or hash_ is None or recorded_at is None:
        mark = START
    else:
        at = datetime.fromisoformat(recorded_at)
        mark = Mark(int(position), bytes.fromhex(hash_.removeprefix("\\x")), at)
    return Begun(
        mark,
        datetime.fromisoformat(read_at),
        int(keys_version or 0),
        is_test_clock == "t",
        awaits_standby == "t",
    )
