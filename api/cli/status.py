"""The command `status`: may mails be sent, what needs attention, silent sources, read models."""

from typing import Any

import click
from psycopg import AsyncConnection

from api.cli.session import clear_errors, new_table, shown, with_connection
from api.cli.terminal import console
from ledger.application.ports import Need
from ledger.domain.control import CONTROL_ID, Control
from ledger.store.alerts.outbox import list_alerts
from ledger.store.log.loading import load_need
from ledger.store.looking_back.journal import ledger_status
from projections.status import ProjectionStatus, status

_NAMED = 20
"""So many senders that skip the redeem are named."""


@click.command("status", short_help="May mails go out, and what waits for somebody?")
@clear_errors
def status_command() -> None:
    """Whether mails may go out, what waits for somebody, silent sources, and the read models."""

    async def work(connection: AsyncConnection[Any]) -> Any:
        position, now, counts = await ledger_status(connection)
        found = await load_need(connection, Need(aggregates={CONTROL_ID}))
        skipping = await list_alerts(connection, limit=_NAMED, kind="redeem_skipped", unacked=True)
        control = found.aggregates.get(CONTROL_ID)
        return position, now, counts, control, skipping.items, await status(connection)

    position, now, counts, control, skipping, projections = with_connection(work)
    table = new_table("what", "value")
    table.add_row("ledger time (UTC)", shown(now))
    table.add_row("sending", "\n".join(_switches(control)))
    table.add_row("silent sources", "\n".join(_silent(control)))
    table.add_row("skipped redeems", "\n".join(alert.summary for alert in skipping) or "none")
    table.add_row("log position", str(position))
    for name, value in counts.items():
        table.add_row(name, str(value))
    console.print(table)
    console.print()
    _tell_models(projections)


def _switches(control: Control | None) -> list[str]:
    """What stops mails now and since when; for a pause also who started it and why."""
    stopped = []
    if control is not None and control.recovery_since is not None:
        stopped.append(f"RECOVERY MODE since {shown(control.recovery_since)}")
    for scope, pause in control.pauses.items() if control is not None else ():
        stopped.append(f"PAUSED {scope} since {shown(pause.since)} by {pause.by}: {pause.reason}")
    return stopped or ["on"]


def _silent(control: Control | None) -> list[str]:
    """The sources of facts that are not heard any more, and when each was last heard."""
    silent = control.silent_feeds if control is not None else {}
    said = [f"{source}, last heard {shown(at)}" for source, at in sorted(silent.items())]
    return said or ["none"]


def _tell_models(projections: list[ProjectionStatus]) -> None:
    models = new_table("read model", "position", "behind", "lag", "state", "generation")
    for row in projections:
        models.add_row(
            row.name,
            str(row.position),
            str(row.behind),
            f"{row.lag:.0f} s",
            row.state,
            str(row.generation),
        )
    console.print(models)
    for row in projections:
        if row.error is not None:
            click.echo(f"{row.name} stands before position {row.failed_position}: {row.error}")
