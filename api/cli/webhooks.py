"""The commands `webhooks`: list, replay and dismiss rejected webhook bodies."""

import asyncio
from collections.abc import Sequence
from typing import Any

import click
from psycopg import AsyncConnection

from api.cli.acting import json_option, limit_option, tell_json, tell_rows
from api.cli.client import named, the_ledger
from api.cli.session import (
    clear_errors,
    new_table,
    opened_store,
    print_table,
    shown,
    with_connection,
)
from api.contract.problems import ProblemError
from api.http.context import Context
from api.process.assembly import build_context
from api.running.supervision import Supervisor
from api.settings.environment import Settings, load_settings
from api.webhooks.registry import provider_names
from api.webhooks.replay import NotConfigured, NotKept, replay
from ledger.application.ports import StoreUnavailable
from ledger.store.webhooks.rejected import RejectedRow, dismiss_rejected, list_rejected

_PAGE = 200
_WAITING = {
    "id": "refresh_id",
    "provider": "provider",
    "object": "object_kind",
    "its id": "object_id",
    "fetched by": "fetched_by",
    "since (UTC)": "first_hinted_at",
}
_Provider = click.Choice(provider_names())


@click.group("webhooks", short_help="Webhook bodies that could not be used.")
def webhooks_group() -> None:
    """List, replay and dismiss webhook bodies that could not be used."""


@webhooks_group.command("list")
@click.option("--provider", type=_Provider, help="Only bodies of this provider.")
@click.option("--kind", help="Only bodies with a reason of this kind.")
@click.option("--resolved", is_flag=True, help="Also bodies that are done.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
@clear_errors
def webhooks_list(provider: str | None, kind: str | None, resolved: bool, limit: int) -> None:
    """List kept bodies, oldest first, and why they could not be used."""
    rows: list[RejectedRow] = with_connection(
        lambda connection: list_rejected(
            connection, limit=limit, provider=provider, kind=kind, resolved=resolved
        )
    )
    table = new_table("id", "provider", "why", "bytes", "copies", "received", "done")
    for row in rows:
        table.add_row(
            str(row.rejected_id),
            row.provider,
            "\n".join(f"{reason.kind}: {reason.detail}" for reason in row.reasons),
            str(row.size),
            str(row.copies),
            shown(row.received_at),
            row.resolution or "",
        )
    print_table(table, "no body waits")


@webhooks_group.command("replay", short_help="Take kept bodies again after a fix.")
@click.argument("ids", nargs=-1, type=click.IntRange(1))
@click.option("--provider", type=_Provider, help="Only bodies of this provider.")
@click.option("--kind", help="Only bodies with a reason of this kind.")
@clear_errors
def webhooks_replay(ids: Sequence[int], provider: str | None, kind: str | None) -> None:
    """Take kept bodies again after a fix: those named, or all that are open.

    Exit code 1: some are still of no use.
    """
    settings = load_settings()
    with opened_store(settings) as conninfo:
        used, left = asyncio.run(_replay(settings, conninfo, ids, provider, kind))
    click.echo(f"{used} used, {left} still of no use")
    if left:
        raise click.exceptions.Exit(1)


@webhooks_group.command("dismiss", short_help="Say that nothing needs to be done about them.")
@click.argument("ids", nargs=-1, required=True, type=click.IntRange(1))
@clear_errors
def webhooks_dismiss(ids: Sequence[int]) -> None:
    """Say that nothing needs to be done about these bodies; their bytes go.

    Exit code 1: one of them is not open.
    """

    async def work(connection: AsyncConnection[Any]) -> list[int]:
        return [id_ for id_ in ids if not await dismiss_rejected(connection, id_)]

    missing = with_connection(work)
    click.echo(f"{len(ids) - len(missing)} dismissed")
    for id_ in missing:
        click.echo(f"{id_}: no such body is open", err=True)
    if missing:
        raise click.exceptions.Exit(1)


@webhooks_group.command("waiting", short_help="Objects that changed and wait to be fetched.")
@click.option("--provider", type=_Provider, help="Only those of this provider.")
@limit_option(100)
@json_option
@clear_errors
def webhooks_waiting(provider: str | None, limit: int, as_json: bool) -> None:
    """List objects that changed at a provider and wait to be fetched, by the ledger or by you."""
    rows = list(the_ledger().items("/v1/webhooks/refresh", limit, provider=provider))
    tell_rows(rows, _WAITING, "nothing waits to be fetched", as_json)


@webhooks_group.command("done", short_help="Say that you have fetched such an object yourself.")
@click.argument("refresh_id")
@json_option
@clear_errors
def webhooks_done(refresh_id: str, as_json: bool) -> None:
    """Say that you have fetched an object yourself and told the ledger of it: it waits no more."""
    answer = the_ledger().post(named("webhooks", "refresh", refresh_id, "done"), {})
    if as_json:
        tell_json(answer)
    else:
        click.echo("done")


async def _replay(
    settings: Settings,
    conninfo: str,
    ids: Sequence[int],
    provider: str | None,
    kind: str | None,
) -> tuple[int, int]:
    """Replay bodies; returns how many were accepted now, and how many were not."""
    context = build_context(settings, conninfo, False, Supervisor())
    await context.connections.open()
    await context.engine.start()
    try:
        wanted = ids or await _open_ids(context, provider, kind)
        results = [await _replay_one(context, rejected_id) for rejected_id in wanted]
    finally:
        await context.engine.stop()
        context.intake.certificates.close()
        await context.connections.close()
        await context.close()
    return results.count(True), results.count(False)


async def _open_ids(context: Context, provider: str | None, kind: str | None) -> list[int]:
    found: list[int] = []
    while True:
        async with context.connections.use() as connection:
            rows = await list_rejected(
                connection,
                limit=_PAGE,
                after=found[-1] if found else 0,
                provider=provider,
                kind=kind,
            )
        found += [row.rejected_id for row in rows]
        if len(rows) < _PAGE:
            return found


async def _replay_one(context: Context, rejected_id: int) -> bool:
    try:
        taken = await replay(context.intake, context.connections, rejected_id)
    except (NotKept, NotConfigured) as error:
        click.echo(f"{rejected_id}: {error}")
        return False
    except ProblemError as error:
        raise click.ClickException(error.detail) from None
    except StoreUnavailable as error:
        raise click.ClickException(f"the store does not answer: {error}") from None
    for reason in taken.refused:
        click.echo(f"{rejected_id}: {reason.kind}: {reason.detail}")
    if not taken.refused:
        words = ", ".join(result["result"] for result in taken.results) or taken.ignored or "noted"
        click.echo(f"{rejected_id}: {words}")
    return not taken.refused
