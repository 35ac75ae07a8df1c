"""The timeline of an incident: first bad send, breaker, page, pause, apologies, resume (D14)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ledger.domain.incident import Incident
from ledger.store.looking_back.incident_acts import Closed, Switched
from projections.affected import AlertsOfKind, Summary

_KINDS = {
    "breaker_opened": "A breaker opened",
    "loop_guard": "A reply loop was caught",
    "permit_unknown": "A mail's outcome was unknown for long",
    "sent_after_expiry": "A mail was sent although its permit had ended",
    "redeem_skipped": "A sender mailed without a redeem",
    "address_on_hold": "An address was put on hold",
    "shared_address": "Two customers turned out to have one address",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A timeline entry at a time (UTC): `what` for programs, `text` for people."""

    at: datetime
    what: str
    text: str


def timeline_of(
    incident: Incident,
    summary: Summary,
    alerts: Sequence[AlertsOfKind],
    switches: Sequence[Switched],
    closed: Sequence[Closed] = (),
) -> list[Entry]:
    """The timeline, in order of time; only people's actions can make it long."""
    entries = [
        *_mails(summary),
        *_alerts(alerts),
        *_switches(incident, switches),
        *_breakers(closed),
        *_incident(incident),
    ]
    return sorted(entries, key=lambda entry: entry.at)


def _mails(summary: Summary) -> Iterator[Entry]:
    if summary.over_at is None or summary.last_at is None:
        return
    yield Entry(
        summary.over_at,
        "first_bad_send",
        f"The first mail too many went out, to customer {summary.first_customer}",
    )
    yield Entry(
        summary.last_at, "last_mail", "The last mail of the window to an affected customer went out"
    )


def _alerts(alerts: Sequence[AlertsOfKind]) -> Iterator[Entry]:
    for kind in alerts:
        title = _KINDS.get(kind.kind, f"An alert was raised ({kind.kind})")
        about = f" (customer {kind.first_customer})" if kind.first_customer else ""
        more = f"; {kind.count:,} times in all" if kind.count > 1 else ""
        yield Entry(kind.first_at, kind.kind, f"{title}{about}{more}")
    pages = [k.first_delivered_at for k in alerts if k.first_delivered_at is not None]
    if pages:
        yield Entry(min(pages), "page", "The first page about it was delivered")
    seen = [(k.first_acked_at, k.acked_by) for k in alerts if k.first_acked_at is not None]
    if seen:
        at, by = min(seen, key=lambda pair: pair[0])
        yield Entry(at, "acknowledged", f"{by or 'A human'} acknowledged the page")


def _switches(incident: Incident, switches: Sequence[Switched]) -> Iterator[Entry]:
    """The pauses before the incident was closed, their resumes, and the guard checks.

    Pauses after the close are left out: they belong to another incident.
    """
    paused: set[str] = set()
    for switch in switches:
        closed = incident.closed_at is not None and switch.at > incident.closed_at
        fields = switch.fields
        if switch.name == "Paused" and not closed:
            paused.add(fields["scope"])
            text = f"{fields['by']} paused {fields['scope']}: {fields['reason']}"
            yield Entry(switch.at, "paused", text)
        elif switch.name == "Resumed" and fields["scope"] in paused:
            paused.remove(fields["scope"])
            text = f"{fields['by']} resumed {fields['scope']}: {fields['reason']}"
            yield Entry(switch.at, "resumed", text)
        elif switch.name == "GuardChecked" and (paused or not closed):
            failed = ", ".join(fields["failed"])
            outcome = "passed" if fields["passed"] else f"failed: {failed}"
            yield Entry(switch.at, "guard_check", f"A guard check {outcome}")
        elif switch.name == "RecoveryEntered" and not closed:
            text = f"The ledger entered recovery mode: {fields['cause']}"
            yield Entry(switch.at, "recovery_entered", text)
        elif switch.name == "RecoveryEnded" and not closed:
            text = f"{fields['by']} ended recovery mode: {fields['reason']}"
            yield Entry(switch.at, "recovery_ended", text)


def _breakers(closed: Sequence[Closed]) -> Iterator[Entry]:
    for act in closed:
        whose = (
            "a breaker" if act.customers == 1 else f"the breakers of {act.customers:,} customers"
        )
        yield Entry(act.at, "breakers_reset", f"{act.by} closed {whose}: {act.reason}")


def _incident(incident: Incident) -> Iterator[Entry]:
    by = incident.declared_by
    yield Entry(incident.created_on, "declared", f"{by} declared the incident")
    made = sorted(apology.at for apology in incident.apologies.values())
    if made:
        yield Entry(made[0], "first_apology", "The first apology was made")
    if len(made) > 1:
        text = f"The last of {len(made)} apologies was made"
        yield Entry(made[-1], "last_apology", text)
    if incident.closed_at is not None:
        yield Entry(incident.closed_at, "closed", f"{incident.closed_by} closed the incident")
