"""The commands alerts: what people were paged for, and that somebody has seen it."""

import click

from api.cli.acting import (
    by_option,
    confirm,
    json_option,
    limit_option,
    tell_json,
    tell_rows,
    yes_option,
)
from api.cli.client import Ledger, the_ledger
from api.cli.session import clear_errors, counted

_COLUMNS = {
    "id": "alert_id",
    "kind": "kind",
    "raised (UTC)": "raised_at",
    "delivered": "delivered_at",
    "seen by": "acked_by",
    "what": "summary",
}
_MOST = 100_000
_SHOWN = 20


@click.group("alerts")
def alerts_group() -> None:
    """List and acknowledge alerts."""


@alerts_group.command("list", short_help="List alerts that nobody has seen, newest first.")
@click.option("--kind", help="Only alerts of this kind.")
@click.option("--all", "everything", is_flag=True, help="Also those that somebody has seen.")
@limit_option(50)
@json_option
@clear_errors
def alerts_list(kind: str | None, everything: bool, limit: int, as_json: bool) -> None:
    """List alerts that nobody has seen, newest first."""
    unacked = "false" if everything else "true"
    rows = list(the_ledger().items("/v1/alerts", limit, kind=kind, unacked=unacked))
    tell_rows(rows, _COLUMNS, "there are no alerts that nobody has seen", as_json)


@alerts_group.command("ack", short_help="Say that somebody has seen alerts.")
@click.argument("ids", nargs=-1, type=click.IntRange(1, 2**63 - 1))
@click.option("--all", "everything", is_flag=True, help="All that nobody has seen; shown first.")
@click.option("--kind", help="With --all: only alerts of this kind.")
@by_option
@yes_option
@json_option
@clear_errors
def alerts_ack(
    ids: tuple[int, ...], everything: bool, kind: str | None, by: str, yes: bool, as_json: bool
) -> None:
    """Say that somebody has seen alerts: those named, or all that are shown.

    An alert that is raised meanwhile stays for somebody to see.
    """
    if bool(ids) == everything or (kind is not None and not everything):
        raise click.UsageError("name alerts by their ids, or say --all (with --kind, if you like)")
    ledger = the_ledger()
    asked: dict[str, object] | None = {"alert_ids": list(ids), "by": by}
    if everything:
        asked = _all_unseen(ledger, kind, by, yes, as_json)
    answer = ledger.post("/v1/alerts/ack", asked) if asked is not None else {"acked": 0}
    if as_json:
        tell_json(answer)
    else:
        click.echo(f"{counted(answer['acked'], 'alert')} acknowledged by {by}")
        left = len(set(ids)) - answer["acked"]
        if left > 0:
            click.echo(f"{left} of those named: no such alert, or seen before", err=True)


def _all_unseen(
    ledger: Ledger, kind: str | None, by: str, yes: bool, as_json: bool
) -> dict[str, object] | None:
    """The request that acknowledges all that nobody has seen, once they are shown; None: none."""
    rows = list(ledger.items("/v1/alerts", _MOST, kind=kind, unacked="true"))
    if not rows:
        return None
    if not as_json:
        tell_rows(rows[:_SHOWN], _COLUMNS, "", False)
        if len(rows) > _SHOWN:
            click.echo(f"and {len(rows) - _SHOWN} more")
    confirm(f"Has {by} seen {counted(len(rows), 'alert')}?", yes)
    return {"up_to": rows[0]["alert_id"], "kind": kind, "by": by}
