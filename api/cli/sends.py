"""The command `sends import`: imports mails that were sent without the ledger (D8, D13)."""

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from zoneinfo import ZoneInfo

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

from api.cli.session import clear_errors, console, new_table, opened_store
from api.imports.sends_import import Counts, Import, ImportStopped, Reading
from api.imports.sends_log import FORMATS, BadLog, Columns, raw_rows
from api.process.serving import prepare
from api.settings.environment import load_settings
from ledger.application.ports import StoreUnavailable
from ledger.domain.policy import PolicyError, check_time_zone

SKIPPED = 3
"""The exit code where invalid rows were skipped."""
_SHOWN = 20
_COLUMN_OPTIONS = (
    ("customer", "the customer's id"),
    ("at", "when the mail went out"),
    ("invoice", "the invoice's id: its stage is used up"),
    ("stage", "the stage; without it, the highest that was reached"),
    ("thread", "the thread's id, with --intent"),
    ("intent", "the intent within the thread"),
    ("id", "the row's own id, best the provider's message id"),
    ("message-id", "the Message-ID header: the ledger knows its own mails by it"),
    ("address", "the address, where no customer is named"),
)


@click.group("sends")
def sends_group() -> None:
    """Import mails that went out past the ledger."""


def _column_options(command: Any) -> Any:
    for name, what in reversed(_COLUMN_OPTIONS):
        command = click.option(f"--{name}", metavar="COLUMN", help=f"Column of {what}.")(command)
    return command


@sends_group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@_column_options
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: by the file's name.")
@click.option("--source", default="import", show_default=True, help="A name for this log.")
@click.option("--time-zone", "zone", help="The zone of times without an offset, such as UTC.")
@click.option("--only", multiple=True, metavar="COLUMN=VALUE", help="Take only such rows.")
@click.option("--dry-run", is_flag=True, help="Look everything up, and write nothing.")
@click.option("--errors", type=click.Path(dir_okay=False), help="Write every bad row's line here.")
@clear_errors
def sends_import(file: str, **options: Any) -> None:
    """Take a provider's sent log in: CSV with a header, or JSON lines.

    Its mails use up stages, intents and windows, and count as mails received. Rows that were taken
    in before are known by their id and change nothing. Exit code 3: rows were skipped.
    """
    columns = Columns(
        **{name.replace("-", "_"): options[name.replace("-", "_")] for name, _ in _COLUMN_OPTIONS}
    )
    if columns.at is None or (columns.customer is None and columns.address is None):
        raise click.UsageError("name at least --at, and --customer or --address")
    reading = Reading(columns, options["source"], _zone(options["zone"]), _only(options["only"]))
    form = options["form"] or _format_of(file)
    with ExitStack() as stack:
        errors = options["errors"]
        listed = stack.enter_context(open(errors, "w", encoding="utf-8")) if errors else None
        stream = sys.stdin.buffer if file == "-" else stack.enter_context(open(file, "rb"))
        size = None if file == "-" else Path(file).stat().st_size
        counts, shown = _run(stream, size, form, reading, listed, options["dry_run"])
    _tell(counts, shown, reading, options["dry_run"])
    if counts.bad:
        sys.exit(SKIPPED)


def _run(
    stream: BinaryIO,
    size: int | None,
    form: str,
    reading: Reading,
    listed: TextIO | None,
    dry_run: bool,
) -> tuple[Counts, list[str]]:
    """Import the rows; returns the counts by result, and messages for the first bad rows."""
    settings = load_settings()
    shown: list[str] = []

    def on_bad(line: int, why: str) -> None:
        if len(shown) < _SHOWN:
            shown.append(f"line {line}: {why}")
        if listed is not None:
            listed.write(f"{line}\t{why}\n")

    with opened_store(settings, migrated=False) as conninfo, _progress() as progress:
        prepare(settings, conninfo, None)
        task = progress.add_task("reading" if dry_run else "importing", total=size, rows=0)

        def on_rows(rows: int) -> None:
            done = stream.tell() if size is not None else None
            progress.update(task, completed=done, rows=rows)

        work = Import(settings, conninfo, reading, on_bad, on_rows, dry_run)
        try:
            return asyncio.run(work.run(raw_rows(stream, form, reading.columns))), shown
        except (BadLog, ImportStopped, StoreUnavailable) as error:
            raise click.ClickException(str(error)) from error


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def _tell(counts: Counts, shown: list[str], reading: Reading, dry_run: bool) -> None:
    table = new_table("rows", "" if not dry_run else "nothing was written")
    for label, number in (
        ("read", counts.rows),
        ("mails past the ledger", counts.observed),
        ("mails of the ledger's own permits", counts.settled),
        ("known already", counts.duplicate),
        ("left out by --only", counts.left_out),
        ("skipped, they cannot be used", counts.bad),
    ):
        table.add_row(label, f"{number:,}")
    console.print(table)
    if counts.duplicate and reading.columns.id is None:
        click.echo("rows that are the same in every column are one mail: name --id if there is one")
    for line in shown:
        click.echo(line, err=True)
    if counts.bad > len(shown):
        click.echo(f"and {counts.bad - len(shown):,} more; --errors FILE lists all", err=True)


def _format_of(file: str) -> str:
    """The format by the file's name. Raises click.UsageError."""
    endings = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
    found = endings.get(Path(file).suffix.lower())
    if found is None:
        raise click.UsageError("name the --format, csv or jsonl")
    return found


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return None if name is None else ZoneInfo(check_time_zone(name))
    except PolicyError as error:
        raise click.BadParameter(str(error), param_hint="--time-zone") from None


def _only(pairs: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    split = [pair.partition("=") for pair in pairs]
    if any(not column or not equals for column, equals, _ in split):
        raise click.BadParameter("it is written COLUMN=VALUE", param_hint="--only")
    return tuple((column, value) for column, _, value in split)
