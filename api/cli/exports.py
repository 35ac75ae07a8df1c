"""The command `export`: takes the ledger's tables away as files, and proves them."""

from datetime import datetime
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from api.cli.session import clear_errors, counted, instant, opened_store
from api.cli.terminal import console
from api.settings.environment import load_settings
from projections.exported_tables import TABLES

_MISSING = "it needs the extra `analytics`: pip install 'send-ledger[analytics]'"
_COLUMNS = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())


class _ExportGroup(click.Group):
    """`export DIR` is `export write DIR`, so that the common command is short."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the command in where it was left out."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["write", *args]
        return super().parse_args(ctx, args)


@click.group("export", cls=_ExportGroup)
def export_group() -> None:
    """Take tables away as files, and prove them.

    `export DIR` adds what is new to an export, `export verify DIR` proves one.
    """


@export_group.command("write", short_help="Add what is new to an export; the name may be left out.")
@click.argument("url", metavar="DIR")
@click.option(
    "--format", type=click.Choice(["parquet", "csv", "jsonl"]), default="parquet", show_default=True
)
@click.option("--table", "tables", multiple=True, type=click.Choice(list(TABLES)))
@click.option("--since", help="Begin after this position, or at this time (with an offset).")
@click.option(
    "--settle",
    type=click.FloatRange(0),
    help="Leave out what was recorded less than so many seconds ago (default: 120).",
)
@clear_errors
def export_write(
    url: str, format: str, tables: tuple[str, ...], since: str | None, settle: float | None
) -> None:
    """Add what is new in the log to the export in a folder, or at a URL that fsspec knows.

    A killed export is gone on with by the same command. Without --table all tables are exported.
    """
    try:
        from api.exports.exporting import SETTLE, Wanted, export
        from api.exports.manifest import BadExport
    except ImportError as error:
        raise click.ClickException(_MISSING) from error
    wanted = Wanted(
        format,
        [name for name in TABLES if name in tables] or list(TABLES),
        _since(since),
        SETTLE if settle is None else settle,
    )
    with opened_store(load_settings()) as conninfo, _Bar("exporting") as show:
        try:
            done = export(conninfo, url, wanted, show)
        except (BadExport, OSError) as error:
            raise click.ClickException(str(error)) from error
    click.echo(f"{counted(done.rows, 'row')} added; complete up to position {done.position}")


@export_group.command("verify", short_help="Prove the files of an export; exit code 1 if not.")
@click.argument("url", metavar="DIR")
@click.option("--offline", is_flag=True, help="Without a ledger: the files among themselves.")
@click.option(
    "--against",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file of signed checkpoints; may be given several times.",
)
@click.option("--public-key", help="The key that signed them.")
@clear_errors
def export_verify(
    url: str, offline: bool, against: tuple[Path, ...], public_key: str | None
) -> None:
    """Prove the files of an export: by their hashes, the hash chain, and the ledger's own log."""
    try:
        from api.exports.manifest import BadExport
        from api.exports.verifying import verify_export
    except ImportError as error:
        raise click.ClickException(_MISSING) from error
    from ledger.store.looking_back.checkpoints import BadCheckpoint, read_checkpoints

    if against and public_key is None:
        raise click.UsageError("name the --public-key that signed the checkpoints")
    try:
        kept = [s.checkpoint for path in against for s in read_checkpoints(path, public_key)]
        with _Bar("verifying") as show:
            if offline:
                proof = verify_export(url, None, kept, show)
            else:
                with opened_store(load_settings()) as conninfo:
                    proof = verify_export(url, conninfo, kept, show)
    except (BadExport, BadCheckpoint, OSError) as error:
        raise click.ClickException(str(error)) from error
    for problem in proof.problems:
        click.echo(problem)
    if not proof.ok:
        raise click.exceptions.Exit(1)
    click.echo(
        f"good: {counted(proof.files, 'file')}, the chain of {counted(proof.events, 'event')}, "
        f"up to position {proof.position}"
    )
    click.echo(f"its hash: {proof.hash}")


def _since(text: str | None) -> int | datetime | None:
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    return instant(click.get_current_context(), click.Option(["--since"]), text)


class _Bar:
    """A progress bar, shown while the block runs."""

    def __init__(self, what: str) -> None:
        self._progress = Progress(what, *_COLUMNS, console=console)
        self._task = self._progress.add_task(what, total=None)

    def __enter__(self) -> Any:
        self._progress.start()
        return lambda done, end: self._progress.update(
            self._task, completed=done, total=max(end, 1)
        )

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
