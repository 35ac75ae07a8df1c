"""Schemas of requests and responses for people: customers, breakers, pauses, keys, the clock."""

from typing import Annotated, Literal, get_args

from pydantic import Field, StrictInt, StringConstraints, model_validator

from api.contract.fields import (
    Body,
    CustomerId,
    Day,
    Email,
    Flag,
    Id,
    Instant,
    Kind,
    Metadata,
    Name,
    Text,
)
from api.contract.holds import HoldState


class BreakerReset(Body):
    """Why the breaker may be closed, and who decided it."""

    reason: Text
    by: Name | None = None
    metadata: Metadata | None = None


class ReleaseRequest(BreakerReset):
    """Why the addresses may be mailed again, and who decided it.

    `address` names a single address, such as that of a copy; without it all addresses of the
    customer are released.
    """

    address: Email | None = None


class BreakersReset(BreakerReset):
    """Close several breakers: those of the named customers, or all open ones.

    `all` closes also those that opened for another reason: `opened_since` leaves out the ones that
    were open before. With `dry_run` nothing is closed, and the answer lists in `would_reset` whose
    breakers would be asked to close.
    """

    customer_ids: Annotated[list[CustomerId], Field(min_length=1, max_length=1000)] | None = None
    all: Literal[True] | None = None
    opened_since: Instant | None = None
    dry_run: Flag = False

    @model_validator(mode="after")
    def _one_way(self) -> "BreakersReset":
        if (self.customer_ids is None) == (self.all is None):
            raise ValueError("name customer_ids, or say all: true")
        if self.opened_since is not None and self.all is None:
            raise ValueError("opened_since goes with all: true")
        return self


class BreakerState(Body):
    """A customer's breaker: which mails it denies while open, since when and why."""

    state: Literal["closed", "open"]
    scope: Literal["outreach", "all"] | None
    opened_at: Instant | None
    cause: str | None


class WindowState(Body):
    """A rolling window: how many mails count, and when the oldest stops counting."""

    used: int
    limit: int
    frees_at: Instant | None


class WindowLeft(WindowState):
    """A rolling window, and how many mails it still has room for."""

    left: int


class CustomerWindows(Body):
    """What a customer may still be sent; `breaker` is the scope of an open one, else null."""

    customer_id: str
    breaker: Literal["outreach", "all"] | None
    windows: dict[str, WindowLeft]
    position: str


class OwedState(Body):
    """The amount owed in one currency, in minor units."""

    currency: str
    amount: int


class OpenInvoice(Body):
    """An invoice that is not paid in full."""

    invoice_id: str
    amount_remaining: int
    currency: str
    due_on: Day | None
    cycle: int


class AddressHoldState(HoldState):
    """A hold of one of the customer's addresses that binds now, for all kinds of mail or some.

    `address` is null where it was erased. `since` is when the hold was reported, `told_by` the
    source that told it, which alone lifts it; null where any may.
    """

    address: str | None
    kinds: list[str]
    since: Instant | None
    told_by: str | None


class CustomerState(Body):
    """The state of a customer in the ledger; `owed` is less their `credit`."""

    customer_id: str
    addresses: list[str]
    breaker: BreakerState
    windows: dict[str, WindowState]
    owed: list[OwedState]
    credit: list[OwedState]
    open_invoices: list[OpenInvoice]
    on_hold: HoldState | None
    addresses_on_hold: int
    address_holds: list[AddressHoldState]
    merged: list[str]
    version: int
    position: str


PauseScope = Annotated[
    str,
    StringConstraints(
        max_length=300,
        pattern=rf"^(all|outreach|kind:({'|'.join(get_args(Kind))})"
        r"|sender:[^\x00-\x1f\x7f-\x9f]{1,255})$",
    ),
]


class PauseRequest(Body):
    """Which scope to pause, and why."""

    scope: PauseScope
    reason: Text
    by: Name | None = None
    metadata: Metadata | None = None


class ResumeRequest(Body):
    """Which scope to resume, why, who decided it, and the guard check that allows it.

    Unless a check passed since the pause, the answer is 409 `guard_not_proven`, whether or not the
    request names one.
    """

    scope: PauseScope | Literal["recovery"]
    reason: Text
    guard_check_id: Id | None = None
    by: Name | None = None
    metadata: Metadata | None = None


class ClockAccept(Body):
    """Who says that the database's clock is right, and why."""

    reason: Text
    by: Name
    metadata: Metadata | None = None


class TestClockRequest(Body):
    """The new time of the test clock."""

    __test__ = False
    now: Instant
    metadata: Metadata | None = None


class RebuildRequest(Body):
    """Only metadata such as trace ids: the path names the read model."""

    metadata: Metadata | None = None


class AddressSearch(Body):
    """The address to look for; in a body, because URLs are written to logs."""

    address: Email
    metadata: Metadata | None = None


class FindRequest(Body):
    """An address, a Message-ID, a provider's message id, or any id."""

    text: Annotated[
        str, StringConstraints(min_length=1, max_length=2000, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
    ]
    metadata: Metadata | None = None


class AckManyRequest(Body):
    """Which alerts somebody has seen: those named, or all up to one that was on the list.

    `up_to` is an `alert_id`: what was raised after it, nobody has seen. `kind` takes only alerts of
    that kind.
    """

    alert_ids: (
        Annotated[list[Annotated[StrictInt, Field(ge=1, lt=2**63)]], Field(max_length=1000)] | None
    ) = None
    up_to: Annotated[StrictInt, Field(ge=1, lt=2**63)] | None = None
    kind: Id | None = None
    by: Name | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "AckManyRequest":
        if (self.alert_ids is None) == (self.up_to is None):
            raise ValueError("name alert_ids, or the last one that was seen as up_to")
        return self


class AckRequest(Body):
    """Who acknowledges the alert."""

    by: Name | None = None
    metadata: Metadata | None = None
