"""Runs forward-only numbered migrations under an advisory lock and records their checksums."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

import psycopg

from ledger.store.session_limits import session_options
from ledger.store.statements import statement

_LOCK = 7_203_412_881
_OPTIONS = session_options(
    lock_timeout="30s",
    statement_timeout="0",
    idle_in_transaction_session_timeout="15s",
    idle_session_timeout="15s",
)
"""A process that stops in the middle loses its locks, the advisory one too; a migration takes as
long as it takes."""


class MigrationError(Exception):
    """The database's migrations do not match this version; the message names the migration."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file of `sql/migrations`."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """sha256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations() -> list[Migration]:
    """Every migration, in order. Raises MigrationError for a gap in the numbers."""
    found = sorted(_read(), key=lambda m: m.number)
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        raise MigrationError("the numbers of the migrations are not 1, 2, 3 …")
    return found


def migrate(conninfo: str) -> list[Migration]:
    """Migrate the database to this version; safe when several processes start at once.

    Returns the migrations that were run now. Raises MigrationError for a file that was changed
    after it ran, or a database that a newer version migrated.
    """
    run: list[Migration] = []
    with psycopg.connect(
        conninfo, autocommit=True, options=_OPTIONS, application_name="send-ledger migrate"
    ) as db:
        db.execute(statement("schema", "lock"), {"key": _LOCK})
        try:
            db.execute(statement("schema", "create"))
            done: dict[int, str] = dict(db.execute(statement("schema", "list")).fetchall())
            known = migrations()
            _check(done, known)
            for migration in known:
                if migration.number not in done:
                    _run(db, migration)
                    run.append(migration)
        finally:
            db.execute(statement("schema", "unlock"), {"key": _LOCK})
    return run


def check_migrated(conninfo: str) -> None:
    """Raise MigrationError if the database lacks a migration of this version or has other ones.

    Changes nothing, so it needs no more privileges than the service.
    """
    with psycopg.connect(conninfo, autocommit=True, application_name="send-ledger check") as db:
        try:
            done: dict[int, str] = dict(db.execute(statement("schema", "list")).fetchall())
        except psycopg.errors.UndefinedTable:
            done = {}
    known = migrations()
    _check(done, known)
    if len(done) < len(known):
        raise MigrationError(
            "the database is not set up for this version; run `send-ledger migrate` first"
        )


def _check(done: dict[int, str], known: list[Migration]) -> None:
    by_number = {m.number: m for m in known}
    for number, checksum in done.items():
        migration = by_number.get(number)
        if migration is None:
            raise MigrationError(
                f"the database has migration {number}, which this version does not know: "
                "run a newer version"
            )
        if migration.checksum != checksum:
            raise MigrationError(f"migration {migration.name} was changed after it ran")


def _run(db: psycopg.Connection, migration: Migration) -> None:
    with db.transaction():
        db.execute(migration.text.encode())
        db.execute(
            statement("schema", "record"),
            {"number": migration.number, "name": migration.name, "checksum": migration.checksum},
        )


def _read() -> Iterator[Migration]:
    for entry in (files("ledger.store") / "sql" / "migrations").iterdir():
        if entry.name.endswith(".sql"):
            number, _, _ = entry.name.partition("_")
            yield Migration(int(number), entry.name, entry.read_text(encoding="utf-8"))
