"""What `sends import` prints: the first mails as they were understood, and what became of all."""

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from api.cli.session import new_table
from api.cli.terminal import console
from api.imports.sends_import import Counts, Shown
from api.imports.sends_log import Reading

SHOWN = 20
"""How many rows are shown, of mails as of rows that cannot be used."""


def progress() -> Progress:
    """A bar on standard error."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def tell_mails(mails: list[Shown]) -> None:
    """The first mails of a dry run, as they were understood: a line each, of any width."""
    for shown in mails:
        mail = shown.mail
        at = mail.data.at.isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC")
        to = mail.address or mail.data.customer_id
        known_as = next(iter(mail.provider_ids), None) or mail.message_id or mail.mail_id
        click.echo(f"line {mail.line}: {at} to {to}, {known_as}: {shown.becomes}")


def tell_counts(counts: Counts, reading: Reading, dry_run: bool) -> None:
    """What became of the rows."""
    table = new_table("rows", "" if not dry_run else "nothing was written")
    for label, number in (
        ("read", counts.rows),
        ("mails past the ledger", counts.observed),
        ("mails of the ledger's own permits", counts.settled),
        ("known already", counts.duplicate),
        ("left out by --only", counts.left_out),
        ("not sent, by what the log says", counts.failed),
        ("tell of something else than a sending", counts.other),
        ("skipped, they cannot be used", counts.bad),
    ):
        table.add_row(label, f"{number:,}")
    console.print(table)
    named = reading.columns.id is not None or reading.profile is not None
    if counts.duplicate and not named:
        click.echo("rows that are the same in every column are one mail: name --id if there is one")


def tell_rows(shown: list[str], number: int) -> None:
    """The first rows that cannot be used, and how many more there are."""
    for line in shown:
        click.echo(line, err=True)
    if number > len(shown):
        click.echo(f"and {number - len(shown):,} more; --errors FILE lists all", err=True)
