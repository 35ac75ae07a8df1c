"""Schemas of webhook responses, of rejected bodies and of objects to fetch."""

from typing import Literal

from api.contract.fields import Body, Instant


class FactOutcome(Body):
    """The result of one fact of a body."""

    id: str
    type: str
    result: Literal["applied", "duplicate", "stale", "ignored", "rejected"]


class WebhookAnswer(Body):
    """The body was accepted. `ignored` is one word: why it has no facts; `refresh` counts objects
    to fetch, `rejected` the reasons for which the body was stored as rejected."""

    received: Literal[True]
    ignored: str | None
    results: list[FactOutcome]
    refresh: int
    rejected: int


class RejectedReason(Body):
    """Why a body or a part of it was rejected."""

    kind: str
    detail: str


class RejectedItem(Body):
    """A rejected body. `fetched` is the kind of object if it is a response of the provider's API.

    `resolution` is null while it is open; a resolved body's bytes are deleted. `size` is the size
    of the stored bytes; `copies` is how often the body arrived.
    """

    rejected_id: int
    provider: str
    reasons: list[RejectedReason]
    size: int
    copies: int
    fetched: str | None
    received_at: Instant
    last_received_at: Instant
    replayed_at: Instant | None
    resolved_at: Instant | None
    resolution: Literal["replayed", "dismissed"] | None


class RejectedContent(RejectedItem):
    """A rejected body with its headers; `body` is text, or base64 if it is not UTF-8."""

    headers: dict[str, str]
    body: str
    encoding: Literal["utf-8", "base64"]


class RejectedList(Body):
    """A page of rejected bodies, oldest first."""

    items: list[RejectedItem]
    next: str | None


class ReplayAnswer(Body):
    """The result of a replay: `used` completely, or the reasons that are left."""

    rejected_id: int
    used: bool
    results: list[FactOutcome]
    refresh: int
    reasons: list[RejectedReason]


class RefreshItem(Body):
    """An object that changed at a provider and must be fetched from its API."""

    refresh_id: int
    provider: str
    object_kind: str
    object_id: str
    hints: int
    first_hinted_at: Instant
    last_hinted_at: Instant
    attempts: int
    last_error: str | None
    fetched_by: Literal["ledger", "you"]


class RefreshList(Body):
    """A page of objects to fetch, oldest first."""

    items: list[RefreshItem]
    next: str | None
