"""The commands incident: declare one, see whom it reached, apologise, report, close."""

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from api.cli.acting import (
    by_option,
    confirm,
    json_option,
    limit_option,
    tell_fields,
    tell_json,
    tell_rows,
    yes_option,
)
from api.cli.client import Ledger, named, the_ledger
from api.cli.session import clear_errors, counted, instant

_FORMS = {"markdown": "text/markdown", "html": "text/html", "json": "application/json"}
_AT_ONCE = 100
_MOST = 100_000
_INCIDENTS = {
    "incident": "incident_id",
    "state": "state",
    "from (UTC)": "from",
    "to (UTC)": "to",
    "title": "title",
    "declared by": "declared_by",
}
_AFFECTED = {
    "customer": "customer_id",
    "mails": "mails",
    "without permit": "observed",
    "most in 24 h": "most_in_24h",
    "over the limit (UTC)": "over_at",
    "apology": "apology",
}
_APOLOGIES = {"customer": "customer_id", "answer": "answer", "permit": "permit_id", "to": "to"}


@click.group("incident")
def incident_group() -> None:
    """Declare an incident, see whom it reached, apologise, report, close."""


@incident_group.command("list")
@limit_option(100)
@json_option
@clear_errors
def incident_list(limit: int, as_json: bool) -> None:
    """List incidents, newest first."""
    rows = list(the_ledger().items("/v1/incidents", limit))
    tell_rows(rows, _INCIDENTS, "there are no incidents", as_json)


@incident_group.command("declare", short_help="Declare an incident, with its window of time.")
@click.option("--title", required=True, help="What customers saw.")
@click.option("--cause", required=True, help="Why it happened, as far as it is known.")
@click.option("--from", "from_", metavar="TIME", required=True, callback=instant)
@click.option("--to", metavar="TIME", required=True, callback=instant)
@by_option
@json_option
@clear_errors
def incident_declare(
    title: str, cause: str, from_: datetime, to: datetime, by: str, as_json: bool
) -> None:
    """Declare an incident: its window decides which mails are looked at, so make it wide."""
    asked = {"title": title, "cause": cause, "by": by}
    asked |= {"from": from_.isoformat(), "to": to.isoformat()}
    _tell_incident(the_ledger().post("/v1/incidents", asked), as_json)


@incident_group.command("affected", short_help="List who got too many mails.")
@click.argument("incident_id")
@limit_option(1000)
@json_option
@clear_errors
def incident_affected(incident_id: str, limit: int, as_json: bool) -> None:
    """List who got more mails than the policy allows, those who got most first."""
    rows = list(the_ledger().items(f"{named('incidents', incident_id)}/affected", limit))
    if not as_json:
        for row in rows:
            row["apology"] = (row["apology"] or {}).get("state")
    tell_rows(rows, _AFFECTED, "nobody got too many mails", as_json)


@incident_group.command("apologise", short_help="Get permits for apologies, one a customer.")
@click.argument("incident_id")
@click.argument("customers", nargs=-1)
@click.option("--all", "everyone", is_flag=True, help="All affected customers without one.")
@yes_option
@json_option
@clear_errors
def incident_apologise(
    incident_id: str, customers: tuple[str, ...], everyone: bool, yes: bool, as_json: bool
) -> None:
    """Get permits for apologies, one a customer; the key needs the scope send.

    A permit is not a mail: your program sends it, with the statement that --json shows, and
    reports the outcome. Exit code 1: a permit was denied.
    """
    if bool(customers) == everyone:
        raise click.UsageError("name customers, or say --all")
    ledger = the_ledger()
    ids = list(customers) or _without_apology(ledger, incident_id)
    if not ids:
        raise click.ClickException("every affected customer has an apology")
    confirm(f"Apologise to {counted(len(ids), 'customer')}?", yes)
    rows = []
    for start in range(0, len(ids), _AT_ONCE):
        part = ids[start : start + _AT_ONCE]
        asked = [
            {"kind": "apology", "incident_id": incident_id, "customer_id": customer}
            for customer in part
        ]
        results = ledger.post("/v1/permits/batch", {"requests": asked})["results"]
        rows += [{"customer_id": c} | r for c, r in zip(part, results, strict=True)]
    tell_rows(rows if as_json else [_answered(row) for row in rows], _APOLOGIES, "", as_json)
    if any("problem" in row for row in rows):
        raise click.exceptions.Exit(1)


@incident_group.command("report", short_help="Print the report, or write it to a file.")
@click.argument("incident_id")
@click.option(
    "--format", "form", type=click.Choice(list(_FORMS)), default="markdown", show_default=True
)
@click.option("--to", "target", type=click.Path(dir_okay=False, path_type=Path), help="A file.")
@clear_errors
def incident_report(incident_id: str, form: str, target: Path | None) -> None:
    """Print the report, or write it to a file: it can be read without access to the ledger."""
    path = f"{named('incidents', incident_id)}/report"
    text = the_ledger().call("GET", path, accept=_FORMS[form]).decode()
    if target is None:
        click.echo(text)
        return
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the report is in {target}", err=True)


@incident_group.command("close", short_help="Close an incident: no further apologies.")
@click.argument("incident_id")
@by_option
@yes_option
@json_option
@clear_errors
def incident_close(incident_id: str, by: str, yes: bool, as_json: bool) -> None:
    """Close an incident: no further apologies are granted for it."""
    confirm(f"Close incident {incident_id}, as {by}?", yes)
    path = f"{named('incidents', incident_id)}/close"
    _tell_incident(the_ledger().post(path, {"by": by}), as_json)


def _without_apology(ledger: Ledger, incident_id: str) -> list[str]:
    rows = ledger.items(f"{named('incidents', incident_id)}/affected", _MOST)
    return [row["customer_id"] for row in rows if row["apology"] is None]


def _answered(row: dict[str, Any]) -> dict[str, Any]:
    """One answer of a batch as a row of the table."""
    permit, problem = row.get("permit") or {}, row.get("problem") or {}
    return {
        "customer_id": row["customer_id"],
        "answer": problem.get("detail") or permit.get("state"),
        "permit_id": permit.get("permit_id"),
        "to": permit.get("to"),
    }


def _tell_incident(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        tell_json(answer)
        return
    tell_fields({name: answer[name] for name in answer if name != "position"})
