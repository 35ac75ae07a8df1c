"""Timelines as they are answered (contract: People)."""

from typing import Any, Literal

from api.contract.fields import Body, Instant


class TimelineEntry(Body):
    """One thing that happened, in the order of the log; no address is in it.

    `what` is the event, the operation that was decided, or the kind of alert; `about` names the
    customer, invoice, thread or permit that it is about.
    """

    kind: Literal["fact", "permit", "outcome", "guard", "action", "decision", "alert"]
    what: str
    at: Instant
    position: str
    about: dict[str, str]
    data: dict[str, Any]


class Timeline(Body):
    """A page of a timeline, oldest first."""

    items: list[TimelineEntry]
    next: str | None
