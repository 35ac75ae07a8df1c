"""Shared by all commands: opening the database, error messages, tables, times.

What takes long to import is imported where it is used, so that a small command starts fast.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from rich.table import Table

    from api.settings.environment import Settings

_TEXT = 24
"""The width that the widest column, mostly a sentence, needs at least."""
_UNAVAILABLE = "ledger.application.ports.StoreUnavailable"
EXPECTED = frozenset(
    {
        _UNAVAILABLE,
        "api.gates.error.GateError",
        "api.settings.environment.SettingsError",
        "ledger.domain.policy.PolicyError",
        "ledger.store.migrate.MigrationError",
        "ledger.store.embedded.error.EmbeddedPostgresError",
        "ledger.store.setup.WrongSecret",
        "ledger.store.setup.RealHistory",
        "ledger.store.witness.witness_file.WitnessError",
        "api.process.serving.CannotListen",
        "api.paging.targets.PagingError",
        "psycopg.errors.InsufficientPrivilege",
        "psycopg.OperationalError",
    }
)
"""The errors that an operator can fix, by name: an import of them all would take a second."""
OTHER_TABLES = frozenset(
    f"psycopg.errors.{name}" for name in ("UndefinedTable", "UndefinedColumn", "UndefinedFunction")
)


def clear_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Print errors that an operator can fix as one line, without a traceback."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Exception as error:
            told = _told(error)
            if told is None:
                raise
            raise click.ClickException(told) from error

    return wrapped


def _told(error: Exception) -> str | None:
    """The error in words for an operator; None for one that nobody expects."""
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
    if _UNAVAILABLE in names:
        return f"the database does not answer: {error}"
    if names & OTHER_TABLES:
        return "the database is not set up for this version; run `send-ledger migrate` first"
    return str(error) if names & EXPECTED else None


@contextmanager
def opened_store(settings: "Settings", *, migrated: bool = True) -> Iterator[str]:
    """The conninfo for a command: the configured database, or the embedded one, started if needed.

    With `migrated`, raises MigrationError for a database of another version, WrongSecret for one
    that was set up with another secret, and EmbeddedPostgresError for a folder without a database:
    a misspelt folder must not become a new ledger.
    """
    if settings.database_url is not None:
        if migrated:
            from ledger.store.migrate import check_migrated
            from ledger.store.setup import check_secret

            check_migrated(settings.database_url)
            check_secret(settings.database_url, settings.secret)
        yield settings.database_url
        return
    from ledger.store.embedded.server import EmbeddedPostgres, EmbeddedPostgresError

    attached = EmbeddedPostgres.attach(settings.data_dir)
    if attached is not None:
        from ledger.store.setup import check_secret

        check_secret(attached, settings.secret)
        yield attached
        return
    if migrated and not EmbeddedPostgres.is_in(settings.data_dir):
        raise EmbeddedPostgresError(
            f"there is no ledger in {settings.data_dir}; "
            "is LEDGER_DATA_DIR the one of the service? `send-ledger serve` makes a new one"
        )
    from api.process.serving import prepare, running_store

    with running_store(settings) as conninfo:
        prepare(settings, conninfo, None)
        yield conninfo


def with_connection(work: "Callable[[AsyncConnection[Any]], Any]") -> Any:
    """Run `work` with a new connection to the ledger's database; returns its result."""
    import asyncio

    from psycopg import AsyncConnection

    from api.settings.environment import load_settings
    from ledger.store.session_limits import session_options

    async def run(conninfo: str) -> Any:
        connection = await AsyncConnection.connect(
            conninfo, autocommit=True, options=session_options(statement_timeout="0")
        )
        async with connection:
            return await work(connection)

    with opened_store(load_settings()) as conninfo:
        return asyncio.run(run(conninfo))


def iso(at: datetime | None) -> str | None:
    """A time as the service reads it in a query, None for none."""
    return at.isoformat() if at is not None else None


def instant(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> datetime | None:
    """Parse a time argument. Raises click.BadParameter for one without an offset."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter("a time is written 2026-12-01T00:00:00Z") from None
    if at.tzinfo is None:
        raise click.BadParameter("a time needs an offset, such as Z")
    return at


def new_table(*columns: str) -> "Table":
    """An empty table with these columns."""
    from rich.table import Table

    new = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        new.add_column(column, overflow="fold")
    return new


def fits(cells: Sequence[Sequence[str]]) -> bool:
    """Is the terminal wide enough for these rows, if only the widest column is broken?"""
    from api.cli.terminal import console

    widths = [max(map(len, column)) + 2 for column in zip(*cells, strict=True)]
    return sum(widths) - max(widths) + _TEXT <= console.width


def print_table(table: "Table", nothing: str) -> None:
    """Print the table, or the text `nothing` if it has no rows."""
    if table.row_count:
        from api.cli.terminal import console

        console.print(table)
    else:
        click.echo(nothing)


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the singular for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shown(at: datetime | None) -> str:
    """A time as tables show it, to the second (UTC)."""
    return at.strftime("%Y-%m-%d %H:%M:%S") if at is not None else ""
