"""The commands breakers: which are open, and closing them with a name and a reason."""

from typing import Any

import click

from api.cli.acting import (
    by_option,
    confirm,
    json_option,
    limit_option,
    reason_option,
    tell_json,
    tell_rows,
    yes_option,
)
from api.cli.client import the_ledger
from api.cli.session import clear_errors, counted

_COLUMNS = {
    "customer": "customer_id",
    "denied": "scope",
    "since (UTC)": "opened_at",
    "why": "cause",
}
_MOST = 100_000
_AT_ONCE = 1000


@click.group("breakers")
def breakers_group() -> None:
    """List and reset open breakers."""


@breakers_group.command("list")
@limit_option(100)
@json_option
@clear_errors
def breakers_list(limit: int, as_json: bool) -> None:
    """List the open breakers, by customer."""
    rows = list(the_ledger().items("/v1/breakers", limit))
    tell_rows(rows, _COLUMNS, "no breaker is open", as_json)


@breakers_group.command("reset", short_help="Close breakers: those named, or all that are shown.")
@click.argument("customers", nargs=-1)
@click.option("--all", "everyone", is_flag=True, help="All that are open now; they are shown.")
@reason_option
@by_option
@yes_option
@json_option
@clear_errors
def breakers_reset(
    customers: tuple[str, ...], everyone: bool, reason: str, by: str, yes: bool, as_json: bool
) -> None:
    """Close breakers: those of the named customers, or all that are open and shown.

    A breaker that opens meanwhile stays open. Exit code 1: a customer is not known.
    """
    if bool(customers) == everyone:
        raise click.UsageError("name customers, or say --all")
    ledger = the_ledger()
    ids = list(customers)
    if everyone:
        rows = list(ledger.items("/v1/breakers", _MOST))
        if not as_json:
            tell_rows(rows, _COLUMNS, "no breaker is open", False)
        ids = [row["customer_id"] for row in rows]
        if ids:
            confirm(f"Close {counted(len(ids), 'breaker')}, as {by}?", yes)
    done: dict[str, Any] = {"reset": [], "unknown": []}
    for start in range(0, len(ids), _AT_ONCE):
        asked = {"customer_ids": ids[start : start + _AT_ONCE], "reason": reason, "by": by}
        answer = ledger.post("/v1/breakers/reset", asked)
        done = {name: done[name] + answer[name] for name in done}
    if as_json:
        tell_json(done)
    else:
        click.echo(f"{counted(len(done['reset']), 'breaker')} closed")
    for customer in done["unknown"]:
        click.echo(f"{customer}: no such customer is known", err=True)
    if done["unknown"]:
        raise click.exceptions.Exit(1)
