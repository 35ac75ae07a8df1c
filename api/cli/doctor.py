"""The command doctor: looks at a running ledger as an expert would, and says what to do."""

import click

from api.cli.acting import json_option, tell_json
from api.cli.client import the_ledger
from api.cli.session import clear_errors


@click.command("doctor", short_help="What is wrong with the running ledger, and what to do.")
@json_option
@clear_errors
def doctor_command(as_json: bool) -> None:
    """What is wrong with the running ledger, and what to do. Exit code 1: something is."""
    answer = the_ledger().get("/v1/diagnosis")
    if as_json:
        tell_json(answer)
    else:
        for finding in answer["findings"]:
            click.echo(f"{finding['level'].upper():5} {finding['code']}: {finding['what']}")
            click.echo(f"      {finding['advice']}")
        if answer["ok"]:
            click.echo("nothing is wrong")
        click.echo(", ".join(f"{name} {number}" for name, number in answer["versions"].items()))
    if not answer["ok"]:
        raise click.exceptions.Exit(1)
