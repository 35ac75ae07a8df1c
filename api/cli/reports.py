"""The command `report`: what the ledger did in a time."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from psycopg import AsyncConnection

from api.cli.session import clear_errors, instant, with_connection
from api.effects.forms import FORMS
from projections.effect import Effect, effect_of


@click.group("report")
def report_group() -> None:
    """Say what the ledger did in a time."""


@report_group.command("effect", short_help="Duplicates prevented, mails, payments, caution.")
@click.option("--from", "from_", metavar="TIME", required=True, callback=instant)
@click.option("--to", metavar="TIME", callback=instant, help="The end (default: now).")
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="markdown", show_default=True
)
@click.option("--output", "target", type=click.Path(dir_okay=False, path_type=Path), help="A file.")
@clear_errors
def report_effect(from_: datetime, to: datetime | None, form: str, target: Path | None) -> None:
    """Duplicates prevented, mails per customer, time from reminder to payment, cost of caution.

    Every section says how its figures are made. Read from the views for analysts.
    """
    until = to or datetime.max.replace(tzinfo=UTC)
    if until <= from_:
        raise click.UsageError("--to must be after --from")

    async def work(connection: AsyncConnection[Any]) -> Effect:
        return await effect_of(connection, from_, until)

    text = FORMS[form](with_connection(work))
    if target is None:
        click.echo(text.rstrip("\n"))
        return
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the report is in {target}", err=True)
