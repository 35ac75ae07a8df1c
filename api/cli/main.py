"""The program `send-ledger`: its command groups, and the commands serve, demo, migrate and due."""

import asyncio
import sys
from datetime import datetime
from typing import Any

import click
from psycopg import AsyncConnection
from rich.progress import Progress

from api.cli.audit import audit_group, erase_command
from api.cli.clock import clock_group
from api.cli.explain import explain_command
from api.cli.keys import keys_group
from api.cli.sends import sends_group
from api.cli.session import (
    clear_errors,
    console,
    instant,
    new_table,
    opened_store,
    print_table,
    with_connection,
)
from api.cli.status import status_command
from api.cli.webhooks import webhooks_group
from api.process.serving import serve
from api.settings.environment import load_settings
from ledger.store.looking_back.journal import ledger_status
from ledger.store.migrate import migrate
from projections.due import due
from projections.models import MODELS
from projections.rebuild import RebuildRunning, rebuild
from projections.schema import prepare_projections

_PORT = click.IntRange(0, 65_535)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="send-ledger")
def main() -> None:
    """The send ledger: programs ask it before they mail a customer."""


main.add_command(status_command)
main.add_command(keys_group)
main.add_command(sends_group)
main.add_command(webhooks_group)
main.add_command(audit_group)
main.add_command(erase_command)
main.add_command(clock_group)
main.add_command(explain_command)


@main.command("serve", short_help="Serve the HTTP interface.")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8080, show_default=True, type=_PORT, help="0 takes a free port.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64))
@click.option(
    "--test-clock",
    metavar="TIME",
    callback=instant,
    help="Start a fresh staging ledger at this time, such as 2026-12-01T00:00:00Z.",
)
@clear_errors
def serve_command(host: str, port: int, workers: int, test_clock: datetime | None) -> None:
    """Serve the HTTP interface, on LEDGER_DATABASE_URL or the embedded database."""
    serve(load_settings(), host, port, workers, test_clock, lambda text: click.echo(text))


@main.command("demo", short_help="Tell the ledger's story on a throw-away ledger.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=_PORT,
    help="0 takes a free port, as does one that is taken.",
)
@click.option("--once", is_flag=True, help="End after the story instead of serving on.")
@clear_errors
def demo_command(port: int, once: bool) -> None:
    """Tell the ledger's story on a throw-away ledger with a test clock, then keep serving it."""
    from api.demo.story import run_demo

    run_demo(port, once)


@main.command("migrate", short_help="Bring the database to this version.")
@clear_errors
def migrate_command() -> None:
    """Bring the database to this version; safe when several start at once."""
    settings = load_settings()
    with opened_store(settings, migrated=False) as conninfo:
        run = migrate(conninfo)
        prepare_projections(conninfo, settings.policy)
    for migration in run:
        click.echo(f"ran {migration.name}")
    click.echo("the database is up to date")


@main.command("due")
@click.option("--stage", help="Only this stage.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
@click.option("--ready", is_flag=True, help="Leave out customers that cannot be mailed now.")
@clear_errors
def due_command(stage: str | None, limit: int, ready: bool) -> None:
    """What is newly due, by customer. Addresses are not shown."""
    policy = load_settings().policy
    if stage is not None and policy.stage(stage) is None:
        names = ", ".join(known.name for known in policy.stages)
        raise click.BadParameter(f"{stage!r} is not one of {names}", param_hint="'--stage'")

    async def work(connection: AsyncConnection[Any]) -> Any:
        _, now, _ = await ledger_status(connection)
        return await due(
            connection, now=now, policy=policy, stage=stage, limit=limit, cursor=None, ready=ready
        )

    page = with_connection(work)
    table = new_table("customer", "invoice", "cycle", "stage", "days", "owed", "withheld")
    for customer in page.items:
        for invoice in customer.invoices:
            table.add_row(
                customer.customer_id,
                invoice["invoice_id"],
                str(invoice["cycle"]),
                invoice["stage"],
                str(invoice["days_past_due"]),
                f"{invoice['amount_remaining']} {invoice['currency']}",
                customer.withheld.code if customer.withheld else "",
            )
    print_table(table, "nothing is newly due")
    if page.next is not None:
        click.echo("there are more; raise --limit or use the HTTP interface")


@main.group("projections")
def projections_group() -> None:
    """Rebuild read models."""


@projections_group.command("rebuild", short_help="Rebuild one beside the live one, then switch.")
@click.argument("name", type=click.Choice(sorted(MODELS)))
@clear_errors
def projections_rebuild(name: str) -> None:
    """Rebuild a read model beside the live one, and switch when it has caught up."""
    settings = load_settings()
    with opened_store(settings) as conninfo, Progress(console=console) as progress:
        task = progress.add_task(f"rebuilding {name}", total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=max(total, 1))

        try:
            asyncio.run(rebuild(conninfo, name, settings.policy, progress=show))
        except RebuildRunning as error:
            raise click.ClickException(str(error)) from error
        progress.update(task, completed=1, total=1)
    click.echo(f"{name} is rebuilt and live")


if __name__ == "__main__":
    sys.exit(main())
