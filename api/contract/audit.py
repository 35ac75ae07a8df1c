"""What an audit answers: verifications of the log, and erasures."""

from api.contract.fields import Body, Metadata, Name


class VerifyAnswer(Body):
    """How far the log was checked, and where it is not what was written.

    `next` is the `from` of the following call, null at the log's end and where something is wrong.
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
    """Who has the addresses removed, if not the key."""

    by: Name | None = None
    metadata: Metadata | None = None


class EraseAnswer(Body):
    """The addresses of these customers are gone: the one named, and the ids merged into it."""

    customer_id: str
    customers: list[str]
    result: str
    position: str
