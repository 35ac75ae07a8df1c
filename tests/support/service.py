"""Starts real service processes on a test clock, and calls them over HTTP."""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg

from ledger.store.keys import SCOPES, insert_first_key
from ledger.store.migrate import migrate
from tests.support.postgres import fresh_database
from tests.support.preloaded import CAN_FORK, Running, fork
from tests.support.problems import check_consistent

ROOT = Path(__file__).resolve().parents[2]
SERVE = (sys.executable, "-m", "api.cli.main", "serve", "--port", "0")
"""The command that starts a service, run in ROOT."""
_SECONDS = 60.0
_START_SECONDS = 300.0
_STOP_SECONDS = 300.0
"""A machine with 15 times the work it can do imports slowly; a start that fails ends at once."""
_SECRET = "the secret of every service under test"
_KEY = "slk_the_first_key_of_a_service_under_test"


@dataclass(frozen=True)
class Answer:
    """A response of the service: `body` is the JSON, None where there is none."""

    status: int
    headers: httpx.Headers
    body: Any
    text: str = field(repr=False, default="")

    @property
    def code(self) -> str | None:
        """The code of a problem document, None for any other body."""
        code = self.body.get("code") if isinstance(self.body, dict) else None
        return code if isinstance(code, str) else None

    def __getitem__(self, name: str) -> Any:
        return self.body[name]

    def ok(self, status: int = 200) -> "Answer":
        """Assert the status; returns the response."""
        assert self.status == status, f"{self.status}, not {status}: {self.text[:600]}"
        return self

    def no(self, status: int, code: str) -> "Answer":
        """Assert a problem document with this status and code; returns the response."""
        assert (self.status, self.code) == (status, code), f"not {status} {code}: {self.text[:600]}"
        assert self.headers["content-type"] == "application/problem+json"
        assert self["status"] == status
        assert self["type"] == f"/problems/{code}"
        check_consistent(self.body)
        return self


@dataclass
class Client:
    """A client of the service with one API key."""

    http: httpx.Client
    key: str
    key_id: str = ""
    name: str = "first"

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: bytes | str | None = None,
        key: str | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Any request; `key` is its Idempotency-Key, `content` a body that need not be JSON."""
        given: dict[str, str | bytes] = {}
        if self.key:
            given["authorization"] = f"Bearer {self.key}"
        if body is not None:
            content = json.dumps(body)
        if content is not None:
            given["content-type"] = "application/json"
        if key is not None:
            given["idempotency-key"] = key
        given.update(headers or {})
        raw = [
            (name.encode(), value if isinstance(value, bytes) else value.encode())
            for name, value in given.items()
        ]
        answer = self.http.request(method, path, content=content, headers=raw, params=params)
        is_json = "json" in answer.headers.get("content-type", "")
        decoded = json.loads(answer.content) if is_json and answer.content else None
        return Answer(answer.status_code, answer.headers, decoded, answer.text)

    def get(self, path: str, **params: Any) -> Answer:
        """A GET; a parameter named `from_` is sent as `from`."""
        given = {name.rstrip("_"): value for name, value in params.items() if value is not None}
        return self.call("GET", path, params=given or None)

    def post(self, path: str, body: Any = None, **more: Any) -> Answer:
        """A POST of JSON."""
        return self.call("POST", path, body, **more)

    def put_invoice(self, invoice_id: str, *, idem: str | None = None, **fields: Any) -> Answer:
        """Put a snapshot: by default open, 300.00 USD, of customer `cus-<invoice>`."""
        total = fields.get("total", 30_000)
        body = {
            "customer_id": f"cus-{invoice_id}",
            "currency": "USD",
            "total": total,
            "amount_remaining": total,
            "status": "open",
        }
        return self.call("PUT", f"/v1/invoices/{invoice_id}", body | fields, key=idem)

    def fact(self, type_: str, data: dict[str, Any], **envelope: Any) -> Answer:
        """Post one fact as a CloudEvent with a new id; it must not be rejected."""
        event = {"id": uuid.uuid4().hex, "source": "tests", "type": type_, "data": data}
        answer = self.post("/v1/facts", {"facts": [event | envelope]}).ok()
        assert answer["results"][0]["result"] != "rejected", answer["results"]
        return answer

    def ask(self, kind: str, *, idem: str | None = None, **fields: Any) -> Answer:
        """A request for a permit."""
        return self.post("/v1/permits", {"kind": kind} | fields, key=idem)

    def remind(self, invoice_id: str, stage: str | None = None, **more: Any) -> Answer:
        """A request for a reminder of one invoice."""
        named = {} if stage is None else {"stage": stage}
        return self.ask("reminder", invoices=[invoice_id], **named, **more)

    def redeem(self, permit_id: str, attempt: str | None = None) -> Answer:
        """Redeem the permit."""
        body = {} if attempt is None else {"attempt": attempt}
        return self.post(f"/v1/permits/{permit_id}/redeem", body)

    def report(self, permit_id: str, outcome: str, **fields: Any) -> Answer:
        """Report the outcome of a mail."""
        return self.post(f"/v1/permits/{permit_id}/outcome", {"outcome": outcome} | fields)

    def send(self, kind: str, **fields: Any) -> str:
        """Get a permit and report its mail as sent; returns the permit's id."""
        permit_id: str = self.ask(kind, **fields).ok(201)["permit_id"]
        self.report(permit_id, "sent").ok()
        return permit_id

    def stages(self, invoice_id: str) -> dict[str, str]:
        """The state of each stage of the invoice's current cycle."""
        invoice = self.get(f"/v1/invoices/{invoice_id}").ok()
        current = [s for s in invoice["stages"] if s["cycle"] == invoice["cycle"]]
        return {s["stage"]: s["state"] for s in current}

    def breaker(self, customer_id: str) -> str:
        """`open` or `closed`."""
        state: str = self.get(f"/v1/customers/{customer_id}").ok()["breaker"]["state"]
        return state

    def alerts(self, kind: str, customer_id: str | None = None) -> list[dict[str, Any]]:
        """The alerts of a kind, of one customer or all."""
        items = self.get("/v1/alerts", kind=kind, limit=1000).ok()["items"]
        return [a for a in items if customer_id is None or a["customer_id"] == customer_id]


@dataclass
class Service(Client):
    """A running service and its first key: every scope, redeem optional."""

    pid: int = 0
    database: str = ""
    now: datetime | None = None
    connections: Iterator[httpx.Client] = field(default_factory=lambda: iter(()), repr=False)

    @property
    def clock(self) -> datetime:
        """The test clock's time."""
        assert self.now is not None, "this service goes by the real time"
        return self.now

    def move_clock(self, to: datetime | str) -> datetime:
        """Set the test clock to this time, unless it already has it."""
        at = datetime.fromisoformat(to) if isinstance(to, str) else to
        if at != self.now:
            assert self.clock < at, f"the clock is at {self.now}, past {at}"
            self.post("/v1/test-clock", {"now": at.isoformat()}).ok()
            self.now = at
        return at

    def advance(self, **span: float) -> datetime:
        """Move the test clock forward by this timedelta."""
        return self.move_clock(self.clock + timedelta(**span))

    def client(self, *scopes: str, name: str | None = None, **fields: Any) -> Client:
        """A new key of these scopes (none: send), redeem required unless the fields differ.

        It has the next of the service's connections.
        """
        name = name or f"sender-{uuid.uuid4().hex[:8]}"
        body = {"name": name, "scopes": list(scopes) or ["send"]} | fields
        made = self.post("/v1/keys", body).ok(201)
        return Client(next(self.connections), made["key"], made["key_id"], name)

    def backend_that_waits(self) -> int:
        """The process id of this service's first backend that waits for a lock."""
        with psycopg.connect(self.database, autocommit=True) as db:
            give_up = time.monotonic() + _SECONDS
            while time.monotonic() < give_up:
                row = db.execute(
                    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                    " AND datname = current_database() AND application_name LIKE 'send-ledger%%'"
                ).fetchone()
                if row is not None:
                    return int(row[0])
        raise AssertionError("nothing waits for a lock")

    def without_key(self) -> Client:
        """A client without a key."""
        return Client(self.http, "", "", "nobody")


@contextmanager
def running_service(
    conninfo: str,
    test_clock: datetime | str | None,
    *,
    workers: int = 1,
    connections: int = 1,
    port: int = 0,
    env: Mapping[str, str] | None = None,
) -> Iterator[Service]:
    """`send-ledger serve` on this migrated database, which may hold a ledger already.

    `port` 0 takes a free one. Keys made by `client` take turns with so many connections; with
    several workers these end in different processes.
    """
    now = datetime.fromisoformat(test_clock) if isinstance(test_clock, str) else test_clock
    with psycopg.connect(conninfo, autocommit=True) as db:
        row = db.execute("SELECT count(*) FROM keys WHERE key_id = 'key_first'").fetchone()
        if row == (0,):
            insert_first_key(db, _KEY, SCOPES)
    with tempfile.TemporaryDirectory(prefix="ledger-service-") as folder:
        options = ["--workers", str(workers), "--port", str(port)]
        process = _start(conninfo, now, options, Path(folder), env or {})
        try:
            announced = _announced(process, Path(folder) / "announced.json")
            with ExitStack() as opened:
                https = [
                    opened.enter_context(httpx.Client(base_url=announced["url"], timeout=30))
                    for _ in range(connections)
                ]
                yield Service(
                    https[0],
                    _KEY,
                    "key_first",
                    "first",
                    process.pid,
                    conninfo,
                    now,
                    itertools.cycle(https),
                )
        finally:
            _stop(process)


def _stop(process: Running) -> None:
    """Have it stop in order. Raises TimeoutExpired where it does not, and leaves no process."""
    process.terminate()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        raise


@contextmanager
def fresh_service(postgres: str, test_clock: datetime | str, **more: Any) -> Iterator[Service]:
    """A service with a new database on this server."""
    with fresh_database(postgres) as conninfo:
        migrate(conninfo)
        with running_service(conninfo, test_clock, **more) as service:
            yield service


_READ_AT_IMPORT = frozenset({"SSL_CERT_FILE"})
"""Variables that libraries read while they are imported: a forked service would not see them."""


def _start(
    conninfo: str,
    now: datetime | None,
    options: list[str],
    folder: Path,
    env: Mapping[str, str],
) -> Running:
    command = [*SERVE, *options]
    if now is not None:
        command += ["--test-clock", now.isoformat()]
    environ = service_environ(conninfo, folder) | dict(env)
    if CAN_FORK and options[:2] == ["--workers", "1"] and env.keys().isdisjoint(_READ_AT_IMPORT):
        return fork(command[command.index("serve") :], environ, folder / "log")
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)


def service_environ(conninfo: str, folder: Path) -> dict[str, str]:
    """The environment of a service on this database that keeps its files in this folder."""
    return dict(os.environ) | {
        "LEDGER_DATABASE_URL": conninfo,
        "LEDGER_DATA_DIR": str(folder),
        "LEDGER_SECRET": _SECRET,
        "LEDGER_ANNOUNCE": str(folder / "announced.json"),
        "LEDGER_CONFIG": "",
        "LEDGER_ALERT_URLS": "",
    }


def _announced(process: Running, path: Path) -> dict[str, Any]:
    give_up = time.monotonic() + _START_SECONDS
    while not path.exists():
        log = (path.parent / "log").read_text(encoding="utf-8")
        assert process.poll() is None, f"the service ended: {log[-2000:]}"
        assert time.monotonic() < give_up, (
            f"no service within {_START_SECONDS:.0f} s: {log[-2000:]}"
        )
        time.sleep(0.01)
    announced: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return announced
