"""`python -m bench.profile_hot_path`: profiles the CPU time of the permit path by function.

Serves the ledger in this process, loads it from another one, and samples the running function every
few milliseconds of CPU time (SIGPROF). Sampling costs little, so the profile is that of a server
under load. A C function counts for the Python function that called it.
"""

import multiprocessing
import os
import secrets
import signal
import socket
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import CodeType, FrameType

import click
import psycopg
import uvicorn
from rich.console import Console
from rich.table import Table

from api.process.assembly import build_app
from api.process.logs import configure_logging
from api.process.serving import prepare, server_config
from api.settings.environment import load_settings
from bench.fill import Teller
from bench.load import Load, Stream, run_load
from bench.machine import cpu_seconds, wait_until_quiet
from bench.permit_rows import REMINDER, REPLY
from bench.servers import ROOT
from bench.stand import FULL, open_stand
from ledger.store.keys import SCOPES, insert_first_key

_TEMPLATES = {"reminder": REMINDER, "reply": REPLY}
_LOOK_SECONDS = 0.002
_CONNECTIONS = 64
_WARM_UP = 1_000_000


class Looks:
    """The samples: by running function, and by every function on the call stack."""

    def __init__(self) -> None:
        self.own: Counter[CodeType] = Counter()
        self.within: Counter[CodeType] = Counter()
        self.count = 0

    def look(self, _: int, frame: FrameType | None) -> None:
        """Take one sample; the handler of SIGPROF."""
        self.count += 1
        if frame is not None:
            self.own[frame.f_code] += 1
        above = set()
        while frame is not None:
            above.add(frame.f_code)
            frame = frame.f_back
        self.within.update(above)

    def begin(self) -> None:
        """Start the timer."""
        signal.setitimer(signal.ITIMER_PROF, _LOOK_SECONDS, _LOOK_SECONDS)

    def end(self) -> None:
        """Stop the timer."""
        signal.setitimer(signal.ITIMER_PROF, 0)


@click.command()
@click.option("--kind", type=click.Choice(list(_TEMPLATES)), default="reminder", show_default=True)
@click.option("--seconds", default=8, show_default=True)
@click.option("--top", default=10, show_default=True)
def main(kind: str, seconds: int, top: int) -> None:
    """Print the profile of a process that answers 64 connections."""
    configure_logging()
    looks = Looks()
    signal.signal(signal.SIGPROF, looks.look)
    with open_stand(FULL) as stand, socket.create_server(("127.0.0.1", 0)) as listener:
        conninfo = stand.own_database()
        settings = load_settings(
            {
                "LEDGER_DATABASE_URL": conninfo,
                "LEDGER_DATA_DIR": str(stand.own_folder()),
                "LEDGER_SECRET": "a secret of the benchmark",
            }
        )
        prepare(settings, conninfo, None)
        key = f"slk_{secrets.token_urlsafe(32)}"
        with psycopg.connect(conninfo, autocommit=True) as connection:
            insert_first_key(connection, key, SCOPES)
        server = uvicorn.Server(server_config(build_app(settings, conninfo, False)))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        driver = _Driver(server, url, key, _TEMPLATES[kind], seconds, looks, stand.postgres.pid)
        driver.start()
        server.run(sockets=[listener])
        driver.join()
    if driver.load is None:
        raise SystemExit("the load failed")
    _show(looks, driver.load, driver.cpu, top)


class _Driver(threading.Thread):
    """Loads the server that runs in the main thread, then tells it to stop."""

    def __init__(
        self,
        server: uvicorn.Server,
        url: str,
        key: str,
        template: str,
        seconds: int,
        looks: Looks,
        postmaster: int,
    ) -> None:
        super().__init__(daemon=True)
        self.load: Load | None = None
        self.cpu = 0.0
        self._server, self._url, self._key = server, url, key
        self._template, self._seconds = template, seconds
        self._looks, self._postmaster = looks, postmaster

    def run(self) -> None:
        try:
            self._work()
        finally:
            self._server.should_exit = True

    def _work(self) -> None:
        if self._template == REMINDER:
            Teller(self._url, self._key).invoices(1, 5_000 * self._seconds)
        spawned = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawned) as pool:
            pool.submit(
                run_load,
                self._url,
                self._key,
                Stream((REPLY,), first=_WARM_UP),
                _CONNECTIONS,
                1,
            ).result()
            wait_until_quiet([os.getpid()], self._postmaster)
            stream = Stream((self._template,))
            before = cpu_seconds(os.getpid(), None).service
            self._looks.begin()
            self.load = pool.submit(
                run_load, self._url, self._key, stream, _CONNECTIONS, self._seconds
            ).result()
            self._looks.end()
            self.cpu = cpu_seconds(os.getpid(), None).service - before


def _show(looks: Looks, load: Load, cpu: float, top: int) -> None:
    console = Console()
    if not console.is_terminal:
        console.width = 120
    console.print(
        f"{load.per_second:,.0f} answers/s, {load.refused} of {load.requests} refused, "
        f"{cpu / load.requests * 1000:.3f} CPU s per 1,000, {looks.count} samples"
    )
    for title, counts in (("the function itself", looks.own), ("with all it calls", looks.within)):
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column(title)
        table.add_column("where")
        table.add_column("share", justify="right")
        ours = [
            (code, n) for code, n in counts.most_common() if counts is looks.own or _inside(code)
        ]
        for code, n in ours[:top]:
            table.add_row(code.co_qualname, _where(code), f"{n / max(looks.count, 1):.1%}")
        console.print()
        console.print(table)


def _inside(code: CodeType) -> bool:
    """True for the ledger's functions: those that call all of them would have all of the time."""
    path = Path(code.co_filename)
    return path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "bench")


def _where(code: CodeType) -> str:
    path = Path(code.co_filename)
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(*path.parts[-2:])
    return f"{shown}:{code.co_firstlineno}"


if __name__ == "__main__":
    main()
