"""Makes a data folder for the embedded PostgreSQL, with settings and access rules (D17, D18)."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ledger.store.embedded.binaries import Account, major_version
from ledger.store.embedded.error import EmbeddedPostgresError

ROLE = "ledger"
"""The role that the ledger connects as; it owns the database and is no superuser."""

SUPERUSER = "postgres"
"""The superuser role for an operator's own work; the users who may connect are the same."""

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "log_destination": "stderr",
    # Addresses must not reach logs (D18): no statements, no parameters, no quoted rows.
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
"""Set on the server's command line, so that neither a file nor ALTER SYSTEM overrides them."""

INITDB_SECONDS = 120.0
"""Timeout for making a new data folder (about one second on an idle machine)."""

_STATEMENTS = Path(__file__).parents[1] / "sql" / "embedded" / "create_ledger.sql"
_UNFINISHED = "pgdata.new-"
_READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY


def is_cluster(pgdata: Path) -> bool:
    """True where the folder holds a PostgreSQL data folder, running or not."""
    return (pgdata / "PG_VERSION").exists()


def check_version(pgdata: Path, binaries: Path, account: Account) -> None:
    """Raises EmbeddedPostgresError where programs and data have different major versions.

    The server would also refuse to start, but often with an error about an unknown setting.
    """
    data = (pgdata / "PG_VERSION").read_text(encoding="utf-8").strip()
    programs = major_version(binaries, account)
    if data != programs:
        raise EmbeddedPostgresError(
            f"{pgdata} was made by PostgreSQL {data}, but the programs in {binaries} are version "
            f"{programs}. Run the ledger with programs of version {data}; to change over, dump the "
            "database with them (pg_dump), move pgdata away, start anew and load the dump."
        )


def remove_unfinished(folder: Path) -> None:
    """Removes what a killed create_cluster() left behind; the caller holds the owner lock.

    An initdb that outlived its killed parent may still write files during the removal. It then
    fails because its folder is gone, and the next call removes the rest.
    """
    for unfinished in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def create_cluster(pgdata: Path, binaries: Path, account: Account) -> None:
    """Makes the data folder with the role and database `ledger`, atomically.

    It is built under another name and then renamed, so a kill -9 leaves at most an unfinished
    folder for remove_unfinished(). The caller holds the owner lock. Raises
    EmbeddedPostgresError, OSError.
    """
    new = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=pgdata.parent))
    descriptor = open_private_folder(new, account)
    try:
        initdb = [f"{binaries}/initdb", "--encoding=UTF8", "--locale=C", "--data-checksums"]
        initdb += [f"--username={SUPERUSER}", "--auth=peer", "--no-instructions"]
        _run([*initdb, "-D", by_descriptor(descriptor)], descriptor, account)
        single = [f"{binaries}/postgres", "--single", "-c", "exit_on_error=on"]
        with _STATEMENTS.open("rb") as statements:
            command = [*single, "-D", by_descriptor(descriptor), "postgres"]
            _run(command, descriptor, account, stdin=statements)
    finally:
        os.close(descriptor)
    new.rename(pgdata)
    parent = os.open(pgdata.parent, _READ_FOLDER)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def _run(command: list[str], descriptor: int, account: Account, **options: Any) -> None:
    try:
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            timeout=INITDB_SECONDS,
            pass_fds=[descriptor],
            **{**account.spawn_options(), **options},
        )
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode(errors="replace").strip().splitlines()[-5:]
        raise EmbeddedPostgresError(
            f"A new data folder could not be made as user {account.name}: " + "\n".join(last)
        ) from error
    except subprocess.TimeoutExpired as error:
        raise EmbeddedPostgresError(
            f"Making a new data folder took longer than {INITDB_SECONDS:.0f} s; check the disk, "
            "then start again."
        ) from error


def by_descriptor(descriptor: int) -> str:
    """The path under /proc by which a child process opens a folder whose descriptor it inherits.

    With it the server's user needs no permission on the parent folders (a home, /root, a test's
    0700 folder), so their permissions need not change.
    """
    return f"/proc/self/fd/{descriptor}"


def open_private_folder(folder: Path, account: Account) -> int:
    """Makes the folder if it is missing, makes the account its owner (mode 0700) and opens it.

    Returns the descriptor, which the caller closes. Raises EmbeddedPostgresError where the folder
    exists and belongs to a third user, OSError.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, _READ_FOLDER | os.O_NOFOLLOW)
    try:
        owner = os.fstat(descriptor).st_uid
        if owner not in (account.uid, os.geteuid()):
            raise EmbeddedPostgresError(
                f"{folder} belongs to user id {owner}, not to {account.name}; remove it, or set "
                "LEDGER_DATA_DIR to another folder."
            )
        if owner != account.uid:
            os.fchown(descriptor, account.uid, account.gid)
        os.fchmod(descriptor, 0o700)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_access_rules(pgdata: int, account: Account) -> None:
    """Lets root and the server's user connect over the socket, with peer authentication.

    `pgdata` is an open descriptor. The rules are rewritten at each start, since a data folder may
    be moved to a machine where its user has another name. Files are replaced, not overwritten: the
    folder belongs to an unprivileged user, who could otherwise make root write through a link.
    """
    people = sorted({"root", account.name})
    map_lines = [f'people "{name}" {role}' for name in people for role in (ROLE, SUPERUSER)]
    _replace(pgdata, "pg_ident.conf", "\n".join(map_lines) + "\n", account)
    # `all` does not include replication, which the superuser needs for a base backup.
    rules = ["local all all peer map=people", f"local replication {SUPERUSER} peer map=people"]
    _replace(pgdata, "pg_hba.conf", "\n".join(rules) + "\n", account)


def _replace(folder: int, name: str, text: str, account: Account) -> None:
    new = f"{name}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(new, flags, 0o600, dir_fd=folder), "w", encoding="utf-8") as file:
        if os.geteuid() == 0:
            os.fchown(file.fileno(), account.uid, account.gid)
        file.write(text)
    os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
