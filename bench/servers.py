"""Starts and stops the measured processes: PostgreSQL, the ledger, the empty endpoint."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ledger.store.embedded.cluster import ROLE, SUPERUSER
from ledger.store.embedded.server import EmbeddedPostgres

ROOT = Path(__file__).resolve().parents[1]
SQL = Path(__file__).parent / "sql"
_START_SECONDS = 60.0
_STOP_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Postgres:
    """A PostgreSQL with the ledger's settings (fsync on) in a temporary folder."""

    conninfo: str
    pid: int

    def database(self, name: str) -> str:
        """Make an empty database; returns its conninfo."""
        text = (SQL / "create_database.sql").read_text(encoding="utf-8")
        create = sql.SQL(text).format(name=sql.Identifier(name), owner=sql.Identifier(ROLE))
        with psycopg.connect(
            make_conninfo(self.conninfo, user=SUPERUSER, dbname="postgres"), autocommit=True
        ) as connection:
            connection.execute(create)
        return make_conninfo(self.conninfo, dbname=name)


@dataclass(frozen=True, slots=True)
class Server:
    """A serving process; `conninfo` is the ledger's database."""

    url: str
    key: str
    pid: int
    conninfo: str = ""


def settle(conninfo: str) -> None:
    """Vacuum now, so that autovacuum does not start during the next load. Raises psycopg.Error."""
    owner = make_conninfo(conninfo, user=SUPERUSER)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute((SQL / "settle.sql").read_bytes())


@contextmanager
def running_postgres(folder: Path) -> Iterator[Postgres]:
    """A PostgreSQL server that runs during the block."""
    with EmbeddedPostgres(folder) as embedded:
        conninfo = embedded.start()
        lines = (folder / "pgdata" / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        yield Postgres(conninfo, int(lines[0]))


_PREPARE = """
import sys
import psycopg
from ledger.store.keys import SCOPES, insert_first_key
from ledger.store.migrate import migrate
conninfo, key = sys.argv[1:]
migrate(conninfo)
if key:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        insert_first_key(connection, key, SCOPES)
"""
"""Run in the checkout whose code serves: another one may have fewer migrations."""


@contextmanager
def running_ledger(
    conninfo: str,
    folder: Path,
    *options: str,
    key: str | None = None,
    settings: Mapping[str, str] | None = None,
    root: Path = ROOT,
) -> Iterator[Server]:
    """The service with one worker on this database; its key has every scope, redeem optional.

    `key` is the key of an earlier server on the same database; without it a first key is made.
    """
    made = key is None
    key = key or f"slk_{secrets.token_urlsafe(32)}"
    prepare = [sys.executable, "-c", _PREPARE, conninfo, key if made else ""]
    subprocess.run(prepare, cwd=root, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        "LEDGER_DATABASE_URL": conninfo,
        "LEDGER_DATA_DIR": str(folder),
        "LEDGER_SECRET": "a secret of the benchmark",
        **(settings or {}),
    }
    older = (root / "api" / "cli.py").exists()
    module = "api.cli" if older else "api.cli.main"
    command = ["-m", module, "serve", "--port", "0", *options]
    with _running(command, folder, environment, root) as server:
        yield Server(server.url, key, server.pid, conninfo)


@contextmanager
def running_empty(folder: Path, module: str = "bench.empty") -> Iterator[Server]:
    """A baseline endpoint: that of permits, or another module's."""
    folder.mkdir(parents=True, exist_ok=True)
    with _running(["-m", module, str(folder / "announce.json")], folder, {}) as server:
        yield server


@contextmanager
def _running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], root: Path = ROOT
) -> Iterator[Server]:
    announce = folder / "announce.json"
    announce.unlink(missing_ok=True)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("LEDGER_")}
    with (folder / "output.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=root,
            env={**inherited, **environment, "LEDGER_ANNOUNCE": str(announce)},
            stdout=log,
            stderr=log,
        )
    try:
        yield _announced(process, announce, folder / "output.log")
    finally:
        _end(process)


def _announced(process: "subprocess.Popen[bytes]", announce: Path, log: Path) -> Server:
    give_up = time.monotonic() + _START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        if announce.exists():
            told = json.loads(announce.read_text(encoding="utf-8"))
            return Server(told["url"], told["key"] or "", process.pid)
        time.sleep(0.02)
    raise RuntimeError(f"a server did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
