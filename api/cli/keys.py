"""The commands `keys`: create, list and revoke API keys."""

from typing import Any

import click
from psycopg import AsyncConnection
from pydantic import ValidationError

from api.cli.session import clear_errors, new_table, print_table, shown, with_connection
from api.contract.invalid import first_of, validation_errors
from api.contract.people import KeyRequest
from ledger.store.keys import SCOPES, KeyRecord, create_key, list_keys, revoke_key


@click.group("keys")
def keys_group() -> None:
    """Make, list and revoke API keys."""


@keys_group.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(SCOPES),
    help="What it may do; may be given several times.",
)
@click.option(
    "--redeem",
    type=click.Choice(["required", "optional"]),
    default="required",
    show_default=True,
    help="Whether each permit must be redeemed right before its mail.",
)
@click.option("--intents", help="The only intents it may use, comma-separated.")
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
    name: str, scopes: tuple[str, ...], redeem: str, intents: str | None, key_class: str
) -> None:
    """Make a key; it is shown once, alone on standard output.

    NAME is the sender's name in every decision; do not use an address.
    """

    given = {"name": name, "scopes": list(dict.fromkeys(scopes)), "class": key_class}
    if intents is not None:
        given["intents"] = [intent.strip() for intent in intents.split(",")]
    try:
        asked = KeyRequest.model_validate(given)
    except ValidationError as error:
        raise click.UsageError(first_of(validation_errors(error))) from None

    async def work(connection: AsyncConnection[Any]) -> tuple[str, str]:
        return await create_key(
            connection,
            asked.name,
            asked.scopes,
            redeem_required=redeem == "required",
            intents=asked.intents,
            transactional=key_class == "transactional",
        )

    key_id, secret = with_connection(work)
    click.echo(f"{key_id}: keep this key, it is not shown again", err=True)
    click.echo(secret)


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
    """The rules for a key's mails, in words."""
    rules = [f"redeem {row.redeem}"]
    if row.key_class != "outreach":
        rules.append(row.key_class)
    if row.intents is not None:
        rules.append(f"intents {' '.join(row.intents)}")
    return ", ".join(rules)
