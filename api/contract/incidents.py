"""Schemas of incidents (contract: People)."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from api.contract.fields import Body, Instant, Metadata, Name, Text


class IncidentRequest(Body):
    """An incident and its time window: half-open, [from, to)."""

    title: Text
    from_: Annotated[Instant, Field(alias="from")]
    to: Instant
    cause: Text
    by: Name | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _in_order(self) -> "IncidentRequest":
        if self.to <= self.from_:
            raise ValueError("`to` comes after `from`")
        return self


class CloseRequest(Body):
    """Who closes the incident; a closed incident allows no further apologies."""

    by: Name | None = None
    metadata: Metadata | None = None


class Incident(Body):
    """An incident that a person declared."""

    incident_id: str
    title: str
    cause: str
    from_: Annotated[Instant, Field(alias="from")]
    to: Instant
    state: Literal["open", "closed"]
    declared_by: str
    declared_at: Instant
    closed_by: str | None
    closed_at: Instant | None


class IncidentDetail(Incident):
    """An incident and the number of its apologies in each state."""

    apologies: dict[str, int]
    position: str


class IncidentList(Body):
    """Incidents, newest first."""

    items: list[Incident]
    next: str | None


class PermitMade(Body):
    """A permit for a mail to an affected customer."""

    permit_id: str
    kind: str
    state: str
    sender: str
    granted_at: Instant


class DecisionMade(Body):
    """A decision of the ledger about an affected customer."""

    decision_id: str
    decided_at: Instant
    operation: str
    sender: str
    status: int
    code: str | None


class ApologyMade(Body):
    """The apology to a customer: its permit and the permit's state."""

    permit_id: str
    state: str
    sender: str
    at: Instant


class AffectedCustomer(Body):
    """A customer who got more mails within the window than the policy allows.

    `observed` of the `mails` were sent without the ledger; `most_in_24h` is the highest number in
    24 hours; `over_at` is the time of the first mail above the limit. `permits` and `decisions`
    have the first 100 of the window; the counts are the totals.
    """

    customer_id: str
    mails: int
    observed: int
    most_in_24h: int
    first_at: Instant
    last_at: Instant
    over_at: Instant
    permits: list[PermitMade]
    permit_count: int
    decisions: list[DecisionMade]
    decision_count: int
    apology: ApologyMade | None


class AffectedList(Body):
    """Affected customers, those with most mails first."""

    items: list[AffectedCustomer]
    next: str | None


class ReportBody(Body):
    """The report of an incident as JSON, with the content of the Markdown and HTML formats."""

    incident: Incident
    generated_at: Instant
    position: str
    policy: dict[str, int]
    summary: dict[str, Any]
    timeline: list[dict[str, Any]]
    senders: list[dict[str, Any]]
    customers: list[dict[str, Any]]
    customers_not_listed: int
    apologies: dict[str, int]
    mails_by_time: dict[str, Any]
