"""The schema of `send.observed`: a mail that was sent without a permit that the ledger knows."""

from pydantic import model_validator

from api.contract.fields import (
    Body,
    CustomerId,
    Day,
    Id,
    Instant,
    Kind,
    MessageId,
    Metadata,
    SendToken,
    Whole,
)
from ledger.application.kinds.kind import PermitSubject
from ledger.application.kinds.registry import KINDS


class SendObservedData(Body):
    """`send.observed`: a mail that was sent without a permit that the ledger knows.

    For an invoice without a stage, the highest stage reached at the time of the mail is used up.
    A mail with `in_reply_to` answers that message and counts as a reply. With a `kind` and the
    fields that a permit of it is asked for with, no such permit is granted any more; so with what
    the mail carries of a lost permit: `message_id`, `send_token`, `provider_idempotency_key`.
    """

    customer_id: CustomerId
    at: Instant
    kind: Kind | None = None
    invoice_id: Id | None = None
    stage: Id | None = None
    event_type: Id | None = None
    event_id: Id | None = None
    attempt_id: Id | None = None
    inbox_id: Id | None = None
    date: Day | None = None
    thread_id: Id | None = None
    intent: Id | None = None
    step: Whole | None = None
    in_reply_to: MessageId | None = None
    incident_id: Id | None = None
    message_id: MessageId | None = None
    send_token: SendToken | None = None
    provider_idempotency_key: Id | None = None
    metadata: Metadata | None = None

    def mail(self) -> PermitSubject | None:
        """What a permit for the mail would be asked for, None where no kind is told.

        Raises ValueError where a field of its kind is missing.
        """
        kind = self.kind
        return KINDS[kind].from_sent(dict(self)) if kind is not None else None

    @model_validator(mode="after")
    def _pairs(self) -> "SendObservedData":
        if self.kind is not None:
            self.mail()
            return self
        of_a_kind = ("event_type", "event_id", "attempt_id", "inbox_id", "date", "step")
        if any(getattr(self, name) is not None for name in (*of_a_kind, "incident_id")):
            raise ValueError("name the kind of the mail")
        if self.invoice_id is None and self.stage is not None:
            raise ValueError("a stage needs its invoice_id")
        if self.thread_id is None and self.intent is not None:
            raise ValueError("an intent needs its thread_id")
        if self.thread_id is not None and self.intent is None and self.in_reply_to is None:
            raise ValueError("a thread_id goes with an intent or in_reply_to")
        return self
