"""In which lane a mail goes: which windows it counts in, which breaker and pause bind it (D8)."""

from ledger.domain.permit import Lane

_TRANSACTIONAL_KINDS = frozenset({"notification", "digest", "message", "payment_failed"})


def lane_of(kind: str, transactional: bool) -> Lane:
    """The lane of a kind; a transactional key has its own for receipts, never for dunning (D8)."""
    if kind == "reply":
        return Lane.REPLY
    if kind == "apology":
        return Lane.APOLOGY
    if transactional and kind in _TRANSACTIONAL_KINDS:
        return Lane.TRANSACTIONAL
    return Lane.OUTREACH
