"""An incident: what went wrong in which window, and the apologies that were made for it (D14)."""

from dataclasses import field
from datetime import datetime
from typing import ClassVar

from eventsourcing.domain import Aggregate

from ledger.domain.value import value


@value
class OpenInvoice:
    """A line of a statement: what is still owed on one invoice, in minor units."""

    invoice_id: str
    amount_remaining: int
    currency: str


@value
class Statement:
    """What a customer owes, computed from the log when their apology was granted.

    Minor units, by currency: `owed` is what is left once their `credit` is taken off.
    """

    owed: dict[str, int]
    open_invoices: tuple[OpenInvoice, ...]
    credit: dict[str, int] = field(default_factory=dict)


@value
class Apology:
    """The permit that holds a customer's apology, and its state."""

    permit_id: str
    state: str
    sender: str
    at: datetime


class Incident(Aggregate):
    """An incident that a human declared."""

    TOPIC: ClassVar[str] = "ledger:Incident"

    class Event(Aggregate.Event):
        """Something that happened in an incident."""

        class_version: ClassVar[int] = 1

    class Created(Event, Aggregate.Created):
        """A human declared the incident; the window is half-open, UTC."""

        TOPIC: ClassVar[str] = "ledger:Incident.Created"
        incident_id: str
        title: str
        cause: str
        window_from: datetime
        window_to: datetime
        declared_by: str

    class ApologyPermitted(Event):
        """The one apology to a customer was permitted, with what they owe at that moment."""

        TOPIC: ClassVar[str] = "ledger:Incident.ApologyPermitted"
        customer_id: str
        permit_id: str
        sender: str
        statement: Statement

        def apply(self, aggregate: "Incident") -> None:
            aggregate.apologies[self.customer_id] = Apology(
                self.permit_id, "granted", self.sender, self.timestamp
            )

    class ApologySettled(Event):
        """The apology's outcome; one that was provably not sent may be asked for again.

        One that was sent after its permit had been freed takes the place back.
        """

        TOPIC: ClassVar[str] = "ledger:Incident.ApologySettled"
        customer_id: str
        permit_id: str
        sender: str
        state: str
        rejections: int

        def apply(self, aggregate: "Incident") -> None:
            held = aggregate.apologies.get(self.customer_id)
            if self.rejections:
                aggregate.rejections[self.customer_id] = self.rejections
            mine = held is not None and held.permit_id == self.permit_id
            if self.state in ("rejected", "revoked", "expired"):
                if mine:
                    del aggregate.apologies[self.customer_id]
            elif mine or held is None or held.state != "sent":
                aggregate.apologies[self.customer_id] = Apology(
                    self.permit_id, self.state, self.sender, self.timestamp
                )

    class Closed(Event):
        """A human closed the incident: no further apologies."""

        TOPIC: ClassVar[str] = "ledger:Incident.Closed"
        by: str

        def apply(self, aggregate: "Incident") -> None:
            aggregate.closed_at = self.timestamp
            aggregate.closed_by = self.by

    def __init__(
        self,
        incident_id: str,
        title: str,
        cause: str,
        window_from: datetime,
        window_to: datetime,
        declared_by: str,
    ) -> None:
        self.incident_id = incident_id
        self.title = title
        self.cause = cause
        self.window_from = window_from
        self.window_to = window_to
        self.declared_by = declared_by
        self.apologies: dict[str, Apology] = {}
        self.rejections: dict[str, int] = {}
        self.closed_at: datetime | None = None
        self.closed_by: str | None = None
