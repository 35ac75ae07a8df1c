"""What people ask and see: customers, breakers, pauses, keys, incidents."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from api.contract.facts import HoldState
from api.contract.fields import (
    Body,
    CustomerId,
    Day,
    Email,
    Id,
    Instant,
    Metadata,
    Name,
    Scope,
    Text,
)


class BreakerReset(Body):
    """Why the breaker may close, and who says so."""

    reason: Text
    by: Name | None = None
    metadata: Metadata | None = None


class ReleaseRequest(BreakerReset):
    """Why an address may be mailed again, and who says so.

    `address` names one that mail of theirs went to, such as a copy's; without it: all of theirs.
    """

    address: Email | None = None


class BreakersReset(BreakerReset):
    """Close many breakers: those of the customers named, or all that are open."""

    customer_ids: Annotated[list[CustomerId], Field(min_length=1, max_length=1000)] | None = None
    all: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "BreakersReset":
        if (self.customer_ids is None) == (self.all is None):
            raise ValueError("name customer_ids, or say all: true")
        return self


class BreakerState(Body):
    """A customer's breaker: which mail it stops while it is open, since when and why."""

    state: Literal["closed", "open"]
    scope: Literal["outreach", "all"] | None
    opened_at: Instant | None
    cause: str | None


class WindowState(Body):
    """A rolling window: how many mails count, and when the oldest stops counting."""

    used: int
    limit: int
    frees_at: Instant | None


class OwedState(Body):
    """What is owed in one currency, in minor units."""

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

    `address` is null where it was erased. `since` is when the hold was reported.
    """

    address: str | None
    kinds: list[str]
    since: Instant | None


class CustomerState(Body):
    """A customer as the ledger knows them."""

    customer_id: str
    addresses: list[str]
    breaker: BreakerState
    windows: dict[str, WindowState]
    owed: list[OwedState]
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
        pattern=r"^(all|outreach|kind:(reminder|payment_failed|reply|notification|digest|follow_up"
        r"|message|apology)|sender:[^\x00-\x1f\x7f-\x9f]{1,255})$",
    ),
]


class PauseRequest(Body):
    """What to stop, and why."""

    scope: PauseScope
    reason: Text
    by: Name | None = None
    metadata: Metadata | None = None


class ResumeRequest(Body):
    """What may go on, why, who says so, and the guard check that proves it.

    Without a check that passed since the pause the answer is 409 `guard_not_proven`, named or not.
    """

    scope: PauseScope | Literal["recovery"]
    reason: Text
    guard_check_id: Id | None = None
    by: Name | None = None
    metadata: Metadata | None = None


class TestClockRequest(Body):
    """The time that the test clock shows from now on."""

    __test__ = False
    now: Instant
    metadata: Metadata | None = None


class KeyRequest(Body):
    """A key to make."""

    name: Id
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=5)]
    redeem: Literal["required", "optional"] = "required"
    intents: Annotated[list[Id], Field(max_length=1000)] | None = None
    class_: Annotated[Literal["outreach", "transactional"], Field(alias="class")] = "outreach"
    metadata: Metadata | None = None


class NewKey(Body):
    """A key that was made; `key` is shown this once."""

    key_id: str
    key: str | None
    name: str
    scopes: list[Scope]
    redeem: Literal["required", "optional"]
    intents: list[str] | None
    class_: Annotated[Literal["outreach", "transactional"], Field(alias="class")]
    position: str


class RebuildRequest(Body):
    """Nothing but trace ids: the path names the read model."""

    metadata: Metadata | None = None


class AckRequest(Body):
    """Who has seen the page."""

    by: Name | None = None
    metadata: Metadata | None = None
