"""Schemas of API keys: what one may do and what it is limited to (contract: keys)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from api.contract.fields import Body, Flag, Id, Instant, Kind, Metadata, Scope
from ledger.application.key_limits import ANY_END

_OF_SENDERS = frozenset({"send", "facts"})


def _not_everybody(value: str) -> str:
    if value == ANY_END:
        raise ValueError("name the beginning of the ids before the *; leave customers out for all")
    return value


CustomerLimit = Annotated[Id, AfterValidator(_not_everybody)]
"""A customer's id, or the beginning of ids with a `*` behind it."""
RidingChoice = Annotated[str, StringConstraints(pattern="^(all|own|none)$")]


class KeyRequest(Body):
    """The key to create.

    `redeem` says what an unredeemed permit tells: `required`, that the mail is not out, so that it
    expires at `send_by` and may be granted again; `optional`, nothing, so that it becomes unknown,
    a claimed one too. A key that mails without a redeem must be `optional`.

    `kinds`, `stages`, `intents` and `customers` are the only ones that it may ask for; null or left
    out is no limit. A key with `stages` and no `kinds` may ask for reminders alone, one with
    `intents` for mail in threads (`message`, `reply`, `follow_up`). With `addresses` false its
    answers have null where an address would be. `riding` is which of the facts in its requests it
    is believed: left out, all with the scope `facts`, else its own.
    """

    name: Id
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=5)]
    redeem: Literal["required", "optional"] = "required"
    intents: Annotated[list[Id], Field(max_length=1000)] | None = None
    class_: Annotated[Literal["outreach", "transactional"], Field(alias="class")] = "outreach"
    kinds: Annotated[list[Kind], Field(min_length=1, max_length=8)] | None = None
    stages: Annotated[list[Id], Field(min_length=1, max_length=100)] | None = None
    customers: Annotated[list[CustomerLimit], Field(min_length=1, max_length=1000)] | None = None
    addresses: Flag = True
    riding: RidingChoice | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _limits_fit_the_scopes(self) -> "KeyRequest":
        scopes = set(self.scopes)
        limits = (self.kinds, self.stages, self.customers)
        if (any(limit is not None for limit in limits) or not self.addresses) and (
            scopes - _OF_SENDERS
        ):
            raise ValueError(
                "a key with kinds, stages, customers or without addresses has no scope but send"
                " and facts: the others read and change everything"
            )
        if self.customers is not None and "facts" in scopes:
            raise ValueError("a key for some customers only has not the scope facts: of anybody")
        if self.riding == "all" and "facts" not in scopes:
            raise ValueError("riding: all needs the scope facts")
        return self


class KeyRules(Body):
    """What a key may do."""

    name: str
    scopes: list[Scope]
    redeem: Literal["required", "optional"]
    intents: list[str] | None
    class_: Annotated[Literal["outreach", "transactional"], Field(alias="class")]
    kinds: list[str] | None
    stages: list[str] | None
    customers: list[str] | None
    addresses: bool
    riding: Literal["all", "own", "none"]


class NewKey(KeyRules):
    """A new key; `key`, its secret, is shown only once."""

    key_id: str
    key: str | None
    position: str


class KeyItem(KeyRules):
    """A key as a list shows it: everything but its secret."""

    key_id: str
    created_at: Instant
    revoked_at: Instant | None


class KeyList(Body):
    """Keys ordered by id, revoked ones included."""

    items: list[KeyItem]
    next: str | None
