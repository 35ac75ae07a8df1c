"""Schemas of outcomes: what became of a mail, and a person's correction of it."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from api.contract.fields import Body, Id, MessageId, Metadata, Name, OwnId, Reason, Text


class CorrectionRequest(Body):
    """A person's word that a mail reported as sent never went out; needs the scope `operate`."""

    by: Name
    reason: Text

    @model_validator(mode="after")
    def _says_something(self) -> "CorrectionRequest":
        if not self.by.strip() or not self.reason.strip():
            raise ValueError("a correction names a person and a reason")
        return self


class OutcomeRequest(Body):
    """The outcome of the mail.

    A `correction` goes with `rejected` and corrects a false `sent`; it is refused where a delivery
    event says that the mail went out.
    """

    outcome: Literal["sent", "rejected", "unknown"]
    provider: Reason | None = None
    provider_message_id: Id | None = None
    message_id: MessageId | None = None
    detail: Text | None = None
    correction: CorrectionRequest | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _corrects_sent(self) -> "OutcomeRequest":
        if self.correction is not None and self.outcome != "rejected":
            raise ValueError("a correction goes with the outcome rejected")
        return self


class OutcomeItem(OutcomeRequest):
    """The outcome of one permit, in a batch."""

    permit_id: OwnId


class OutcomesRequest(Body):
    """Up to 1000 outcomes, taken in order, each by itself: see OutcomeItem."""

    outcomes: Annotated[list[Any], Field(max_length=1000)]
    metadata: Metadata | None = None
