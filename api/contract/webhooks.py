"""What webhooks answer, and how kept bodies and work to be fetched are listed."""

from typing import Literal

from api.contract.fields import Body, Instant


class FactOutcome(Body):
    """What became of one fact of a body."""

    id: str
    type: str
    result: Literal["applied", "duplicate", "stale", "ignored", "rejected"]


class WebhookAnswer(Body):
    """The body was taken. `ignored` says in a word why it meant nothing; `refresh` counts objects
    that are to be fetched, `rejected` the reasons for which the body was kept."""

    received: Literal[True]
    ignored: str | None
    results: list[FactOutcome]
    refresh: int
    rejected: int


class RejectedReason(Body):
    """Why a body, or a part of it, could not be used."""

    kind: str
    detail: str


class RejectedItem(Body):
    """A kept body. `fetched` names the kind of object where it is an answer of the provider's API.

    `resolution` is null while it is open; the bytes of one that is resolved are gone. `size` is
    what is kept, in bytes; `copies` how often it came.
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
    """A kept body with its headers; `body` is text, or base64 where it is not UTF-8."""

    headers: dict[str, str]
    body: str
    encoding: Literal["utf-8", "base64"]


class RejectedList(Body):
    """A page of kept bodies, oldest first."""

    items: list[RejectedItem]
    next: str | None


class ReplayAnswer(Body):
    """What a replay led to: `used` in full, or the reasons that are left."""

    rejected_id: int
    used: bool
    results: list[FactOutcome]
    refresh: int
    reasons: list[RejectedReason]


class RefreshItem(Body):
    """An object that changed at a provider and that only its API can tell."""

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
    """A page of work to be fetched, oldest first."""

    items: list[RefreshItem]
    next: str | None
