"""Feeds as they are answered: the sources of facts, and when each was last heard."""

from api.contract.fields import Body, Instant


class FeedResults(Body):
    """How many of a source's facts had which result."""

    applied: int
    duplicate: int
    stale: int
    ignored: int
    rejected: int


class Feed(Body):
    """A source of facts. `silent_since` is null while it is heard.

    `tells_of_money`: it has told of invoices, payments or credits, so its silence is watched.
    """

    source: str
    first_heard_at: Instant
    last_heard_at: Instant
    tells_of_money: bool
    silent_since: Instant | None
    facts: FeedResults


class FeedList(Body):
    """A page of sources, by name."""

    items: list[Feed]
    next: str | None
