"""The command decisions: who asked for what, and the answer."""

from datetime import datetime

import click

from api.cli.acting import json_option, limit_option, tell_rows
from api.cli.client import the_ledger
from api.cli.session import clear_errors, instant, iso

_COLUMNS = {
    "decided (UTC)": "decided_at",
    "sender": "sender",
    "kind": "kind",
    "customer": "customer_id",
    "status": "status",
    "code": "code",
    "decision": "decision_id",
}


@click.command("decisions", short_help="List decisions: why did this customer get no mail?")
@click.option("--customer", "customer_id", help="Only those about this customer.")
@click.option("--invoice", "invoice_id", help="Only those about this invoice.")
@click.option("--thread", "thread_id", help="Only those about this thread.")
@click.option("--sender", help="Only what this sender asked for.")
@click.option("--kind", help="Only mails of this kind.")
@click.option("--code", help="Only denials with this code.")
@click.option("--from", "from_", metavar="TIME", callback=instant, help="Taken at or after it.")
@click.option("--to", metavar="TIME", callback=instant, help="Taken before it.")
@limit_option(100)
@json_option
@clear_errors
def decisions_command(
    customer_id: str | None,
    invoice_id: str | None,
    thread_id: str | None,
    sender: str | None,
    kind: str | None,
    code: str | None,
    from_: datetime | None,
    to: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """List decisions, the newest first.

    `send-ledger explain` shows one of them guard by guard.
    """
    query = {
        "customer_id": customer_id,
        "invoice_id": invoice_id,
        "thread_id": thread_id,
        "sender": sender,
        "kind": kind,
        "code": code,
        "from_": iso(from_),
        "to": iso(to),
    }
    rows = list(the_ledger().items("/v1/decisions", limit, **query))
    tell_rows(rows, _COLUMNS, "nothing was asked for", as_json)
