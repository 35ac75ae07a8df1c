"""Backs up and restores a ledger's database with PostgreSQL's own programs."""

import os
import shutil
import subprocess
from pathlib import Path

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ledger.store.embedded.binaries import server_account, usable_binaries
from ledger.store.embedded.cluster import ROLE, SUPERUSER
from tests.support.postgres import binaries_of, superuser

_SECONDS = 60


def dump(database: str, file: Path) -> None:
    """What pg_dump makes of a database, in its custom format."""
    _run(database, "pg_dump", f"--dbname={database}", "--format=custom", f"--file={file}")


def restore_dump(database: str, file: Path) -> None:
    """Puts the dump in the place of the database, on the same server; its connections are cut."""
    name = sql.Identifier(str(conninfo_to_dict(database)["dbname"]))
    with superuser(database) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
        create = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0")
        connection.execute(create.format(name, sql.Identifier(ROLE)))
    _run(database, "pg_restore", f"--dbname={database}", "--exit-on-error", str(file))


def base_backup(conninfo: str, target: Path) -> None:
    """A copy of the running server's data folder by pg_basebackup, owned as the original is."""
    owner = Path(str(conninfo_to_dict(conninfo)["host"])).stat()
    server = make_conninfo(conninfo, user=SUPERUSER, dbname="postgres")
    _run(server, "pg_basebackup", f"--dbname={server}", f"--pgdata={target}", "--checkpoint=fast")
    for path in (target, *target.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def copy_files(source: Path, target: Path) -> None:
    """A copy of a stopped server's data folder, owned as the original is."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True, timeout=_SECONDS)


def put_in_place(backup: Path, pgdata: Path) -> None:
    """The backup becomes the data folder of a stopped server."""
    shutil.rmtree(pgdata)
    copy_files(backup, pgdata)


def _run(conninfo: str, program: str, *arguments: str) -> None:
    """Run a program of the server's own version: a newer one makes dumps that it cannot read."""
    with superuser(conninfo) as connection:
        debian = connection.info.server_version < 160_000
    given = binaries_of("debian15") if debian else None
    binaries = usable_binaries(given, server_account(Path("/nonexistent")))
    done = subprocess.run(
        [f"{binaries}/{program}", *arguments], capture_output=True, text=True, timeout=_SECONDS
    )
    assert done.returncode == 0, f"{program}: {done.stderr}"
