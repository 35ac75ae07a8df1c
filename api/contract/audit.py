"""Schemas of verifications of the log, and of erasures."""

from api.contract.fields import Body, Metadata, Name


class VerifyAnswer(Body):
    """How far the log was checked, and the first bad position if there is one.

    `next` is the `from` of the next call, null at the log's end and after a bad position.
    """

    ok: bool
    complete: bool
    checked: int
    head: str
    head_hash: str
    end: str
    first_bad_position: str | None
    problem: str | None
    next: str | None


class EraseRequest(Body):
    """Who requests the erasure (default: the key's name)."""

    by: Name | None = None
    metadata: Metadata | None = None


class EraseAnswer(Body):
    """The customers whose addresses were removed: the one named, and the ids merged into it."""

    customer_id: str
    customers: list[str]
    result: str
    position: str
