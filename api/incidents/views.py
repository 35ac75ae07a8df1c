"""Incidents and affected customers as JSON for responses (contract: People)."""

from typing import Any

from ledger.domain.incident import Apology, Incident
from projections.affected import AffectedCustomer, Details
from projections.incidents import IncidentRow


def incident_view(incident: Incident) -> dict[str, Any]:
    """An incident as JSON; its window is half-open, times are UTC."""
    return {
        "incident_id": incident.incident_id,
        "title": incident.title,
        "cause": incident.cause,
        "from": incident.window_from,
        "to": incident.window_to,
        "state": "open" if incident.closed_at is None else "closed",
        "declared_by": incident.declared_by,
        "declared_at": incident.created_on,
        "closed_by": incident.closed_by,
        "closed_at": incident.closed_at,
    }


def incident_row_view(row: IncidentRow) -> dict[str, Any]:
    """An incident of a list as JSON, with the same fields."""
    return {
        "incident_id": row.incident_id,
        "title": row.title,
        "cause": row.cause,
        "from": row.window_from,
        "to": row.window_to,
        "state": "open" if row.closed_at is None else "closed",
        "declared_by": row.declared_by,
        "declared_at": row.declared_at,
        "closed_by": row.closed_by,
        "closed_at": row.closed_at,
    }


def affected_view(
    affected: AffectedCustomer, details: Details, apology: Apology | None
) -> dict[str, Any]:
    """An affected customer as JSON, with their permits and decisions within the window."""
    return {
        "customer_id": affected.customer_id,
        "mails": affected.mails,
        "observed": affected.observed,
        "most_in_24h": affected.most,
        "first_at": affected.first_at,
        "last_at": affected.last_at,
        "over_at": affected.over_at,
        "permits": details.permits,
        "permit_count": details.permit_count,
        "decisions": details.decisions,
        "decision_count": details.decision_count,
        "apology": apology,
    }
