"""Starts the service: database, migrations, secret, first key, then the HTTP server (D17)."""

import contextlib
import json
import logging
import os
import secrets
import signal
import socket
import stat
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO, Any, cast

import psycopg
import uvicorn
from starlette.types import ASGIApp

from api.http.door.door import Door
from api.paging.targets import targets_of
from api.process.assembly import build_app
from api.process.logs import configure_logging, log_config
from api.process.open_files import within_open_files
from api.process.workers import CHECK_SECONDS, Workers, hear_ctrl_c
from api.settings.environment import Settings, kept_secret, load_settings, new_secret
from api.settings.greedy_callers import DoorLimits
from api.settings.service_file import SERVICE_FILE
from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.keys import SCOPES, insert_first_key, is_live
from ledger.store.migrate import migrate
from ledger.store.session_limits import session_options
from ledger.store.setup import check_secret, is_fresh, prepare_ledger
from ledger.store.witness.shared_witness import prepare_shared_witness
from ledger.store.witness.witness_file import WitnessError, check_witness
from projections.schema import prepare_projections

_log = logging.getLogger("ledger.serving")
_HANDED_DOWN = "LEDGER_WORKER_CONNINFO"
_TEST_CLOCK = "LEDGER_WORKER_TEST_CLOCK"
_SECRET = "LEDGER_SECRET"
_WITNESS = "LEDGER_WITNESS"
_SUPERVISE_SECONDS = 0.5
_TELL_SECONDS = 5.0
"""How often somebody who waits for the service is told that it still starts."""
FIRST_KEY = "first-key"
"""The file of the ready-made key, in the data folder."""
_DOMAIN = "set LEDGER_MESSAGE_ID_DOMAIN to the domain that you mail from"


class CannotListen(Exception):
    """The address is in use, not this machine's, or not permitted; the message names it."""


@dataclass(frozen=True)
class Started:
    """A prepared ledger that can be served; `settings` have its secret.

    `first_key` is the ready-made key, None where there is none or it was revoked; `fresh` says that
    this start made it.
    """

    settings: Settings
    conninfo: str
    test_clock: bool
    first_key: str | None
    fresh: bool = False


@contextlib.contextmanager
def running_store(settings: Settings) -> Iterator[str]:
    """The conninfo of the configured database, else of the embedded one, which is kept running."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    embedded = EmbeddedPostgres(settings.data_dir)
    conninfo = embedded.start()
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(embedded, ended), daemon=True)
    watcher.start()
    try:
        yield conninfo
    finally:
        ended.set()
        watcher.join()
        embedded.stop()


def prepare(settings: Settings, conninfo: str, test_clock: datetime | None) -> Started:
    """Migrate, check the secret, set the test clock, and make the first key of a new ledger.

    A ledger that has no secret yet gets one in the data folder. Raises MigrationError, WrongSecret,
    RealHistory or WitnessError.
    """
    migrate(conninfo)
    settings = _with_secret(settings, conninfo)
    _begin_witness(settings, conninfo)
    prepare_projections(conninfo, settings.policy)
    on_test_clock = prepare_ledger(conninfo, settings.secret, settings.policy, test_clock)
    if settings.database_url is not None:
        return Started(settings, conninfo, on_test_clock, None)
    path = settings.data_dir / FIRST_KEY
    if not is_fresh(conninfo):
        return Started(settings, conninfo, on_test_clock, _kept_key(path, conninfo))
    path.unlink(missing_ok=True)
    first_key = kept_secret(path, lambda: f"slk_{secrets.token_urlsafe(32)}")
    with psycopg.connect(conninfo, autocommit=True, options=session_options()) as db:
        insert_first_key(db, first_key, SCOPES)
    return Started(settings, conninfo, on_test_clock, first_key, fresh=True)


def _with_secret(settings: Settings, conninfo: str) -> Settings:
    """The settings with a secret: a new one only for a ledger that was never set up with any."""
    if settings.secret:
        return settings
    check_secret(conninfo, settings.secret)
    secret = new_secret(settings.data_dir)
    if settings.database_url is not None:
        _log.warning(
            "LEDGER_SECRET is not set: made one in %s. Give it to every process and command of "
            "this ledger, and keep it with the backups",
            settings.data_dir / "secret",
        )
    return replace(settings, secret=secret)


def _kept_key(path: Path, conninfo: str) -> str | None:
    """The ready-made key of an earlier start; forgotten once it is revoked."""
    if not path.exists():
        return None
    key = path.read_text(encoding="ascii").strip()
    with psycopg.connect(conninfo, autocommit=True, options=session_options()) as db:
        if is_live(db, key):
            return key
    path.unlink(missing_ok=True)
    return None


def _begin_witness(settings: Settings, conninfo: str) -> None:
    """Check the witness; a default folder that is not writable only logs a warning."""
    if settings.witness_url is not None:
        prepare_shared_witness(settings.witness_url)
    try:
        check_witness(conninfo, settings.witness_path)
    except OSError as error:
        text = f"no witness can be kept at {settings.witness_path} ({error}); set LEDGER_WITNESS"
        if settings.witness is not None:
            raise WitnessError(text) from error
        _log.warning("%s: a database that was restored while this is down goes unnoticed", text)


def serve(
    settings: Settings,
    host: str,
    port: int,
    workers: int,
    test_clock: datetime | None,
    say: Callable[[str], None],
    when_ready: Callable[[str, Started], None] | None = None,
) -> None:
    """Run the service until it is told to stop; accepted requests are answered first.

    Raises CannotListen, PagingError, and what `prepare` and the embedded database raise.
    """
    configure_logging()
    targets_of(settings.alert_urls)
    door = within_open_files(settings.door)
    with _stopping_in_order(), running_store(settings) as conninfo, _announced(settings):
        started = prepare(settings, conninfo, test_clock)
        with _listening(host, port) as listener, _over() as over:
            url = _url(host, listener)
            announce = partial(_announce, settings, url, started, say, when_ready)
            waiting = threading.Thread(target=_once_ready, args=(url, workers, over, announce))
            waiting.start()
            if workers == 1:
                app = build_app(started.settings, conninfo, started.test_clock)
                uvicorn.Server(server_config(app, door)).run(sockets=[listener])
            else:
                _serve_with_workers(started.settings, door, started, listener, workers)


@contextlib.contextmanager
def _over() -> Iterator[threading.Event]:
    """An event that is set once the service no longer runs."""
    over = threading.Event()
    try:
        yield over
    finally:
        over.set()


@contextlib.contextmanager
def _announced(settings: Settings) -> Iterator[None]:
    """Remove what tells commands on this machine of the service, once it has stopped."""
    try:
        yield
    finally:
        if settings.database_url is None:
            (settings.data_dir / SERVICE_FILE).unlink(missing_ok=True)


@contextlib.contextmanager
def _stopping_in_order() -> Iterator[None]:
    """Make SIGTERM and Ctrl-C run every `finally`, so that the embedded database is stopped.

    uvicorn finishes its requests, then raises the signal again, which would otherwise end the
    process at once and leave the database running.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(0)

    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    for each in before:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def worker_app() -> ASGIApp:
    """The application of one worker process; the parent passes the database on."""
    configure_logging()
    settings = replace(load_settings(), database_url=os.environ[_HANDED_DOWN])
    app = build_app(settings, os.environ[_HANDED_DOWN], os.environ[_TEST_CLOCK] == "1")
    hear_ctrl_c()
    return app


def _serve_with_workers(
    settings: Settings,
    door: DoorLimits,
    started: Started,
    listener: socket.socket,
    workers: int,
) -> None:
    os.environ[_HANDED_DOWN] = started.conninfo
    os.environ[_TEST_CLOCK] = "1" if started.test_clock else "0"
    os.environ[_SECRET] = settings.secret.decode()
    os.environ[_WITNESS] = str(settings.witness_path)
    config = server_config("api.process.serving:worker_app", door, factory=True, workers=workers)
    Workers(config, sockets=[listener]).run()


def server_config(
    app: Any, door: DoorLimits | None = None, factory: bool = False, workers: int = 1
) -> uvicorn.Config:
    """The uvicorn configuration; benchmarks use it for their baselines too.

    The door bounds connections, heads, bodies and pipelines, which uvicorn itself does not.
    """
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        loop="uvloop",
        http=cast(Any, Door(door)),
        ws="none",
        access_log=False,
        log_config=log_config(),
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=30,
        timeout_worker_healthcheck=CHECK_SECONDS,
        backlog=2048,
    )


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(2048)
        except OSError as error:
            why = error.strerror or str(error)
            hint = "; --port names another, 0 takes a free one" if port else ""
            raise CannotListen(f"cannot listen on {host} port {port}: {why}{hint}") from error
        listener.set_inheritable(True)
        yield listener
    finally:
        listener.close()


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _announce(
    settings: Settings,
    url: str,
    started: Started,
    say: Callable[[str], None],
    when_ready: Callable[[str, Started], None] | None,
) -> None:
    """Print the URL and key of the service that answers, and write the announcement file."""
    say(f"send ledger: {url}")
    if settings.database_url is None:
        say(f"data (LEDGER_DATA_DIR): {settings.data_dir}")
    if settings.policy.message_id_domain == Policy().message_id_domain:
        say(f"WARNING: Message-IDs end in {settings.policy.message_id_domain}; {_DOMAIN}")
    if started.first_key is not None:
        path = settings.data_dir / FIRST_KEY
        shown = started.first_key if started.fresh and not is_kept(sys.stdout) else f"in {path}"
        say(f"key (every scope, redeem optional): {shown}")
    else:
        say("keys: make one with `send-ledger keys create NAME --scope send --scope facts`")
    if started.test_clock:
        say("test clock: time moves by POST /v1/test-clock only")
    if settings.announce is not None:
        write_announcement(settings.announce, url, started.first_key)
    if settings.database_url is None:
        write_announcement(settings.data_dir / SERVICE_FILE, url, started.first_key)
    if when_ready is not None:
        when_ready(url, started)


def is_kept(output: IO[str]) -> bool:
    """Does what is printed end in a log that is kept: a file, or the journal of systemd?"""
    if "JOURNAL_STREAM" in os.environ:
        return True
    try:
        return stat.S_ISREG(os.fstat(output.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def write_announcement(path: Path, url: str, key: str | None) -> None:
    """Write `{"url", "key", "pid"}` atomically, readable by the owner only."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"url": url, "key": key, "pid": os.getpid()}, file)
    fresh.replace(path)


def _once_ready(
    url: str, workers: int, over: threading.Event, announce: Callable[[], None]
) -> None:
    """Announce the service when it answers, however long that takes; meanwhile tell of the wait."""
    began = told = time.monotonic()
    while not _is_ready(url):
        if over.wait(0.02):
            return
        if time.monotonic() - told >= _TELL_SECONDS:
            told = time.monotonic()
            who = "the service" if workers == 1 else f"one of {workers} workers"
            _log.warning("waiting since %.0f s for %s to answer", told - began, who)
    announce()


def _is_ready(url: str) -> bool:
    with (
        contextlib.suppress(urllib.error.URLError, OSError),
        urllib.request.urlopen(f"{url}/readyz", timeout=2) as answer,
    ):
        return bool(answer.status == 200)
    return False


def _watch(embedded: EmbeddedPostgres, ended: threading.Event) -> None:
    """Restart the embedded database whenever it has stopped."""
    while not ended.wait(_SUPERVISE_SECONDS):
        with contextlib.suppress(Exception):
            embedded.ensure_running()
