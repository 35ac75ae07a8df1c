"""The command find: what a text is the name of."""

import click

from api.cli.acting import json_option, tell_rows
from api.cli.client import the_ledger
from api.cli.session import clear_errors

_COLUMNS = {"what": "what", "id": "id", "found by": "by", "customer": "customer_id"}


@click.command("find", short_help="What has this address, Message-ID or id?")
@click.argument("text")
@json_option
@clear_errors
def find_command(text: str, as_json: bool) -> None:
    """What has this address, Message-ID, provider's message id or id? Exit code 1: nothing."""
    rows = the_ledger().post("/v1/find", {"text": text})["items"]
    tell_rows(rows, _COLUMNS, "nothing goes by that", as_json)
    if not rows:
        raise click.exceptions.Exit(1)
