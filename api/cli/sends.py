"""The command line's sent mails: taking in what went out past the ledger (design D8, D13)."""

import asyncio
import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO
from zoneinfo import ZoneInfo

import click

from api.cli.sends_tables import SHOWN, progress, tell_counts, tell_mails, tell_rows
from api.cli.session import clear_errors, opened_store
from api.imports.checking import UnsettledLog, checked
from api.imports.dates import Dates, check_format
from api.imports.log_file import LogFile, kept
from api.imports.profiles.profile import Head, Profile, head_of
from api.imports.profiles.registry import guessed, profile, profile_names
from api.imports.rows import BadLog
from api.imports.sends_import import Counts, Import, ImportStopped, Shown
from api.imports.sends_log import FORMATS, Columns, Reading, log_rows
from api.process.serving import prepare
from api.settings.environment import load_settings
from ledger.application.ports import StoreUnavailable
from ledger.domain.policy import PolicyError, check_time_zone

SKIPPED = 3
"""The exit code where rows were skipped because they could not be used."""
UNSETTLED = 4
"""The exit code where a time can be read in two ways: nothing was taken."""
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
    ("kind", "the kind of mail: what its permit was asked for with is used up"),
    ("event-type", "the type of the event that it tells of"),
    ("event", "the id of that event"),
    ("attempt", "the id of the attempt to pay"),
    ("inbox", "the inbox of a digest, with --date"),
    ("date", "the day of a digest, YYYY-MM-DD"),
    ("step", "the number of a follow-up, with --thread"),
    ("in-reply-to", "the Message-ID that it answers, with --thread"),
    ("incident", "the incident that it apologizes for"),
    ("send-token", "the header X-Ledger-Send"),
    ("provider-key", "the idempotency key that the provider was given"),
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
@click.option("--from", "from_", type=click.Choice(profile_names()), help="What wrote the log.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: by the file itself.")
@click.option("--source", default="import", show_default=True, help="A name for this log.")
@click.option("--time-zone", "zone", help="The zone of times without an offset, such as UTC.")
@click.option(
    "--date-format",
    "date_formats",
    multiple=True,
    metavar="FORMAT",
    help="day-first, month-first, excel, or a pattern such as %d.%m.%Y %H:%M (repeatable).",
)
@click.option("--year", type=click.IntRange(2000, 2099), help="Of the first line without a year.")
@click.option("--only", multiple=True, metavar="COLUMN=VALUE", help="Take only such rows.")
@click.option("--dry-run", is_flag=True, help="Look everything up, and write nothing.")
@click.option("--errors", type=click.Path(dir_okay=False), help="Write every bad row's line here.")
@clear_errors
def sends_import(file: str, **options: Any) -> None:
    """Import a sent log.

    FILE is a provider's export, a mail server's log, an mbox, or any CSV or JSON. Its mails use up
    stages, intents and windows, and count as mails received. Rows that were imported before are
    known by their id and change nothing. Exit code 3: rows were skipped; 4: times are not certain,
    and nothing was imported.
    """
    columns = Columns(
        **{name.replace("-", "_"): options[name.replace("-", "_")] for name, _ in _COLUMN_OPTIONS}
    )
    dates = Dates(_zone(options["zone"]), _formats(options["date_formats"]), options["year"])
    reading = Reading(columns, options["source"], dates, _only(options["only"]))
    with ExitStack() as stack:
        errors = options["errors"]
        listed = stack.enter_context(open(errors, "w", encoding="utf-8")) if errors else None
        try:
            raw = kept(sys.stdin.buffer) if file == "-" else open(file, "rb")  # noqa: SIM115
            log = LogFile(stack.enter_context(closing(raw)))
            head = head_of(log.head())
        except BadLog as error:
            raise click.ClickException(str(error)) from error
        reading = replace(reading, profile=_profile(options["from_"], head, columns))
        form = options["form"] or _form(file, head, reading)
        run = _Run(log, form, reading, listed, options["dry_run"])
        counts = run.counts()
    tell_mails(run.mails)
    tell_counts(counts, reading, options["dry_run"])
    tell_rows(run.shown, counts.bad)
    if counts.bad:
        sys.exit(SKIPPED)


@dataclass
class _Run:
    """One import, and the first of its rows for a person to see."""

    log: LogFile
    form: str
    reading: Reading
    listed: TextIO | None
    dry_run: bool
    shown: list[str] = field(default_factory=list)
    mails: list[Shown] = field(default_factory=list)

    def counts(self) -> Counts:
        """What became of the rows. Exits where it cannot go on, or must not."""
        settings = load_settings()
        try:
            with opened_store(settings, migrated=False) as conninfo:
                settings = prepare(settings, conninfo, None).settings
                self._check()
                return self._take(settings, conninfo)
        except UnsettledLog as error:
            tell_rows(self.shown, error.rows)
            click.echo(str(error), err=True)
            sys.exit(UNSETTLED)
        except (BadLog, ImportStopped, StoreUnavailable) as error:
            raise click.ClickException(str(error)) from error

    def _check(self) -> None:
        """Read the log once without taking anything."""
        with progress() as bar, self.log.opened() as stream:
            task = bar.add_task("checking", total=self.log.size, rows=0)

            def on_rows(rows: int) -> None:
                bar.update(task, completed=self.log.position, rows=rows)

            rows = log_rows(stream, self.form, self.reading)
            failed = checked(rows, self.reading, self._on_bad, on_rows)
        self.reading = replace(self.reading, failed=failed)

    def _take(self, settings: Any, conninfo: str) -> Counts:
        with progress() as bar, self.log.opened() as stream:
            what = "reading" if self.dry_run else "importing"
            task = bar.add_task(what, total=self.log.size, rows=0)

            def on_rows(rows: int) -> None:
                bar.update(task, completed=self.log.position, rows=rows)

            work = Import(
                settings,
                conninfo,
                self.reading,
                self._on_bad,
                on_rows,
                self.dry_run,
                self._on_shown,
            )
            return asyncio.run(work.run(log_rows(stream, self.form, self.reading)))

    def _on_bad(self, line: int, why: str) -> None:
        if len(self.shown) < SHOWN:
            self.shown.append(f"line {line}: {why}")
        if self.listed is not None:
            self.listed.write(f"{line}\t{why}\n")

    def _on_shown(self, mail: Shown) -> None:
        if len(self.mails) < SHOWN:
            self.mails.append(mail)


def _profile(name: str | None, head: Head, columns: Columns) -> Profile | None:
    """The profile that is named, or that certainly fits. Raises click.UsageError."""
    if name is not None:
        return profile(name)
    found = guessed(head)
    if found is not None:
        click.echo(f"taken for a log of {found.name}; --from names another", err=True)
    elif columns.at is None or (columns.customer is None and columns.address is None):
        raise click.UsageError(
            "it is not certain what wrote the log: say --from, or name at least --at, and "
            "--customer or --address"
        )
    return found


def _form(file: str, head: Head, reading: Reading) -> str:
    """CSV or JSON, by what the file begins with, else by its name. Raises click.UsageError."""
    if head.kind in FORMATS or reading.profile is not None:
        return head.kind
    endings = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
    found = endings.get(Path(file.removesuffix(".gz")).suffix.lower())
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


def _formats(texts: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(check_format(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--date-format") from None
