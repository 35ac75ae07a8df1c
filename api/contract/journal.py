"""Schemas of the journal: pages of decisions, events, alerts, read models and keys."""

from typing import Any, Literal

from api.contract.fields import Body, Instant


class DecisionRow(Body):
    """One decision of the decision log; a null `code` is a yes.

    `repeats`: for how many identical denials beside the rows before it this one row stands.
    """

    decision_id: str
    decided_at: Instant
    operation: Literal["permit", "redeem"]
    sender: str
    kind: str | None
    customer_id: str | None
    invoice_id: str | None
    thread_id: str | None
    status: int
    code: str | None
    replayed: bool
    repeats: int
    policy: str
    position: str


class DecisionList(Body):
    """Decisions, newest first."""

    items: list[DecisionRow]
    next: str | None


class EventRow(Body):
    """One event as the log stores it."""

    position: str
    aggregate_id: str
    version: int
    topic: str
    state: dict[str, Any]
    recorded_at: Instant
    hash: str


class EventList(Body):
    """Events in log order."""

    items: list[EventRow]
    next: str | None


class AlertItem(Body):
    """An alert, and the delivery state of its page."""

    alert_id: int
    kind: str
    dedupe_key: str
    summary: str
    customer_id: str | None
    permit_id: str | None
    drill: bool
    raised_at: Instant
    delivered_at: Instant | None
    acked_at: Instant | None
    acked_by: str | None
    escalated_at: Instant | None
    attempts: int
    last_error: str | None


class AlertPage(Body):
    """Alerts, newest first."""

    items: list[AlertItem]
    next: str | None


class Acknowledged(Body):
    """An acknowledged alert."""

    alert_id: int
    acked: bool
    position: str


class ProjectionItem(Body):
    """A read model: `lag` in seconds, `behind` in events."""

    name: str
    position: int
    lag: float
    state: Literal["live", "rebuilding", "failed"]
    generation: int
    behind: int
    failed_position: int | None
    error: str | None


class ProjectionList(Body):
    """Every read model."""

    items: list[ProjectionItem]
    next: str | None


class RebuildStarted(Body):
    """A read model that is being rebuilt beside the live one."""

    name: str
    state: Literal["rebuilding"]
    position: str
