"""The command `analytics`: lets analysts ask the ledger in SQL."""

import click
from psycopg import errors
from psycopg.conninfo import make_conninfo

from api.cli.session import clear_errors, opened_store
from api.settings.environment import load_settings
from ledger.store.embedded.cluster import SUPERUSER
from projections.analysts import grant_analyst, grant_script


@click.group("analytics")
def analytics_group() -> None:
    """Let analysts ask in SQL."""


@analytics_group.command("grant", short_help="Let a role read the views, and nothing else.")
@click.argument("role")
@click.option("--print", "prints", is_flag=True, help="Print the SQL for a superuser's psql.")
@clear_errors
def analytics_grant(role: str, prints: bool) -> None:
    """Let a role of PostgreSQL read the schema `analytics`, and nothing else, within limits.

    The role is made if it is missing; it can log in once it has a password or a rule in pg_hba.
    """
    if prints:
        click.echo(grant_script(role), nl=False)
        return
    settings = load_settings()
    with opened_store(settings) as conninfo:
        if settings.database_url is None:
            conninfo = make_conninfo(conninfo, user=SUPERUSER)
        try:
            grant_analyst(conninfo, role)
        except errors.InsufficientPrivilege as error:
            raise click.ClickException(
                "the ledger's role may not make roles; give this to a superuser: "
                f"send-ledger analytics grant {role} --print | psql -d LEDGER"
            ) from error
        except (errors.RaiseException, errors.ReservedName) as error:
            raise click.ClickException(error.diag.message_primary or str(error)) from error
    click.echo(f"{role} may read the schema analytics")
