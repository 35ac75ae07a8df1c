"""Schemas of timelines (contract: People)."""

from typing import Any, Literal

from api.contract.fields import Body, Instant


class TimelineEntry(Body):
    """One entry, in log order, without addresses.

    `what` is the event, the operation of the decision, or the kind of the alert; `about` names the
    customer, invoice, thread or permit.
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
