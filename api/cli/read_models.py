"""The commands due and projections: what is newly due, and the rebuild of a read model."""

import asyncio
from typing import Any

import click
from psycopg import AsyncConnection
from rich.progress import Progress

from api.cli.session import clear_errors, new_table, opened_store, print_table, with_connection
from api.cli.terminal import console
from api.settings.environment import load_settings
from ledger.domain.money import major_units
from ledger.store.looking_back.journal import ledger_status
from projections.due import due
from projections.models import MODELS
from projections.rebuild import RebuildRunning, rebuild


@click.command("due", short_help="What is newly due, by customer.")
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
                _money(invoice["amount_remaining"], invoice["currency"]),
                customer.withheld.code if customer.withheld else "",
            )
    print_table(table, "nothing is newly due")
    if page.next is not None:
        click.echo("there are more; raise --limit or use the HTTP interface")


def _money(amount: int, currency: str) -> str:
    """Minor units as people write them: 12000 EUR is 120.00 EUR."""
    return f"{major_units(amount, currency)} {currency}"


@click.group("projections")
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
