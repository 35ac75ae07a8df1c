"""The command `clock accept`: a named human declares the database's clock right."""

import json

import click

from api.cli.one_command import run_command, user_name
from api.cli.session import clear_errors
from ledger.application.caller import SYSTEM
from ledger.application.commands import AcceptClock


@click.group("clock")
def clock_group() -> None:
    """Let granting go on after a jump of the clock."""


@clock_group.command("accept", short_help="Declare the database's clock right.")
@click.option("--reason", required=True, help="Why it is right; kept in the log.")
@click.option("--by", help="Who says so (default: the user who runs this).")
@clear_errors
def clock_accept(reason: str, by: str | None) -> None:
    """Declare the database's clock right: granting goes on, by the time that it shows now.

    Look at the clock first. Where the log is ahead of it, the log goes on with an earlier time.
    """
    answer = run_command(AcceptClock(by or user_name(), reason, SYSTEM))
    now = json.loads(answer.body)["now"]
    click.echo(f"the ledger goes by the database's clock, which shows {now}")
