"""Shared by all commands: opening the database, error messages, tables, times."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from typing import Any

import click
from psycopg import AsyncConnection, OperationalError
from psycopg.errors import InsufficientPrivilege, UndefinedColumn, UndefinedFunction, UndefinedTable
from rich.console import Console
from rich.table import Table

from api.paging.targets import PagingError
from api.process.serving import CannotListen, prepare, running_store
from api.settings.environment import Settings, SettingsError, load_settings
from ledger.application.ports import StoreUnavailable
from ledger.domain.policy import PolicyError
from ledger.store.embedded.server import EmbeddedPostgres, EmbeddedPostgresError
from ledger.store.migrate import MigrationError, check_migrated
from ledger.store.session_limits import session_options
from ledger.store.setup import RealHistory, WrongSecret
from ledger.store.witness.witness_file import WitnessError

console = Console()
_EXPECTED = (
    SettingsError,
    PolicyError,
    MigrationError,
    EmbeddedPostgresError,
    WrongSecret,
    RealHistory,
    WitnessError,
    CannotListen,
    PagingError,
    InsufficientPrivilege,
    OperationalError,
)
_OTHER_TABLES = (UndefinedTable, UndefinedColumn, UndefinedFunction)


def clear_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Print errors that an operator can fix as one line, without a traceback."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except StoreUnavailable as error:
            raise click.ClickException(f"the database does not answer: {error}") from error
        except _EXPECTED as error:
            raise click.ClickException(str(error)) from error
        except _OTHER_TABLES as error:
            raise click.ClickException(
                "the database is not set up for this version; run `send-ledger migrate` first"
            ) from error

    return wrapped


@contextmanager
def opened_store(settings: Settings, *, migrated: bool = True) -> Iterator[str]:
    """The conninfo for a command: the configured database, or the embedded one, started if needed.

    With `migrated`, raises MigrationError for a database of another version, and
    EmbeddedPostgresError for a folder without a database: a misspelt folder must not become a new
    ledger.
    """
    if settings.database_url is not None:
        if migrated:
            check_migrated(settings.database_url)
        yield settings.database_url
        return
    attached = EmbeddedPostgres.attach(settings.data_dir)
    if attached is not None:
        yield attached
        return
    if migrated and not EmbeddedPostgres.is_in(settings.data_dir):
        raise EmbeddedPostgresError(
            f"there is no ledger in {settings.data_dir}; "
            "is LEDGER_DATA_DIR the one of the service? `send-ledger serve` makes a new one"
        )
    with running_store(settings) as conninfo:
        prepare(settings, conninfo, None)
        yield conninfo


def with_connection(work: Callable[[AsyncConnection[Any]], Any]) -> Any:
    """Run `work` with a new connection to the ledger's database; returns its result."""

    async def run(conninfo: str) -> Any:
        connection = await AsyncConnection.connect(
            conninfo, autocommit=True, options=session_options(statement_timeout="0")
        )
        async with connection:
            return await work(connection)

    with opened_store(load_settings()) as conninfo:
        return asyncio.run(run(conninfo))


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


def new_table(*columns: str) -> Table:
    """An empty table with these columns."""
    new = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        new.add_column(column, overflow="fold")
    return new


def print_table(table: Table, nothing: str) -> None:
    """Print the table, or the text `nothing` if it has no rows."""
    if table.row_count:
        console.print(table)
    else:
        click.echo(nothing)


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the singular for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shown(at: datetime | None) -> str:
    """A time as tables show it, to the second (UTC)."""
    return at.strftime("%Y-%m-%d %H:%M:%S") if at is not None else ""
