"""The hash chain of the log: sha256 over the previous hash and the event's columns."""

from datetime import datetime
from hashlib import sha256
from uuid import UUID

GENESIS = bytes(32)
"""The previous hash of the first event."""
PARTITION = 0
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def microseconds(at: datetime) -> int:
    """Whole microseconds since 1970 (UTC): the form in which a stored time is hashed."""
    delta = at - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def event_hash(
    before: bytes,
    position: int,
    originator_id: UUID,
    originator_version: int,
    topic: str,
    state: bytes,
    recorded_at: datetime,
) -> bytes:
    """The hash of one stored event."""
    return row_hash(
        before,
        position,
        originator_id.bytes,
        originator_version,
        microseconds(recorded_at),
        topic.encode(),
        state,
    )


def row_hash(
    before: bytes,
    position: int,
    originator_id: bytes,
    originator_version: int,
    recorded_at: int,
    topic: bytes,
    state: bytes,
) -> bytes:
    """The hash of one stored event from the bytes of its columns; `recorded_at` in microseconds.

    Each field has its length as a prefix, so that two different rows never give the same bytes.
    """
    head = b"%d;%d;%b;%d;%d;" % (
        PARTITION,
        position,
        originator_id,
        originator_version,
        recorded_at,
    )
    return sha256(
        b"%b%d:%b%d:%b%d:%b" % (before, len(head), head, len(topic), topic, len(state), state)
    ).digest()
