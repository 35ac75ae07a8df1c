"""The commands serve, demo and migrate: they start a ledger, or prepare its database."""

from datetime import datetime

import click

from api.cli.session import clear_errors, instant, opened_store
from api.process.serving import serve
from api.settings.environment import load_settings
from ledger.store.migrate import migrate
from ledger.store.setup import check_secret
from projections.schema import prepare_projections

_PORT = click.IntRange(0, 65_535)


@click.command("serve", short_help="Serve the HTTP interface.")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8080, show_default=True, type=_PORT, help="0 takes a free port.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64))
@click.option(
    "--test-clock",
    metavar="TIME",
    callback=instant,
    help="Start a fresh staging ledger at this time, such as 2026-12-01T00:00:00Z.",
)
@clear_errors
def serve_command(host: str, port: int, workers: int, test_clock: datetime | None) -> None:
    """Serve the HTTP interface, on LEDGER_DATABASE_URL or the embedded database."""
    serve(load_settings(), host, port, workers, test_clock, lambda text: click.echo(text))


@click.command("demo", short_help="Tell the ledger's story on a throw-away ledger.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=_PORT,
    help="0 takes a free port, as does one that is taken.",
)
@click.option("--once", is_flag=True, help="End after the story instead of serving on.")
@clear_errors
def demo_command(port: int, once: bool) -> None:
    """Tell the ledger's story on a throw-away ledger with a test clock, then keep serving it."""
    from api.demo.story import run_demo

    run_demo(port, once)


@click.command("migrate", short_help="Bring the database to this version.")
@clear_errors
def migrate_command() -> None:
    """Bring the database to this version; safe when several start at once."""
    settings = load_settings()
    with opened_store(settings, migrated=False) as conninfo:
        run = migrate(conninfo)
        if settings.secret:
            check_secret(conninfo, settings.secret)
        prepare_projections(conninfo, settings.policy)
    for migration in run:
        click.echo(f"ran {migration.name}")
    click.echo("the database is up to date")
