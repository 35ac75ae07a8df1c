"""A primary with streaming standbys on real servers, for failovers and split brain."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from ledger.store.embedded.cluster import SUPERUSER
from ledger.store.embedded.server import EmbeddedPostgres
from tests.support.backups import base_backup
from tests.support.postgres import Kind, binaries_of, superuser

_SECONDS = 30.0


class _Server(EmbeddedPostgres):
    """As the embedded one, but a standby, which is never `ready`, may also answer."""

    def _await_answer(self) -> None:
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                psycopg.connect(self._conninfo(), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


class Node:
    """One server of the cluster."""

    def __init__(self, folder: Path, name: str, kind: Kind) -> None:
        self.name = name
        self.folder = folder / name
        settings = {"fsync": "off", "shared_buffers": "32MB", "wal_receiver_timeout": "5s"}
        self._server = _Server(self.folder, binaries=binaries_of(kind), settings=settings)

    def start(self) -> str:
        """Start it; gives its conninfo."""
        self.conninfo = self._server.start()
        # The standbys, which run as another user than root, must get to its socket.
        self.folder.chmod(0o711)
        return self.conninfo

    def stop(self) -> None:
        """Shut it down."""
        self._server.stop()

    def follow(self, primary: "Node") -> None:
        """Before its first start: become a standby of that primary, by pg_basebackup."""
        self.folder.mkdir(mode=0o700)
        pgdata = self.folder / "pgdata"
        base_backup(primary.conninfo, pgdata)
        owner = pgdata.stat()
        signal = pgdata / "standby.signal"
        signal.touch()
        shutil.chown(signal, owner.st_uid, owner.st_gid)
        with (pgdata / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.write(f"primary_conninfo = '{self._source(primary)}'\n")

    def follow_instead(self, primary: "Node") -> None:
        """While it runs: leave the old primary for that one."""
        self.set("primary_conninfo", self._source(primary))

    def set(self, name: str, value: str) -> None:
        """Change a setting of the running server."""
        with superuser(self.conninfo) as db:
            change = sql.SQL("ALTER SYSTEM SET {} = {}")
            db.execute(change.format(sql.Identifier(name), sql.Literal(value)))
            db.execute("SELECT pg_reload_conf()")

    def promote(self) -> None:
        """Make it a primary, without a word to the old one."""
        with superuser(self.conninfo) as db:
            assert db.execute("SELECT pg_promote(true, 30)").fetchone() == (True,)

    def until(self, query: str) -> None:
        """Wait until the query, asked as the superuser, answers true."""
        deadline = time.monotonic() + _SECONDS
        with superuser(self.conninfo) as db:
            while (row := db.execute(query.encode()).fetchone()) is None or not row[0]:
                assert time.monotonic() < deadline, query
                time.sleep(0.02)

    def until_followed_by(self, *nodes: "Node") -> None:
        """Wait until these standbys have all that this primary has."""
        for node in nodes:
            self.until(
                "SELECT bool_or(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication"
                f" WHERE application_name = '{node.name}' AND state = 'streaming'"
            )

    def _source(self, primary: "Node") -> str:
        host = conninfo_to_dict(primary.conninfo)["host"]
        return f"host={host} user={SUPERUSER} application_name={self.name}"


@contextmanager
def cluster(kind: Kind, standbys: int) -> Iterator[list[Node]]:
    """A primary and its standbys, `a`, `b`, …, that replicate asynchronously at first."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-cluster-"))
    folder.chmod(0o711)
    nodes = [Node(folder, name, kind) for name in "abc"[: standbys + 1]]
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        primary = nodes[0]
        stack.callback(primary.stop)
        primary.start()
        for node in nodes[1:]:
            node.follow(primary)
            stack.callback(node.stop)
            node.start()
        primary.until_followed_by(*nodes[1:])
        yield nodes
