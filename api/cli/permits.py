"""The commands permits and outcome: mails that wait for somebody, and what became of one."""

from datetime import datetime
from typing import Any

import click

from api.cli.acting import (
    by_option,
    confirm,
    json_option,
    limit_option,
    tell_fields,
    tell_json,
    tell_rows,
    yes_option,
)
from api.cli.client import named, the_ledger
from api.cli.session import clear_errors, instant, iso

_STATES = ("granted", "redeemed", "sent", "rejected", "unknown", "revoked", "expired")
_COLUMNS = {
    "permit": "permit_id",
    "state": "state",
    "kind": "kind",
    "customer": "customer_id",
    "sender": "sender",
    "granted (UTC)": "granted_at",
    "Message-ID": "message_id",
    "to": "to",
}


@click.command("permits", short_help="List permits: --state unknown is the work queue.")
@click.option("--state", type=click.Choice(_STATES), help="Only permits in this state.")
@click.option("--sender", help="Only those that this sender asked for.")
@click.option("--kind", help="Only mails of this kind.")
@click.option("--from", "from_", metavar="TIME", callback=instant, help="Granted at or after it.")
@click.option("--to", metavar="TIME", callback=instant, help="Granted before it.")
@limit_option(100)
@json_option
@clear_errors
def permits_command(
    state: str | None,
    sender: str | None,
    kind: str | None,
    from_: datetime | None,
    to: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """List permits, those that are not settled oldest first.

    The Message-ID is what to look for in the mail provider's log.
    """
    query = {"state": state, "sender": sender, "kind": kind, "from_": iso(from_), "to": iso(to)}
    rows = list(the_ledger().items("/v1/permits", limit, **query))
    tell_rows(rows, _COLUMNS, "there is no such permit", as_json)


@click.command("outcome", short_help="Say what became of a permit's mail.")
@click.argument("permit_id")
@click.argument("outcome", type=click.Choice(["sent", "rejected", "unknown"]))
@click.option("--provider-message-id", help="The provider's id of the mail.")
@click.option("--reason", help="How it is known; kept with the permit, with the name.")
@click.option("--correct", is_flag=True, help="It was reported as sent, and never went out.")
@by_option
@yes_option
@json_option
@clear_errors
def outcome_command(
    permit_id: str,
    outcome: str,
    provider_message_id: str | None,
    reason: str | None,
    correct: bool,
    by: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Say what became of a permit's mail, after a look into the provider's log.

    After rejected the same mail may be granted again, so be sure that it did not go out.
    """
    if correct and (outcome != "rejected" or not reason):
        raise click.UsageError("--correct goes with rejected, and with a --reason")
    if outcome == "rejected":
        confirm("It did not go out, and may be sent again?", yes)
    asked: dict[str, Any] = {"outcome": outcome, "detail": f"{by}: {reason}" if reason else by}
    if correct:
        asked["correction"] = {"by": by, "reason": reason}
    if provider_message_id is not None:
        asked["provider_message_id"] = provider_message_id
    answer = the_ledger().post(f"{named('permits', permit_id)}/outcome", asked)
    if as_json:
        tell_json(answer)
    else:
        names = ("permit_id", "state", "kind", "customer_id", "settled_at", "result")
        tell_fields({name: answer.get(name) for name in names})
