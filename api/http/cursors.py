"""Encodes and decodes list cursors: where the last page ended, opaque to the caller."""

import base64
import binascii
import uuid
from datetime import datetime

from api.contract.problems import ProblemError

_ZERO = "00000000-0000-0000-0000-000000000000"


def encode_text(text: str) -> str:
    """A cursor that contains a text."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_text(cursor: str | None) -> str | None:
    """The text of a cursor. Raises ProblemError for a cursor that the ledger did not make."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        text = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        raise _not_ours() from None
    if not text.isprintable():
        raise _not_ours()
    return text


def encode_cursor(id_: str, at: datetime) -> str:
    """A cursor that contains an id and a time."""
    return encode_text(f"{id_} {at.isoformat()}")


def decode_cursor(cursor: str | None) -> tuple[str, datetime | None]:
    """The id and time of a cursor; without a cursor, the smallest id."""
    text = decode_text(cursor)
    if text is None:
        return _ZERO, None
    id_, _, at = text.partition(" ")
    try:
        moment = datetime.fromisoformat(at)
        name = str(uuid.UUID(id_))
    except ValueError:
        raise _not_ours() from None
    if moment.utcoffset() is None:
        raise _not_ours()
    return name, moment


def decode_id(cursor: str | None) -> str:
    """The UUID of a cursor; without a cursor, the smallest one."""
    text = decode_text(cursor)
    try:
        return str(uuid.UUID(text)) if text is not None else _ZERO
    except ValueError:
        raise _not_ours() from None


def decode_number(cursor: str | None) -> int | None:
    """The number of a cursor; None without a cursor."""
    text = decode_text(cursor)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise _not_ours()
    return int(text)


def decode_key_id(cursor: str | None) -> str:
    """The API key id of a cursor; empty without a cursor."""
    text = decode_text(cursor)
    if text is not None and not text.startswith("key_"):
        raise _not_ours()
    return text or ""


def _not_ours() -> ProblemError:
    return ProblemError("invalid_request", "the cursor is not one of the ledger's")
