"""The commands `keys`: create, list and revoke API keys."""

import sys
from typing import Any

import click
from psycopg import AsyncConnection
from pydantic import ValidationError

from api.cli.session import clear_errors, new_table, print_table, shown, with_connection
from api.contract.invalid import first_of, validation_errors
from api.contract.keys import KeyRequest
from api.running.key_rules import rules_of
from ledger.application.caller import Riding
from ledger.store.keys import SCOPES, KeyRecord, create_key, list_keys, revoke_key

_MEANINGS = {
    "send": "ask for permits, redeem them, report on its own; read permits and what is due",
    "facts": "tell the ledger of invoices, payments, messages, customers",
    "operate": "pause, resume, reset breakers, read everything, handle any permit",
    "audit": "read everything",
    "admin": "make and revoke keys",
}


@click.group("keys")
def keys_group() -> None:
    """Make, list and revoke API keys."""


@keys_group.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    help="What it may do; may be given several times.",
)
@click.option("--scopes", "scope_list", help="The same, comma-separated; asked for if left out.")
@click.option(
    "--redeem",
    type=click.Choice(["required", "optional"]),
    default="required",
    show_default=True,
    help="Whether it redeems each permit right before its mail; if not, unreported permits, also "
    "claimed ones, become unknown instead of expired.",
)
@click.option("--kinds", help="The only kinds of mail it may ask for, comma-separated.")
@click.option("--stages", help="The only stages of reminders it may ask for, comma-separated.")
@click.option("--intents", help="The only intents of messages it may use, comma-separated.")
@click.option(
    "--customers", help="The only customers it may mail, comma-separated; eu_* is any eu_… id."
)
@click.option("--no-addresses", is_flag=True, help="Tell it no address: answers have null.")
@click.option(
    "--riding",
    type=click.Choice([riding.value for riding in Riding]),
    help="Which facts in its requests it is believed; all needs the scope facts, else it is own.",
)
@click.option(
    "--class",
    "key_class",
    type=click.Choice(["outreach", "transactional"]),
    default="outreach",
    show_default=True,
    help="Whose window its notifications and digests count in.",
)
@clear_errors
def keys_create(
    name: str,
    scopes: tuple[str, ...],
    scope_list: str | None,
    redeem: str,
    key_class: str,
    no_addresses: bool,
    riding: str | None,
    **lists: str | None,
) -> None:
    """Make a key; it is shown once, alone on standard output.

    NAME is the sender's name in every decision; do not use an address. Give it the fewest scopes
    that do, and limits where it is an agent's.
    """
    wanted = (*scopes, *(_split(scope_list) if scope_list is not None else ()))
    given: dict[str, Any] = {
        "name": name,
        "scopes": list(dict.fromkeys(wanted or _scopes_by_hand())),
        "redeem": redeem,
        "class": key_class,
        "addresses": not no_addresses,
        "riding": riding,
    }
    given |= {limit: _split(text) for limit, text in lists.items() if text is not None}
    try:
        asked = KeyRequest.model_validate(given)
    except ValidationError as error:
        raise click.UsageError(first_of(validation_errors(error))) from None

    async def work(connection: AsyncConnection[Any]) -> tuple[KeyRecord, str]:
        return await create_key(connection, asked.name, asked.scopes, rules_of(asked))

    record, secret = with_connection(work)
    click.echo(f"{record.key_id}: keep this key, it is not shown again", err=True)
    click.echo(secret)


def _scopes_by_hand() -> list[str]:
    """Ask a person for the scopes; a program has to name them. Raises UsageError."""
    if not _at_a_terminal():
        raise click.UsageError("name what it may do, as little as will do: --scopes send")
    for scope, meaning in _MEANINGS.items():
        click.echo(f"  {scope:8} {meaning}", err=True)
    return _split(click.prompt("What may it do? As little as will do", err=True))


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


@keys_group.command("list")
@clear_errors
def keys_list() -> None:
    """List the keys."""
    rows = with_connection(lambda connection: list_keys(connection))
    table = new_table("key", "name", "scopes", "rules", "created", "revoked")
    for column in (0, 4, 5):
        table.columns[column].no_wrap = True
    for row in rows:
        table.add_row(
            row.key_id,
            row.name,
            " ".join(row.scopes),
            _rules(row),
            shown(row.created_at)[:10],
            shown(row.revoked_at)[:10],
        )
    print_table(table, "there are no keys")


@keys_group.command("revoke")
@click.argument("key_id")
@clear_errors
def keys_revoke(key_id: str) -> None:
    """Revoke a key: no decision is made for it afterwards."""
    if not with_connection(lambda connection: revoke_key(connection, key_id)):
        raise click.ClickException(f"there is no live key {key_id}")
    click.echo(f"{key_id} is revoked")


def _rules(row: KeyRecord) -> str:
    """The rules for a key's mails and its limits, in words."""
    rules = [f"redeem {row.redeem}"]
    if row.key_class != "outreach":
        rules.append(row.key_class)
    limits = row.rules
    for name, limit in (
        ("kinds", limits.kinds),
        ("stages", limits.stages),
        ("intents", limits.intents),
        ("customers", limits.customers),
    ):
        if limit is not None:
            rules.append(f"{name} {' '.join(limit)}")
    if not limits.reads_addresses:
        rules.append("no addresses")
    if "send" in row.scopes:
        rules.append(f"riding {row.riding}")
    return ", ".join(rules)
