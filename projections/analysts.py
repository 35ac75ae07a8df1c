"""Lets a role of PostgreSQL read the views for analysts, within limits and nothing else."""

import psycopg

from projections.statements import statement

_FOLDER = "view_control"


def grant_analyst(conninfo: str, role: str) -> None:
    """Make the role, where it is missing, and let it read the schema `analytics`.

    Raises psycopg.Error: InsufficientPrivilege where the connection's own role may make no roles,
    RaiseException where the named one could do more than read.
    """
    with psycopg.connect(conninfo, application_name="send-ledger analytics") as connection:
        connection.execute(statement(_FOLDER, "name_analyst"), {"role": role})
        connection.execute(statement(_FOLDER, "grant"))


def grant_script(role: str) -> str:
    """The same as SQL, for the psql of somebody who may make roles."""
    quoted = role.replace("'", "''")
    return f"SET ledger.analyst = '{quoted}';\n{statement(_FOLDER, 'grant')};\n"
