"""The commands mcp …: the ledger for agents, and the guard of e-mail servers."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.cli.gate import Address
from api.cli.session import clear_errors

if TYPE_CHECKING:
    from sendledger import AsyncLedger

_NEEDS = "this needs more packages: pip install 'send-ledger[mcp]'"
_EXTRA = ("mcp", "mcp_types", "sendledger")


@click.group("mcp", invoke_without_command=True, short_help="Let agents ask, by MCP.")
@click.option("--http", type=Address(), help="Serve streamable HTTP here instead of stdio.")
@click.pass_context
@clear_errors
def mcp_group(context: click.Context, http: tuple[str, int] | None) -> None:
    """Serve the ledger (LEDGER_URL, LEDGER_KEY) to an agent, on standard input and output."""
    if context.invoked_subcommand is not None:
        return
    try:
        from api.gates.mcp.server import server_of
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    server = server_of(_ledger())
    if http is None:
        server.run("stdio")
        return
    from api.gates.loopback import is_this_machine

    if not is_this_machine(http[0]):
        raise click.ClickException(
            "whoever reaches this server sends by its key: listen on this machine only, "
            "with a proxy in front that knows who may"
        )
    server.run("streamable-http", host=http[0], port=http[1])


@mcp_group.command(
    "guard",
    short_help="Stand before an e-mail server: its mails need permits.",
    context_settings={"ignore_unknown_options": True},
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file that says what its tools send.",
)
@click.option("--observe", is_flag=True, help="Refuse nothing; report at the end what was wrong.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@clear_errors
def guard_command(config: Path | None, observe: bool, command: tuple[str, ...]) -> None:
    """Stand before an e-mail MCP server, started by COMMAND: its mails need permits."""
    import asyncio

    from api.process.logs import configure_logging

    try:
        from api.gates.mcp.guard_file import read_guard_file
        from api.gates.mcp.observed import Observed
        from api.gates.mcp.stdio import run_guard
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    configure_logging()
    observed = Observed() if observe else None
    status = asyncio.run(run_guard(command, read_guard_file(config), observed))
    if observed is not None:
        click.echo(observed.report(), err=True)
    sys.exit(max(0, status))


@mcp_group.command("install", short_help="Guard the e-mail servers of an MCP client.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--guard", "names", multiple=True, help="This server; else all that look like mail.")
@click.option("--undo", "is_undo", is_flag=True, help="Take it back.")
@clear_errors
def install_command(file: Path, names: tuple[str, ...], is_undo: bool) -> None:
    """Guard the e-mail servers in an MCP client's configuration FILE, and add the ledger's own."""
    from api.gates.mcp.client_file import backup_of, install, undo

    if is_undo:
        freed = undo(file)
        click.echo(f"not guarded any more: {', '.join(freed) or 'none was'}")
        return
    if not (os.environ.get("LEDGER_URL") and os.environ.get("LEDGER_KEY")):
        raise click.ClickException("set LEDGER_URL and LEDGER_KEY: they are written into the file")
    guarded = install(file, names, os.environ)
    click.echo(f"guarded: {', '.join(guarded) or 'none; name one with --guard'}")
    click.echo(f"added: send-ledger; the file as it was: {backup_of(file)}")


def _ledger() -> "AsyncLedger":
    from sendledger import AsyncLedger, LedgerError, Pace

    try:
        return AsyncLedger(pace=Pace(deadline=15.0, report_deadline=15.0))
    except LedgerError as error:
        raise click.ClickException("there is no key: set LEDGER_KEY (and LEDGER_URL)") from error


def _missing(error: ModuleNotFoundError) -> Exception:
    """What to say where a module is missing: it may be one of the extra's."""
    is_extra = (error.name or "").partition(".")[0] in _EXTRA
    return click.ClickException(_NEEDS) if is_extra else error
